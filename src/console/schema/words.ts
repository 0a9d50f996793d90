import { isObject } from "../../kernel/json.ts";

/** A schema that a reference led to. */
export interface Resolved {
  schema: unknown;
  /** Last part of the reference, if it was one. */
  reference?: string;
}

type Schema = Record<string, unknown>;

const maxValues = 6;
const maxDepth = 6;

/** The type of a schema in words: `string · date-time`, `list of place`, `"metric" or "imperial"`, `number or null`. */
export function typeWords(given: unknown, resolve: (schema: unknown) => Resolved, depth = 0): string {
  const { schema, reference } = resolve(given);
  if (schema === true || schema === undefined) return "anything";
  if (schema === false) return "nothing";
  if (!isObject(schema)) return "anything";
  if (depth > maxDepth) return reference ?? "object";
  if (reference !== undefined && isStructure(schema)) return orNull(reference, schema);
  const inner = (part: unknown) => typeWords(part, resolve, depth + 1);
  return orNull(plainWords(schema, inner), schema);
}

function plainWords(schema: Schema, inner: (part: unknown) => string): string {
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return valueWords(schema.enum.filter((value) => value !== null));
  const options = unionOf(schema).filter((option) => !isNull(option));
  if (options.length > 0) {
    const words = [...new Set(options.map(inner))];
    return words.length > 4 ? `one of ${words.length} forms` : words.join(" or ");
  }
  const types = typesOf(schema).filter((type) => type !== "null");
  if (types.length === 0 && typesOf(schema).length > 0) return "null";
  if (types.length === 0) {
    if (isObject(schema.properties)) return "object";
    return Array.isArray(schema.allOf) && schema.allOf.length > 0 ? inner(schema.allOf[0]) : "anything";
  }
  return types.map((type) => oneType(type, schema, inner)).join(" or ");
}

function oneType(type: string, schema: Schema, inner: (part: unknown) => string): string {
  if (type === "array") {
    if (Array.isArray(schema.prefixItems)) return `[${schema.prefixItems.slice(0, maxValues).map(inner).join(", ")}]`;
    return schema.items === undefined ? "list" : `list of ${inner(schema.items)}`;
  }
  if (type === "object" && isObject(schema.additionalProperties) && !isObject(schema.properties))
    return `object of ${inner(schema.additionalProperties)}`;
  return typeof schema.format === "string" ? `${type} · ${schema.format}` : type;
}

function typesOf({ type }: Schema): string[] {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === "string") : [];
}

function unionOf({ anyOf, oneOf }: Schema): unknown[] {
  return [anyOf, oneOf].find(Array.isArray) ?? [];
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && (schema.type === "null" || schema.const === null);
}

/** A union with null is the type with "or null", not a choice between two forms. */
function orNull(words: string, schema: Schema): string {
  const isNullable =
    schema.nullable === true ||
    typesOf(schema).includes("null") ||
    unionOf(schema).some(isNull) ||
    (Array.isArray(schema.enum) && schema.enum.includes(null));
  return isNullable && words !== "null" ? `${words} or null` : words;
}

/** Has a shape that a name stands for better than "object" does. */
function isStructure(schema: Schema): boolean {
  return isObject(schema.properties) || typesOf(schema).includes("object");
}

function valueWords(values: readonly unknown[]): string {
  const shown = values.slice(0, maxValues).map((value) => clipped(JSON.stringify(value)));
  const more = values.length - shown.length;
  if (more > 0) return `${shown.join(", ")} or ${more} more`;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}

function clipped(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text;
}

/** What else a value must be: `1–10`, `≤ 200 chars`. */
export function limitsOf(schema: Schema): string[] {
  const limits = [
    range(schema.minimum, schema.maximum, ""),
    finite(schema.exclusiveMinimum) && `> ${schema.exclusiveMinimum}`,
    finite(schema.exclusiveMaximum) && `< ${schema.exclusiveMaximum}`,
    finite(schema.multipleOf) && `multiple of ${schema.multipleOf}`,
    range(schema.minLength, schema.maxLength, " chars"),
    range(schema.minItems, schema.maxItems, " items"),
    schema.uniqueItems === true && "no repeats",
    typeof schema.pattern === "string" && `matches ${clipped(schema.pattern)}`,
    schema.deprecated === true && "deprecated",
    schema.readOnly === true && "read only",
  ];
  return limits.filter((limit): limit is string => typeof limit === "string" && limit !== "");
}

function finite(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function range(least: unknown, most: unknown, unit: string): string {
  if (finite(least) && finite(most)) return least === most ? `${least}${unit}` : `${least}–${most}${unit}`;
  if (finite(least)) return least === 0 && unit !== "" ? "" : `≥ ${least}${unit}`;
  return finite(most) ? `≤ ${most}${unit}` : "";
}
