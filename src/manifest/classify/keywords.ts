import { isObject, type JsonObject, ownMember } from "../../kernel/json.ts";
import type { Values } from "./value-ids.ts";

/** Effect of a keyword's change on the set of accepted values. */
export type Shift = "same" | "narrowed" | "widened" | "changed";

/** Keywords that describe a value and do not affect validation. */
export const annotationKeywords = new Set(["title", "description", "examples", "example", "$comment", "deprecated"]);

/** Keywords that have an effect only through references to them. */
export const definitionKeywords = new Set(["$defs", "definitions", "$id", "id", "$anchor", "$dynamicAnchor"]);

/** Keywords whose change is classified from the two values alone. A value of the wrong type gives "changed". */
export const leafKeywords: ReadonlyMap<string, (before: unknown, after: unknown) => Shift> = new Map([
  ["maxLength", upperBound],
  ["maximum", upperBound],
  ["exclusiveMaximum", upperBound],
  ["maxItems", upperBound],
  ["maxProperties", upperBound],
  ["minLength", lowerBound(0)],
  ["minItems", lowerBound(0)],
  ["minProperties", lowerBound(0)],
  ["minimum", lowerBound(Number.NEGATIVE_INFINITY)],
  ["exclusiveMinimum", lowerBound(Number.NEGATIVE_INFINITY)],
  ["multipleOf", multiple],
  ["pattern", opaque],
  ["format", opaque],
  ["uniqueItems", flag("narrowed", "widened")],
  ["nullable", flag("widened", "narrowed")],
]);

function upperBound(before: unknown, after: unknown): Shift {
  return ordered(before ?? Number.POSITIVE_INFINITY, after ?? Number.POSITIVE_INFINITY, "widened", "narrowed");
}

function lowerBound(absent: number) {
  return (before: unknown, after: unknown) => ordered(before ?? absent, after ?? absent, "narrowed", "widened");
}

function ordered(before: unknown, after: unknown, raised: Shift, lowered: Shift): Shift {
  if (typeof before !== "number" || typeof after !== "number") return "changed";
  if (before === after) return "same";
  return after > before ? raised : lowered;
}

function multiple(before: unknown, after: unknown): Shift {
  if (before === undefined || after === undefined) return before === after ? "same" : opaque(before, after);
  if (typeof before !== "number" || typeof after !== "number" || before <= 0 || after <= 0) return "changed";
  if (before === after) return "same";
  if (Number.isInteger(before / after)) return "widened";
  return Number.isInteger(after / before) ? "narrowed" : "changed";
}

/** The strictness of two patterns or formats cannot be compared: only added, removed or changed is known. */
function opaque(before: unknown, after: unknown): Shift {
  if (before === undefined) return "narrowed";
  return after === undefined ? "widened" : "changed";
}

function flag(turnedOn: Shift, turnedOff: Shift) {
  return (before: unknown, after: unknown): Shift => {
    const [was, is] = [before ?? false, after ?? false];
    if (typeof was !== "boolean" || typeof is !== "boolean") return "changed";
    if (was === is) return "same";
    return is ? turnedOn : turnedOff;
  };
}

/** Compares `type`: absent accepts any type, and `number` includes `integer`. */
export function typeShift(before: unknown, after: unknown): Shift {
  const [was, is] = [typeSet(before), typeSet(after)];
  if (was === "malformed" || is === "malformed") return "changed";
  return setShift(was, is, (types, type) => types.has(type) || (type === "integer" && types.has("number")));
}

function typeSet(type: unknown): Set<string> | undefined | "malformed" {
  if (type === undefined) return undefined;
  const list = Array.isArray(type) ? type : [type];
  return list.every((entry) => typeof entry === "string") ? new Set(list) : "malformed";
}

/** Compares the values that `enum` and `const` together allow; absent allows any value. */
export function choiceShift(before: JsonObject, after: JsonObject, values: Values): Shift {
  if (["enum", "const"].every((keyword) => values.same(ownMember(before, keyword), ownMember(after, keyword))))
    return "same";
  const [was, is] = [choices(before, values), choices(after, values)];
  if (was === "malformed" || is === "malformed") return "changed";
  return setShift(was, is, (set, value) => set.has(value));
}

function choices(schema: JsonObject, values: Values): Set<number> | undefined | "malformed" {
  const [list, constant] = [ownMember(schema, "enum"), ownMember(schema, "const")];
  if (list !== undefined && !Array.isArray(list)) return "malformed";
  const listed = list === undefined ? undefined : new Set(list.map(values.id));
  if (constant === undefined) return listed;
  const only = values.id(constant);
  return listed === undefined || listed.has(only) ? new Set([only]) : new Set();
}

function setShift<T>(before: Set<T> | undefined, after: Set<T> | undefined, has: (set: Set<T>, item: T) => boolean) {
  const covers = (set: Set<T> | undefined, other: Set<T> | undefined) =>
    set === undefined || (other !== undefined && [...other].every((item) => has(set, item)));
  const [widened, narrowed] = [covers(after, before), covers(before, after)];
  if (widened && narrowed) return "same";
  if (widened) return "widened";
  return narrowed ? "narrowed" : "changed";
}

/** All json-schema.org dialects give the compared keywords the same meaning; other dialects may not. */
export function isKnownDialect(uri: unknown): boolean {
  return uri === undefined || (typeof uri === "string" && /^https?:\/\/json-schema\.org\//.test(uri));
}

/** Old and new value, shortened for a message. */
export function fromTo(before: unknown, after: unknown): string {
  return `from ${shown(before)} to ${shown(after)}`;
}

function shown(value: unknown): string {
  if (value === undefined) return "none";
  if (isObject(value) || Array.isArray(value)) return Array.isArray(value) ? `${value.length} entries` : "an object";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57).toWellFormed()}…"` : text;
}
