import { type Form, quoted } from "./form.ts";
import { objectFromFields, type RtfsText, sourceOf, textOf } from "./values.ts";

export type JsonSchema = Record<string, unknown>;

const types: Record<string, string> = {
  string: "string",
  int: "integer",
  integer: "integer",
  float: "number",
  double: "number",
  number: "number",
  bool: "boolean",
  boolean: "boolean",
  nil: "null",
  map: "object",
  vector: "array",
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
    const fields = form.entries.map(([key, value]) => ({ key, type: readType(value, source), notes: [value.note] }));
    return { schema: objectSchema(fields, source), optional: false };
  }
  if (form.kind === "vector") {
    const [head, ...rest] = form.items;
    if (head?.kind === "keyword" && head.name === "vector") {
      const [item, suffix, ...surplus] = rest;
      if (item !== undefined && surplus.length === 0 && (suffix === undefined || isSuffix(suffix))) {
        if (suffix !== undefined) source.warn(suffix.start, "only a field can be optional");
        return { schema: { type: "array", items: toJsonSchema(item, source) }, optional: false };
      }
      if (item === undefined) return { schema: { type: "array" }, optional: false };
    }
    if (head?.kind === "keyword" && head.name === "map") {
      const fields = rest.flatMap((entry) => readEntry(entry, source));
      return { schema: objectSchema(fields, source), optional: false };
    }
  }
  return inexpressible(form, source);
}

function readNamedType(name: string, form: Form, source: RtfsText): Typed {
  const optional = name.length > 1 && name.endsWith("?");
  const base = optional ? name.slice(0, -1) : name;
  if (base === "any") return { schema: {}, optional };
  const type = Object.hasOwn(types, base) ? types[base] : undefined;
  return type === undefined ? { ...inexpressible(form, source), optional } : { schema: { type }, optional };
}

function inexpressible(form: Form, source: RtfsText): Typed {
  source.warn(form.start, `the type ${quoted(sourceOf(form, source))} cannot be expressed: anything is admitted`);
  return { schema: {}, optional: false };
}

interface Field {
  key: Form;
  type: Typed;
  /** Comments that may mark the field as optional. */
  notes: (string | undefined)[];
}

/** One field of `[:map …]`: `[:k :string?]`, or `[:k [:vector :string]?]`, where `?` is a separate symbol. */
function readEntry(entry: Form, source: RtfsText): Field[] {
  if (entry.kind === "vector") {
    const [key, value, suffix, ...surplus] = entry.items;
    const marked = suffix !== undefined && isSuffix(suffix);
    if (key !== undefined && value !== undefined && surplus.length === 0 && (suffix === undefined || marked)) {
      const { schema, optional } = readType(value, source);
      return [{ key, type: { schema, optional: optional || marked }, notes: [value.note, suffix?.note, entry.note] }];
    }
  }
  source.warn(entry.start, `the field ${quoted(sourceOf(entry, source))} is not a name with a type: left out`);
  return [];
}

function isSuffix(form: Form): boolean {
  return form.kind === "symbol" && form.name === "?";
}

function objectSchema(fields: readonly Field[], source: RtfsText): JsonSchema {
  const named = fields.map(({ key, type, notes }) => ({
    name: textOf(key, source),
    offset: key.start,
    value: { schema: type.schema, required: !type.optional && !notes.some(saysOptional) },
  }));
  const kept = Object.entries(objectFromFields(named, source));
  const required = kept.filter(([, { required }]) => required).map(([name]) => name);
  const properties = Object.fromEntries(kept.map(([name, { schema }]) => [name, schema]));
  return required.length > 0 ? { type: "object", properties, required } : { type: "object", properties };
}

function saysOptional(note: string | undefined): boolean {
  return note !== undefined && /^optional\b/i.test(note);
}
