import { pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { printFieldNote } from "./comments.ts";
import { block, inside, type Place, printValue } from "./print-value.ts";
import { printName } from "./string.ts";
import { limits, variadic } from "./type-properties.ts";

type Schema = Record<string, unknown>;

/** A type as it is printed: `:name`, or `[:name {properties} arguments]`. */
interface PrintedType {
  name: string;
  properties: [name: string, text: string][];
  args: string[];
}

/**
 * JSON Schema → RTFS type notation. Keywords without an RTFS equivalent (`format`, `oneOf` …) are losses. Where several
 * schemas mean the same (`enum` with and without its type), the text is read back as one of them.
 */
export function printSchema(schema: unknown, place: Place): string {
  if (!isObject(schema) || place.levelsLeft < 3) {
    if (schema !== true) place.reportLoss(place.path);
    return ":any";
  }
  // What is left in the map at the end is lost.
  const keywords = new Map(Object.entries(schema).filter(([, value]) => value !== undefined));
  const annotations = takeAnnotations(keywords, place);
  const printed = isFieldMap(keywords) ? printFields(keywords, annotations, place) : undefined;
  const type = printed === undefined ? typeOf(keywords, place) : undefined;
  for (const keyword of keywords.keys()) place.reportLoss(pointer(place.path, keyword));
  return printed ?? printType(type ?? typed("any"), annotations);
}

function takeAnnotations(keywords: Map<string, unknown>, place: Place): [string, string][] {
  return ["title", "description", "default"].flatMap((name): [string, string][] => {
    const value = keywords.get(name);
    if (value === undefined || (name !== "default" && typeof value !== "string")) return [];
    keywords.delete(name);
    return [[name, printValue(value, inside(inside(place, name), ""))]];
  });
}

function printType({ name, properties, args }: PrintedType, annotations: [string, string][]): string {
  const all = [...annotations, ...properties];
  if (all.length === 0 && args.length === 0) return name === "tuple" ? "[:tuple]" : `:${name}`;
  // A map in front of other arguments would be read as the properties.
  const isMapFirst = args[0]?.startsWith("{") && (variadic.has(name) || name === "=");
  const given = all.length > 0 || isMapFirst ? [printProperties(all)] : [];
  // A map alone would be read as the type of the items.
  if (args.length === 0 && (name === "vector" || name === "set")) return `[:${name} ${given.join("")} :any]`;
  return `[${[`:${name}`, ...given, ...args].join(" ")}]`;
}

function printProperties(properties: readonly [string, string][]): string {
  return `{${properties.map(([name, text]) => `:${name} ${text}`).join(" ")}}`;
}

const scalars: Record<string, string> = {
  string: "string",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "nil",
};

/** Keywords that say what a value is. A combination of schemas is printed only where none of them stands beside it. */
const structural = [
  ...["type", "properties", "required", "additionalProperties", "items", "prefixItems", "pattern"],
  ...["enum", "const", "anyOf", "allOf", "oneOf"],
];

function typeOf(keywords: Map<string, unknown>, place: Place): PrintedType | undefined {
  return printValues(keywords, place) ?? printCombination(keywords, place) ?? printByType(keywords, place);
}

function typed(name: string, args: string[] = [], properties: [string, string][] = []): PrintedType {
  return { name, properties, args };
}

/** `const` and `enum`, with a type that admits all their values. */
function printValues(keywords: Map<string, unknown>, place: Place): PrintedType | undefined {
  const name = keywords.has("const") ? "const" : "enum";
  const values = name === "const" ? [keywords.get("const")] : keywords.get("enum");
  if (!Array.isArray(values) || values.length === 0) return undefined;
  keywords.delete(name);
  const type = [keywords.get("type") ?? []].flat();
  if (type.length === 0 || values.every((value) => type.some((one) => admits(one, value)))) keywords.delete("type");
  const texts = values.map((value, index) => {
    const at = name === "const" ? inside(place, name) : inside(inside(place, name), index);
    return printValue(value, { ...at, indent: place.indent });
  });
  return typed(name === "const" ? "=" : "enum", texts);
}

function admits(type: unknown, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}

const combinations: Record<string, string> = { anyOf: "or", allOf: "and", oneOf: "or" };

function printCombination(keywords: Map<string, unknown>, place: Place): PrintedType | undefined {
  const present = structural.filter((keyword) => keywords.has(keyword));
  const [keyword = ""] = present;
  const schemas = keywords.get(keyword);
  const name = Object.hasOwn(combinations, keyword) ? combinations[keyword] : undefined;
  if (name === undefined || present.length > 1 || !Array.isArray(schemas) || schemas.length === 0) return undefined;
  // RTFS cannot say that exactly one of the types fits.
  if (keyword !== "oneOf") keywords.delete(keyword);
  const argument = (schema: unknown, index: number) => printArgument(schema, place, keyword, index);
  const [first, second] = schemas;
  // `[:maybe :string]` is read as a list of two types, so this one stays `[:or :string :nil]`.
  const isMaybe = keyword === "anyOf" && schemas.length === 2 && isBare(second, "null") && !isBare(first);
  if (isMaybe) return typed("maybe", [argument(first, 0)]);
  return typed(name, schemas.map(argument));
}

/** A schema of nothing but a type. */
function isBare(schema: unknown, type?: string): boolean {
  if (!isObject(schema) || typeof schema.type !== "string" || Object.keys(schema).length > 1) return false;
  return type === undefined || schema.type === type;
}

function printArgument(schema: unknown, place: Place, keyword: string, index?: number): string {
  const at = inside(place, keyword);
  const path = index === undefined ? at.path : pointer(at.path, index);
  return printSchema(schema, { ...at, path, indent: place.indent });
}

function printByType(keywords: Map<string, unknown>, place: Place): PrintedType | undefined {
  const type = keywords.get("type");
  if (Array.isArray(type)) return printTypeList(type, keywords, place);
  switch (type) {
    case "object":
      return printMap(keywords, place);
    case "array":
      return printList(keywords, place);
    case "string":
      return printText(keywords, place);
  }
  const name = typeof type === "string" && Object.hasOwn(scalars, type) ? scalars[type] : undefined;
  if (name === undefined) return undefined;
  keywords.delete("type");
  return typed(name, [], takeLimits(name, keywords, place));
}

/** `["string", "null"]` is `[:maybe :string]`, `["string", "integer"]` is `[:or :string :int]`. */
function printTypeList(types: unknown[], keywords: Map<string, unknown>, place: Place): PrintedType | undefined {
  const others = types.filter((type) => type !== "null");
  const [only] = others;
  if (types.length === 2 && others.length === 1 && typeof only === "string") {
    const schema = { ...Object.fromEntries(keywords), type: only };
    keywords.clear();
    return typed("maybe", [printSchema(schema, { ...inside(place, ""), path: place.path, indent: place.indent })]);
  }
  const names = types.map((type) => (typeof type === "string" && Object.hasOwn(scalars, type) ? scalars[type] : ""));
  if (types.length === 0 || names.includes("")) return undefined;
  keywords.delete("type");
  return typed(
    "or",
    names.map((name) => `:${name}`),
  );
}

function takeLimits(name: string, keywords: Map<string, unknown>, place: Place): [string, string][] {
  const [min, max] = (Object.hasOwn(limits, name) ? limits[name] : undefined) ?? [];
  const found = { min, max };
  return Object.entries(found).flatMap(([property, keyword]): [string, string][] => {
    const limit = keyword === undefined ? undefined : keywords.get(keyword);
    if (keyword === undefined || typeof limit !== "number" || !Number.isFinite(limit)) return [];
    keywords.delete(keyword);
    return [[property, printValue(limit, place)]];
  });
}

/** An object without properties of its own: `:map`, or `[:map-of :string :int]`. */
function printMap(keywords: Map<string, unknown>, place: Place): PrintedType {
  keywords.delete("type");
  const values = keywords.get("additionalProperties");
  const names = keywords.get("propertyNames");
  if (values === true) keywords.delete("additionalProperties");
  if (values === false) {
    keywords.delete("additionalProperties");
    return typed("map", [], [["closed", "true"]]);
  }
  if (!isObject(values)) return typed("map");
  keywords.delete("additionalProperties");
  const hasKeys = isObject(names) && (names.type === "string" || typeof names.const === "string");
  if (hasKeys) keywords.delete("propertyNames");
  const keys = hasKeys ? printArgument(names, place, "propertyNames") : ":string";
  return typed("map-of", [keys, printArgument(values, place, "additionalProperties")]);
}

function printList(keywords: Map<string, unknown>, place: Place): PrintedType {
  keywords.delete("type");
  const [prefix, items] = [keywords.get("prefixItems"), keywords.get("items")];
  const [least, most] = [keywords.get("minItems"), keywords.get("maxItems")];
  const isTuple = Array.isArray(prefix) && prefix.length > 0 && least === prefix.length;
  if (isTuple && (items === false || (items === undefined && most === prefix.length))) {
    for (const keyword of ["prefixItems", "items", "minItems"]) keywords.delete(keyword);
    if (most === prefix.length) keywords.delete("maxItems");
    const args = prefix.map((schema, index) => printArgument(schema, place, "prefixItems", index));
    return typed("tuple", args);
  }
  if (most === 0 && items === undefined && (least ?? 0) === 0 && keywords.get("uniqueItems") === undefined) {
    keywords.delete("maxItems");
    keywords.delete("minItems");
    return typed("tuple");
  }
  const name = keywords.get("uniqueItems") === true ? "set" : "vector";
  keywords.delete("uniqueItems");
  const properties = takeLimits(name, keywords, place);
  if (items === undefined) return typed(name, [], properties);
  keywords.delete("items");
  return typed(name, [printArgument(items, place, "items")], properties);
}

function printText(keywords: Map<string, unknown>, place: Place): PrintedType {
  keywords.delete("type");
  const [pattern, format] = [keywords.get("pattern"), keywords.get("format")];
  if (typeof pattern === "string" && isPattern(pattern)) {
    keywords.delete("pattern");
    return typed("re", [printValue(pattern, place)]);
  }
  if (format === "uuid") {
    keywords.delete("format");
    return typed("uuid");
  }
  return typed("string", [], takeLimits("string", keywords, place));
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

/** An object with properties, printed as a map of fields. */
function isFieldMap(keywords: ReadonlyMap<string, unknown>): boolean {
  const type = keywords.get("type");
  return isObject(keywords.get("properties")) && (type === "object" || type === undefined);
}

/**
 * `{:a :int}`, or `[:map {…} [:a :int]]` where the map itself has properties. A field's description is a comment behind
 * the field, as RTFS writers do it, unless the comment would be read as something else.
 */
function printFields(keywords: Map<string, unknown>, annotations: [string, string][], place: Place): string {
  const [properties, needed] = [keywords.get("properties") as Schema, keywords.get("required")];
  const required = new Set<unknown>(Array.isArray(needed) ? needed : []);
  const other = keywords.get("additionalProperties");
  // A schema with properties but no type also accepts values that are not objects; the printed map does not.
  if (!keywords.delete("type")) place.reportLoss(pointer(place.path, "type"));
  for (const keyword of ["properties", "required"]) keywords.delete(keyword);
  if (typeof other === "boolean") keywords.delete("additionalProperties");
  const about: [string, string][] = other === false ? [...annotations, ["closed", "true"]] : annotations;
  const isVector = about.length > 0;
  const at = inside(place, "properties");

  const lines = Object.entries(properties).map(([name, schema]) => {
    const field = { ...inside(at, name), indent: at.indent, levelsLeft: at.levelsLeft - (isVector ? 1 : 0) };
    const isOptional = !required.delete(name);
    const { description, ...rest } = isObject(schema) ? schema : {};
    const isMarked = isOptional && !isVector;
    const text = typeof description === "string" ? description : undefined;
    const note = text === undefined ? undefined : printFieldNote({ optional: isMarked, text });
    const type = printSchema(note === undefined ? schema : rest, field);
    const comment = note ?? (isMarked ? "optional" : undefined);
    const optional = isOptional ? "{:optional true} " : "";
    const line = isVector ? `[${printName(name)} ${optional}${type}]` : `${printName(name)} ${type}`;
    return `${at.indent}${line}${comment === undefined ? "" : ` ;; ${comment}`}`;
  });
  if (required.size > 0) place.reportLoss(pointer(place.path, "required"));
  if (!isVector) return block("{", lines, "}", place);
  return block(`[:map ${printProperties(about)}`, lines, "]", place);
}
