import { pathSegment } from "../../kernel/characters.ts";
import { pointer, unescapeSegment } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { clip } from "../../kernel/text.ts";
import type { ImportFault } from "../imported.ts";
import { createWarnings, fault, type Warnings, withoutCredentials } from "../text.ts";

export type OpenApiVersion = "2.0" | "3.0" | "3.1" | "3.2";

/** A part of the document with the way back to its top, so that a path costs nothing until something is wrong there. */
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

/** The document being imported, and what was found out about it on the way. */
export interface OpenApiDocument {
  document: Record<string, unknown>;
  top: Place;
  version: OpenApiVersion;
  url: string | undefined;
  warnings: Warnings;
  /** The first thing that makes the import impossible. Reading goes on to the end of the operation, then stops. */
  fault: ImportFault | undefined;
  /**
   * Parts looked at. Each is small and a document holds few, but shared parts are looked at once per use: this bounds
   * what many uses of one large part can cost.
   */
  steps: number;
  /** Where references lead that were followed before. */
  targets: Map<string, Target>;
}

/** What a reference points at; the exact pointer is its key. */
export interface Target {
  place: Place;
  key: string;
}

export function createSource(
  document: Record<string, unknown>,
  version: OpenApiVersion,
  url?: string,
): OpenApiDocument {
  return {
    document,
    top: { value: document },
    version,
    url: withoutCredentials(url),
    warnings: createWarnings(),
    fault: undefined,
    steps: 0,
    targets: new Map(),
  };
}

export function fail(source: OpenApiDocument, message: string, place: Place): void {
  source.fault ??= fault(message, pathOf(place));
}

export function child(place: Place, key: string | number): Place {
  const { value } = place;
  const isOwn = typeof value === "object" && value !== null && Object.hasOwn(value, key);
  return { value: isOwn ? (value as Record<string | number, unknown>)[key] : undefined, parent: place, key };
}

/** The members of an object, without the publisher's own `x-` fields; of anything else, none. */
export function members(source: OpenApiDocument, place: Place): [string, Place][] {
  if (!isObject(place.value)) return [];
  const keys = Object.keys(place.value).filter((key) => !key.startsWith("x-"));
  source.steps += keys.length;
  return keys.map((key) => [key, child(place, key)]);
}

/** The items of a list; a fault where there is something else. */
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

/** The part itself where it is one, or what its reference leads to; undefined and a fault where that is nothing. */
export function follow(source: OpenApiDocument, start: Place): Place | undefined {
  let place = start;
  for (let hops = 0; isObject(place.value) && typeof place.value.$ref === "string"; hops += 1) {
    if (hops === maxHops) {
      fail(source, "this reference only leads to other references", child(start, "$ref"));
      return undefined;
    }
    source.steps += 1;
    const target = targetOf(source, child(place, "$ref"));
    if (target === undefined) return undefined;
    place = target.place;
  }
  return place;
}

/** Follows one reference. Nothing outside the document is ever looked at. */
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
  let place = source.top;
  for (const segment of key.split("/").slice(1)) {
    place = child(place, unescapeSegment(segment));
    if (place.value === undefined) {
      fail(source, `the reference ${quoted(ref)} points at nothing`, at);
      return undefined;
    }
  }
  source.targets.set(ref, { place, key });
  return { place, key };
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
