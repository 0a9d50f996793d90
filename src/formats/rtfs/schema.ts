import { readFieldNote } from "./comments.ts";
import { type Form, quoted } from "./form.ts";
import { type ReadProperties, readProperties, splitProperties } from "./type-properties.ts";
import { objectFromFields, type RtfsText, sourceOf, textOf, toJson } from "./values.ts";

export type JsonSchema = Record<string, unknown>;

const types: Record<string, JsonSchema> = {
  any: {},
  string: { type: "string" },
  int: { type: "integer" },
  integer: { type: "integer" },
  float: { type: "number" },
  double: { type: "number" },
  number: { type: "number" },
  bool: { type: "boolean" },
  boolean: { type: "boolean" },
  nil: { type: "null" },
  map: { type: "object" },
  vector: { type: "array" },
  set: { type: "array", uniqueItems: true },
  uuid: { type: "string", format: "uuid" },
};

interface Typed {
  schema: JsonSchema;
  /** The type is marked with `?`, which is valid for fields only. */
  optional: boolean;
}

/** RTFS type notation → JSON Schema. A type that JSON Schema cannot express becomes an open schema, with a warning. */
export function toJsonSchema(form: Form, source: RtfsText): JsonSchema {
  const { schema, optional } = readType(form, source);
  if (optional) source.warn(form.start, `${quoted(sourceOf(form, source))}: only a field can be optional`);
  return schema;
}

function readType(form: Form, source: RtfsText): Typed {
  if (form.kind === "keyword") return readNamedType(form.name, form, source);
  if (form.kind === "nil") return { schema: { type: "null" }, optional: false };
  if (form.kind === "map") {
    const fields = form.entries.map(([key, value]) => ({ key, type: readType(value, source), noted: [value] }));
    return { schema: objectSchema(fields, source), optional: false };
  }
  const [head, ...rest] = form.kind === "vector" ? form.items : [];
  if (head?.kind !== "keyword") return { schema: inexpressible(form, source), optional: false };
  return { schema: readCompound(head.name, rest, form, source), optional: false };
}

function readNamedType(name: string, form: Form, source: RtfsText): Typed {
  const optional = name.length > 1 && name.endsWith("?");
  const base = optional ? name.slice(0, -1) : name;
  const schema = Object.hasOwn(types, base) ? types[base] : undefined;
  return { schema: schema === undefined ? inexpressible(form, source) : { ...schema }, optional };
}

function inexpressible(form: Form, source: RtfsText): JsonSchema {
  source.warn(form.start, `the type ${quoted(sourceOf(form, source))} cannot be expressed: anything is admitted`);
  return {};
}

/** `[:vector :int]`, `[:string {:min 1}]`, `[:enum "a" "b"]`: a type with its properties and arguments. */
function readCompound(name: string, rest: Form[], form: Form, source: RtfsText): JsonSchema {
  const suffix = rest.at(-1);
  if (suffix !== undefined && isSuffix(suffix)) {
    source.warn(suffix.start, "only a field can be optional");
    return readCompound(name, rest.slice(0, -1), form, source);
  }
  const { properties, args } = splitProperties(name, rest);
  const schema = readArguments(name, args, source);
  if (schema === undefined) return inexpressible(form, source);
  return properties === undefined ? schema : withProperties(schema, readProperties(name, properties, source));
}

function withProperties(schema: JsonSchema, { keywords, closed }: ReadProperties): JsonSchema {
  return { ...schema, ...keywords, ...(closed ? { additionalProperties: false } : {}) };
}

/** Schema of a type by its arguments; undefined if there is no such type, or it takes other arguments. */
function readArguments(name: string, args: readonly Form[], source: RtfsText): JsonSchema | undefined {
  const [first, second] = args;
  const schemas = () => args.map((arg) => toJsonSchema(arg, source));
  switch (name) {
    case "map":
      return objectSchema(
        args.flatMap((entry) => readEntry(entry, source)),
        source,
      );
    case "enum":
      return args.length === 0 ? undefined : enumSchema(args.map((arg) => toJson(arg, source)));
    case "=":
      return first === undefined || args.length > 1 ? undefined : { const: toJson(first, source) };
    case "or":
      return args.length === 0 ? undefined : { anyOf: schemas() };
    case "and":
      return args.length === 0 ? undefined : { allOf: schemas() };
    case "tuple":
      if (args.length === 0) return { type: "array", maxItems: 0 };
      return { type: "array", prefixItems: schemas(), items: false, minItems: args.length };
    case "map-of":
      return first === undefined || second === undefined || args.length > 2
        ? undefined
        : { type: "object", ...keySchema(first, source), additionalProperties: toJsonSchema(second, source) };
    case "re":
      return first?.kind === "string" && args.length === 1 ? patternSchema(first.value, first, source) : undefined;
  }
  const base = Object.hasOwn(types, name) ? types[name] : undefined;
  if (first === undefined) return base && { ...base };
  if (args.length > 1) return undefined;
  if (name === "maybe") return orNull(toJsonSchema(first, source));
  return name === "vector" || name === "set" ? { ...base, items: toJsonSchema(first, source) } : undefined;
}

/** Most readers of JSON Schema expect a type beside `enum`. */
function enumSchema(values: unknown[]): JsonSchema {
  const type = values.every((value) => typeof value === "string")
    ? "string"
    : values.every((value) => Number.isInteger(value))
      ? "integer"
      : undefined;
  return type === undefined ? { enum: values } : { type, enum: values };
}

function orNull(schema: JsonSchema): JsonSchema {
  const keys = Object.keys(schema);
  if (keys.length === 1 && typeof schema.type === "string" && schema.type !== "null") {
    return { type: [schema.type, "null"] };
  }
  return { anyOf: [schema, { type: "null" }] };
}

/** JSON objects have strings as keys: only a type of strings says more about them. */
function keySchema(form: Form, source: RtfsText): JsonSchema {
  if (form.kind === "keyword" && ["string", "keyword", "any"].includes(form.name)) return {};
  const schema = toJsonSchema(form, source);
  if (schema.type === "string" || typeof schema.const === "string") return { propertyNames: schema };
  source.warn(form.start, `the keys ${quoted(sourceOf(form, source))} are not strings: any key is admitted`);
  return {};
}

function patternSchema(pattern: string, form: Form, source: RtfsText): JsonSchema {
  try {
    new RegExp(pattern, "u");
    return { type: "string", pattern };
  } catch {
    source.warn(form.start, `${quoted(pattern)} is no regular expression of JSON Schema: any string is admitted`);
    return { type: "string" };
  }
}

interface Field {
  key: Form;
  type: Typed;
  /** Forms whose comments are about the field. */
  noted: (Form | undefined)[];
}

/**
 * One field of `[:map …]`: `[:k :string?]`, `[:k {:optional true} :string]`, or `[:k [:vector :string]?]`, where `?` is a
 * separate symbol.
 */
function readEntry(entry: Form, source: RtfsText): Field[] {
  if (entry.kind === "vector") {
    const [key, ...rest] = entry.items;
    const last = rest.at(-1);
    const suffix = last !== undefined && isSuffix(last) ? last : undefined;
    const parts = suffix === undefined ? rest : rest.slice(0, -1);
    const [first] = parts;
    const given = first?.kind === "map" && parts.length === 2 ? first : undefined;
    const [value, ...surplus] = given === undefined ? parts : parts.slice(1);
    if (key !== undefined && value !== undefined && surplus.length === 0) {
      const { schema, optional } = readType(value, source);
      const properties = given && readProperties("field", given, source);
      const type = {
        schema: properties === undefined ? schema : withProperties(schema, properties),
        optional: optional || suffix !== undefined || properties?.optional === true,
      };
      return [{ key, type, noted: [value, suffix, entry] }];
    }
  }
  source.warn(entry.start, `the field ${quoted(sourceOf(entry, source))} is not a name with a type: left out`);
  return [];
}

function isSuffix(form: Form): boolean {
  return form.kind === "symbol" && form.name === "?";
}

function objectSchema(fields: readonly Field[], source: RtfsText): JsonSchema {
  const named = fields.map((field) => ({
    name: textOf(field.key, source),
    offset: field.key.start,
    value: withNotes(field, source),
  }));
  const kept = Object.entries(objectFromFields(named, source));
  const required = kept.filter(([, { optional }]) => !optional).map(([name]) => name);
  const properties = Object.fromEntries(kept.map(([name, { schema }]) => [name, schema]));
  return required.length > 0 ? { type: "object", properties, required } : { type: "object", properties };
}

/** A comment behind a field may say that the field is optional, and describes it. */
function withNotes({ type: { schema, optional }, noted }: Field, source: RtfsText): Typed {
  const typed = { schema, optional };
  for (const form of noted) {
    if (form?.note === undefined || form.noteAt === undefined) continue;
    const note = readFieldNote(form.note);
    typed.optional ||= note.optional;
    // A second description has no place here: the comment stays with the capability.
    const isDescription = note.text !== "" && typed.schema.description === undefined;
    if (isDescription) typed.schema = { ...typed.schema, description: note.text };
    if (isDescription || note.text === "") source.used.add(form.noteAt);
  }
  return typed;
}
