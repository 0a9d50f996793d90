import { pointer, unescapeSegment } from "../../kernel/issue.ts";
import { isObject, type JsonObject, ownMember } from "../../kernel/json.ts";

export interface Target {
  target: unknown;
  /** Path of the target, given the path of its schema's root. */
  path(root: string): string;
}

/** Resolves `$ref` within the two documents being compared. Only JSON pointers into the same document are followed. */
export interface References {
  resolve(version: "before" | "after", schema: JsonObject): Target | undefined;
}

export function createReferences(before: unknown, after: unknown): References {
  const found = { before: new Map<string, Target | undefined>(), after: new Map<string, Target | undefined>() };
  const roots = { before, after };
  return {
    resolve(version, schema) {
      const reference = ownMember(schema, "$ref");
      if (typeof reference !== "string" || (reference !== "#" && !reference.startsWith("#/"))) return undefined;
      if (!found[version].has(reference)) found[version].set(reference, resolvePointer(roots[version], reference));
      return found[version].get(reference);
    },
  };
}

function resolvePointer(root: unknown, reference: string): Target | undefined {
  const segments = segmentsOf(reference.slice(1));
  let target = root;
  for (const segment of segments ?? []) {
    if (Array.isArray(target)) target = /^\d+$/.test(segment) ? target[Number(segment)] : undefined;
    else target = isObject(target) ? ownMember(target, segment) : undefined;
  }
  if (segments === undefined || target === undefined) return undefined;
  return { target, path: (path) => segments.reduce(pointer, path) };
}

function segmentsOf(fragment: string): string[] | undefined {
  try {
    const text = decodeURIComponent(fragment);
    return text.split("/").slice(1).map(unescapeSegment);
  } catch {
    return undefined;
  }
}
