import { type Form, quoted } from "./form.ts";
import { type RtfsText, sourceOf, textOf, toJson } from "./values.ts";

/** Properties of a type: the map after its name, as in `[:string {:min 1}]`. */

type MapForm = Extract<Form, { kind: "map" }>;

/** JSON Schema keywords of `:min` and `:max`, by type. */
export const limits: Record<string, readonly [min: string, max: string]> = {
  string: ["minLength", "maxLength"],
  int: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  float: ["minimum", "maximum"],
  double: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  vector: ["minItems", "maxItems"],
  set: ["minItems", "maxItems"],
};

/** Number of arguments of the types with a fixed one; a map before them can only be properties. */
const argumentCounts: Record<string, number> = { vector: 1, set: 1, maybe: 1, "map-of": 2, re: 1, "=": 1 };

/** Types whose arguments are values or types, any number of them. A map there may be the first argument. */
export const variadic: ReadonlySet<string> = new Set(["or", "and", "tuple", "enum"]);

const annotations: ReadonlySet<string> = new Set(["title", "description", "default"]);

/** Separates the properties from the arguments of a type. */
export function splitProperties(name: string, rest: readonly Form[]): { properties?: MapForm; args: readonly Form[] } {
  const [first, ...args] = rest;
  if (first?.kind !== "map") return { args: rest };
  const count = Object.hasOwn(argumentCounts, name) ? argumentCounts[name] : undefined;
  const isAlone = args.length === 0 && (name !== "tuple" || first.entries.length === 0);
  const isProperties = variadic.has(name)
    ? !isAlone && first.entries.every(isAnnotation)
    : args.length === (count ?? args.length);
  return isProperties ? { properties: first, args } : { args: rest };
}

/** `{:description :string}` is a map with a field of that name, `{:description "…"}` describes something. */
function isAnnotation([key, value]: readonly [Form, Form]): boolean {
  return key.kind === "keyword" && annotations.has(key.name) && isLiteral(value);
}

/** Types are keywords, or vectors that start with one. */
function isLiteral(form: Form): boolean {
  if (form.kind === "vector") return form.items.every(isLiteral);
  if (form.kind === "map") return form.entries.every(([, value]) => isLiteral(value));
  return form.kind !== "keyword";
}

export interface ReadProperties {
  keywords: Record<string, unknown>;
  optional: boolean;
  closed: boolean;
}

/** Reads the properties that JSON Schema has a keyword for. `name` is the type's, or "field" for a field of a map. */
export function readProperties(name: string, { entries }: MapForm, source: RtfsText): ReadProperties {
  const read: ReadProperties = { keywords: {}, optional: false, closed: false };
  const [min, max] = (Object.hasOwn(limits, name) ? limits[name] : undefined) ?? [];
  for (const [key, value] of entries) {
    const property = textOf(key, source);
    const isText = (property === "title" || property === "description") && value.kind === "string";
    const keyword = property === "min" ? min : property === "max" ? max : undefined;
    if (isText || property === "default") read.keywords[property] = toJson(value, source);
    else if (keyword !== undefined && value.kind === "number") read.keywords[keyword] = toJson(value, source);
    else if (property === "optional" && name === "field" && value.kind === "boolean") read.optional = value.value;
    else if (property === "closed" && name === "map" && value.kind === "boolean") read.closed = value.value;
    else source.warn(key.start, `the property ${quoted(sourceOf(key, source))} of a type is not known: left out`);
  }
  return read;
}
