import { importBounds } from "../../kernel/bounds.ts";
import { pathSegment } from "../../kernel/characters.ts";
import { pointer, unescapeSegment } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { clip } from "../../kernel/text.ts";
import { type Converted, exceeded } from "../definitions.ts";
import type { ImportFault } from "../imported.ts";
import { createWarnings, fault, type Warnings, withoutCredentials } from "../text.ts";

export type OpenApiVersion = "2.0" | "3.0" | "3.1" | "3.2";

/** A value in the document, linked to its parents, so that its path is computed only when a message needs it. */
export interface Place {
  value: unknown;
  parent?: Place;
  key?: string | number;
}

export function pathOf(place: Place): string {
  const keys: (string | number)[] = [];
  for (let at = place; at.parent !== undefined; at = at.parent) keys.push(at.key ?? "");
  return keys
    .reverse()
    .reduce<string>((path, key) => pointer(path, typeof key === "string" ? pathSegment(key) : key), "");
}

/** The document being imported and the state of the import. */
export interface OpenApiDocument {
  document: Record<string, unknown>;
  top: Place;
  version: OpenApiVersion;
  url: string | undefined;
  /** Base URL of all operations, whatever the document says. */
  endpoint: string | undefined;
  warnings: Warnings;
  /** The first error that makes the import fail. The current operation is read to its end, then the import stops. */
  fault: ImportFault | undefined;
  /**
   * Number of values visited. A shared part is visited once per use: this counter limits the cost of many uses of one
   * large part.
   */
  steps: number;
  /** Parameters by the object that declares them: a shared one is read once. */
  parameters: Map<object, Parameter | undefined>;
  /** Header parameters that OpenAPI says to ignore. */
  ignoredHeaders: number;
  /** Cache of resolved references. */
  targets: Map<string, Target>;
  /** References being resolved: one may lead through another, and back to itself. */
  resolving: Set<string>;
}

/** One parameter of an operation. */
export interface Parameter {
  name: string;
  /** path, query, querystring, header or cookie; in 2.0 also formData and body. */
  location: string;
  required: boolean;
  /** The parameter's schema, with the parameter's own description, deprecation and example. */
  converted: Converted;
}

/** Target of a reference. `key` is the decoded JSON pointer. */
interface Target {
  place: Place;
  key: string;
}

export function createSource(
  document: Record<string, unknown>,
  version: OpenApiVersion,
  urls: { sourceUrl?: string | undefined; endpointUrl?: string | undefined } = {},
): OpenApiDocument {
  return {
    document,
    top: { value: document },
    version,
    url: withoutCredentials(urls.sourceUrl),
    endpoint: withoutCredentials(urls.endpointUrl),
    warnings: createWarnings(),
    fault: undefined,
    steps: 0,
    parameters: new Map(),
    ignoredHeaders: 0,
    targets: new Map(),
    resolving: new Set(),
  };
}

export function fail(source: OpenApiDocument, message: string, place: Place): void {
  source.fault ??= fault(message, pathOf(place));
}

/** True, with a fault at the place, if more values were visited than an import may. */
export function visitedTooMuch(source: OpenApiDocument, place: Place): boolean {
  const { steps: visited } = source;
  const limit = importBounds.visitedValues;
  if (visited <= limit) return false;
  const message = `the import up to this place visits ${visited} values: too much is shared by too many operations`;
  source.fault ??= { ...exceeded(message, "visitedValues", limit, visited), path: pathOf(place) };
  return true;
}

export function child(place: Place, key: string | number): Place {
  const { value } = place;
  const isOwn = typeof value === "object" && value !== null && Object.hasOwn(value, key);
  return { value: isOwn ? (value as Record<string | number, unknown>)[key] : undefined, parent: place, key };
}

/** The members of an object, without `x-` extension fields. Empty if the value is not an object. */
export function members(source: OpenApiDocument, place: Place): [string, Place][] {
  if (!isObject(place.value)) return [];
  const keys = Object.keys(place.value).filter((key) => !key.startsWith("x-"));
  source.steps += keys.length;
  return keys.map((key) => [key, child(place, key)]);
}

/** The items of an array, empty if absent. Records a fault if the value is not an array. */
export function items(source: OpenApiDocument, place: Place): Place[] {
  if (place.value === undefined) return [];
  if (!Array.isArray(place.value)) {
    fail(source, "must be an array", place);
    return [];
  }
  source.steps += place.value.length;
  return place.value.map((_, index) => child(place, index));
}

const maxHops = 100;

/**
 * Resolves a chain of references; returns `start` if it is not a reference. Records a fault and returns undefined if a
 * reference cannot be resolved.
 */
export function follow(source: OpenApiDocument, start: Place): Place | undefined {
  let place = start;
  for (let hops = 0; isObject(place.value) && typeof place.value.$ref === "string"; hops += 1) {
    if (hops === maxHops) {
      fail(source, "this reference only leads to other references", child(start, "$ref"));
      return undefined;
    }
    source.steps += 1;
    if (visitedTooMuch(source, start)) return undefined;
    const target = targetOf(source, child(place, "$ref"));
    if (target === undefined) return undefined;
    place = target.place;
  }
  return place;
}

/** Resolves one reference. A reference to another document is a fault and is never fetched. */
export function targetOf(source: OpenApiDocument, at: Place): Target | undefined {
  const ref = String(at.value);
  const known = source.targets.get(ref);
  if (known !== undefined) return known;
  if (!ref.startsWith("#")) {
    fail(source, `the reference ${quoted(ref)} leaves the document; only references inside it are followed`, at);
    return undefined;
  }
  const key = decoded(ref.slice(1));
  if (key !== "" && !key.startsWith("/")) {
    fail(source, `the reference ${quoted(ref)} is not a JSON pointer`, at);
    return undefined;
  }
  if (source.resolving.has(ref) || source.resolving.size === maxHops) {
    fail(source, "this reference only leads to other references", at);
    return undefined;
  }
  source.resolving.add(ref);
  const place = placeOf(source, key, () => fail(source, `the reference ${quoted(ref)} points at nothing`, at));
  source.resolving.delete(ref);
  if (place === undefined) return undefined;
  source.targets.set(ref, { place, key });
  return { place, key };
}

/** The place of a JSON pointer. Where a part on the way is a reference, the rest is looked for in its target. */
function placeOf(source: OpenApiDocument, key: string, tellMissing: () => void): Place | undefined {
  let place = source.top;
  for (const segment of key.split("/").slice(1)) {
    const name = unescapeSegment(segment);
    let next = child(place, name);
    if (next.value === undefined) {
      const target = follow(source, place);
      if (target === undefined) return undefined;
      next = child(target, name);
    }
    if (next.value === undefined) {
      tellMissing();
      return undefined;
    }
    place = next;
  }
  return place;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function quoted(ref: string): string {
  return JSON.stringify(clip(ref, 200));
}
