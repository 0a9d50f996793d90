import { isObject, withoutUndefined } from "../../kernel/json.ts";
import type { Steps } from "../../kernel/pace/pace.ts";
import type { Converted, Definition, Schema } from "../definitions.ts";
import { plainCopy, plainObject, withLineFeeds } from "../text.ts";
import { child, fail, type OpenApiDocument, type Place, pathOf, targetOf } from "./document.ts";
import { cutCycles, type Reference } from "./schema-cycles.ts";

/**
 * Converts one schema, whose subschemas are already converted, from the dialects of OpenAPI 2.0 and 3.0 to JSON Schema
 * 2020-12. OpenAPI 3.1 and later use 2020-12, but documents still contain older keywords with their old meaning.
 */
function toSchema2020(schema: Record<string, unknown>): Record<string, unknown> {
  const { nullable, "x-nullable": xNullable, example, ...rest } = schema;
  let modern = rest;
  exclusiveBound(modern, "minimum", "exclusiveMinimum");
  exclusiveBound(modern, "maximum", "exclusiveMaximum");
  if (modern.type === "file") modern = { ...modern, type: "string", format: "binary" };
  // 2020-12 has a list of `examples` instead of one `example`. A map of examples was never valid in a schema.
  if (Object.hasOwn(modern, "examples") && !Array.isArray(modern.examples)) delete modern.examples;
  if (Object.hasOwn(schema, "example") && !Object.hasOwn(modern, "examples")) modern.examples = [example];
  // Draft 3 style: a property declares itself required with a boolean.
  if (Object.hasOwn(modern, "required") && !Array.isArray(modern.required)) delete modern.required;
  return nullable === true || xNullable === true ? orNull(modern) : modern;
}

/** `minimum: 1, exclusiveMinimum: true` → `exclusiveMinimum: 1`. */
function exclusiveBound(schema: Record<string, unknown>, bound: string, exclusive: string): void {
  if (typeof schema[exclusive] !== "boolean") return;
  const isExclusive = schema[exclusive] && typeof schema[bound] === "number";
  if (isExclusive) {
    schema[exclusive] = schema[bound];
    delete schema[bound];
  } else {
    delete schema[exclusive];
  }
}

function orNull(schema: Record<string, unknown>): Record<string, unknown> {
  if (["allOf", "anyOf", "oneOf", "not", "const"].some((keyword) => Object.hasOwn(schema, keyword))) {
    const { title, description, ...rest } = schema;
    return withoutUndefined({ title, description, anyOf: [rest, { type: "null" }] });
  }
  // Without `type`, only `enum` can exclude null.
  const types = [schema.type ?? []].flat();
  const nullable = { ...schema };
  if (types.length > 0 && !types.includes("null")) nullable.type = [...types, "null"];
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) nullable.enum = [...schema.enum, null];
  return nullable;
}

const singleSchemaKeywords = new Set([
  ...["items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties"],
  ...["propertyNames", "contentSchema", "not", "if", "then", "else"],
]);
const schemaListKeywords = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const schemaMapKeywords = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** Keywords whose subschemas apply to the same value. */
const inPlaceKeywords = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]);
/**
 * Identifiers and definitions of the source document. Every reference is rewritten, so they are unused, and `$id` would
 * change how references resolve.
 */
const droppedKeywords = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "$defs", "definitions"]);
/**
 * Keywords with text for readers, whose line endings may be normalised. Other strings are data: changing them would
 * change the schema.
 */
const annotationKeywords = new Set(["title", "description", "$comment", "examples"]);
/** Keywords kept beside `$ref` in 2.0 and 3.0, which say to ignore all siblings. */
const keywordsBesideRef = new Set(["description", "title", "deprecated"]);
/** Keywords dropped beside a reference: `$ref` is rewritten, and no version gives the others a meaning there. */
const keywordsNotBesideRef = new Set(["$ref", "nullable", "x-nullable"]);

/** A manifest may nest 64 levels, and a schema starts six levels below its root. */
const maxLevels = 58;

interface Entry extends Definition {
  references: Reference[];
  needs: string[];
}

/** References found so far in the schema being read. */
interface Reading {
  references: Reference[];
}

/**
 * Converts the document's schemas to JSON Schema 2020-12. Every reference target becomes a definition, converted once.
 * References are not inlined, so a small document cannot expand into a large one.
 */
export function createSchemas(source: OpenApiDocument) {
  const entries = new Map<string, Entry>();
  const names = new Map<string, number>();
  /** Definitions that are referenced and not read yet, by their entries. */
  const pending = new Map<Entry, Place>();
  const inline = new Map<unknown, Converted>();

  function convert(place: Place): Converted {
    const known = inline.get(place.value);
    if (known !== undefined) return known;
    const reading: Reading = { references: [] };
    const schema = read(place, reading, maxLevels, true);
    const converted = { schema, needs: keysOf(reading.references) };
    if (typeof place.value === "object") inline.set(place.value, converted);
    return converted;
  }

  function readDefinition(entry: Entry): void {
    const place = pending.get(entry);
    if (place === undefined) return;
    pending.delete(entry);
    entry.schema = read(place, entry, maxLevels, true);
    entry.needs = keysOf(entry.references);
  }

  /** Reads what is referenced, one definition a step: one operation may lead to all of the document. */
  function* readPending(): Generator<void> {
    // Iterating a Map also visits entries that are added meanwhile.
    for (const entry of pending.keys()) {
      readDefinition(entry);
      yield;
    }
  }

  function read(place: Place, reading: Reading, levels: number, inPlace: boolean): Schema {
    source.steps += 1;
    if (typeof place.value === "boolean") return place.value;
    if (!isObject(place.value)) return {};
    if (levels <= 0) {
      fail(source, "this schema nests too deeply", place);
      return {};
    }
    const { $ref } = place.value;
    const entry = typeof $ref === "string" ? definitionAt(child(place, "$ref")) : undefined;
    const ignoresSiblings = entry !== undefined && (source.version === "2.0" || source.version === "3.0");
    const isNullable = place.value.nullable === true || place.value["x-nullable"] === true;
    const fields: [string, unknown][] = [];
    for (const keyword of Object.keys(place.value)) {
      if (entry !== undefined && keywordsNotBesideRef.has(keyword)) continue;
      if (droppedKeywords.has(keyword) || (ignoresSiblings && !keywordsBesideRef.has(keyword))) continue;
      // A nullable schema may be wrapped in `anyOf`, which adds two levels.
      const room = levels - (isNullable ? 3 : 1);
      const value = readKeyword(keyword, child(place, keyword), reading, room, inPlace);
      if (value !== undefined) fields.push([keyword, value]);
    }
    if (entry === undefined) return toSchema2020(plainObject(fields));
    const node = toSchema2020(plainObject([["$ref", `#/$defs/${entry.definition.name}`], ...fields]));
    reading.references.push({
      key: entry.key,
      place: child(place, "$ref"),
      node,
      inPlace,
      isWhole: inPlace && levels === maxLevels,
    });
    return node;
  }

  function readKeyword(keyword: string, place: Place, reading: Reading, levels: number, inPlace: boolean): unknown {
    const { value } = place;
    if (keyword === "$ref" || keyword === "$dynamicRef") {
      source.warnings.add(`${pathOf(place)} cannot be followed and was left out`);
      return undefined;
    }
    const stays = inPlace && inPlaceKeywords.has(keyword);
    if (schemaListKeywords.has(keyword) || (keyword === "items" && Array.isArray(value))) {
      if (!Array.isArray(value)) return undefined;
      return value.map((_, index) => read(child(place, index), reading, levels - 1, stays));
    }
    if (schemaMapKeywords.has(keyword)) {
      if (!isObject(value)) return undefined;
      const keys = Object.keys(value);
      return plainObject(keys.map((key) => [key, read(child(place, key), reading, levels - 1, stays)]));
    }
    if (singleSchemaKeywords.has(keyword)) return read(place, reading, levels, stays);
    if (keyword === "discriminator") return readDiscriminator(place, reading);
    return plainCopy(
      value,
      levels,
      annotationKeywords.has(keyword) || keyword === "example" ? withLineFeeds : undefined,
    );
  }

  /** Rewrites the references in a discriminator mapping; bare schema names are kept. */
  function readDiscriminator(place: Place, reading: Reading): unknown {
    if (typeof place.value === "string") return { propertyName: place.value };
    if (!isObject(place.value)) return undefined;
    const copy = plainCopy(place.value, 3) as Record<string, unknown>;
    if (!isObject(copy.mapping)) return copy;
    const mapping = Object.entries(copy.mapping).map(([value, target]): [string, unknown] => {
      if (typeof target !== "string" || !target.startsWith("#/")) return [value, target];
      const at = child(child(place, "mapping"), value);
      const entry = definitionAt(at);
      if (entry === undefined) return [value, target];
      reading.references.push({ key: entry.key, place: at, node: {}, inPlace: false, isWhole: false });
      return [value, `#/$defs/${entry.definition.name}`];
    });
    return { ...copy, mapping: plainObject(mapping) };
  }

  function definitionAt(reference: Place): { key: string; definition: Entry } | undefined {
    const target = targetOf(source, reference);
    if (target === undefined) return undefined;
    const { key, place } = target;
    const known = entries.get(key);
    if (known !== undefined) return { key, definition: known };
    const definition: Entry = { name: definitionName(String(place.key ?? "")), schema: {}, needs: [], references: [] };
    entries.set(key, definition);
    pending.set(definition, place);
    return { key, definition };
  }

  /** A unique definition name from the target's key, in characters that need no escaping in a JSON pointer or URL. */
  function definitionName(key: string): string {
    const fitting = key.slice(0, 200).replace(/[^A-Za-z0-9_.-]+/g, "_");
    const base = fitting === "" || fitting === "__proto__" ? "schema" : fitting;
    let number = names.get(base) ?? 1;
    while (number > 1 && names.has(`${base}_${number}`)) number += 1;
    const name = number === 1 ? base : `${base}_${number}`;
    names.set(base, number + 1);
    if (number > 1) names.set(name, 2);
    return name;
  }

  return {
    convert,
    readPending,
    /** The definition with this key, for callers that inspect its content. */
    definition(key: string): Definition | undefined {
      const entry = entries.get(key);
      if (entry !== undefined) readDefinition(entry);
      return entry;
    },
    /** All definitions, with cycles cut. */
    *finish(): Steps<ReadonlyMap<string, Definition>> {
      yield* cutCycles(source, entries);
      return entries;
    },
  };
}

export type Schemas = ReturnType<typeof createSchemas>;

function keysOf(references: readonly Reference[]): string[] {
  return [...new Set(references.map(({ key }) => key))];
}
