import { isObject } from "../../kernel/json.ts";
import { limitsOf, type Resolved, typeWords } from "./words.ts";

/** One line of a schema as people read it. */
export interface SchemaRow {
  /** Name of the property; `[ ]` for what a list holds, `(any name)` for members without fixed names. */
  name: string;
  depth: number;
  required: boolean;
  type: string;
  limits: string[];
  default?: string;
  description?: string;
  /** Path of names from the root: the row's anchor. */
  path: string;
}

export interface RenderedSchema {
  rows: SchemaRow[];
  /** Rows beyond the limit that were not made. */
  cut: boolean;
}

type Schema = Record<string, unknown>;

const maxDepth = 12;

/**
 * The rows of a JSON Schema: properties with their types in words. Local references are followed, a reference to something
 * above says so. undefined for a schema that has nothing to list: the raw JSON says more then.
 */
export function schemaRows(root: unknown, most = 400): RenderedSchema | undefined {
  if (!isObject(root)) return undefined;
  const walk = new Walk(root, most);
  walk.members(root, 0, "", []);
  return { rows: walk.rows, cut: walk.cut };
}

/** References that the types of one table may follow: unions of references multiply with every level. */
const maxSteps = 20_000;
/** Parts of an `allOf` that are merged. */
const maxParts = 200;

class Walk {
  readonly rows: SchemaRow[] = [];
  cut = false;
  #steps = 0;
  readonly #root: Schema;
  readonly #most: number;

  constructor(root: Schema, most: number) {
    this.#root = root;
    this.#most = most;
  }

  /** The rows below a schema. `trail` has the schemas above, to notice a cycle. */
  members(given: unknown, depth: number, path: string, trail: readonly unknown[]): void {
    const schema = merged(this.#resolve(given).schema);
    if (schema === undefined || depth > maxDepth || trail.includes(schema) || trail.includes(given)) return;
    const below = [...trail, schema, given];
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    if (isObject(schema.properties)) {
      for (const [name, member] of Object.entries(schema.properties)) {
        this.#add(name, member, required.has(name), depth, path, below);
        if (this.cut) return;
      }
    }
    if (isObject(schema.additionalProperties))
      this.#add("(any name)", schema.additionalProperties, false, depth, path, below);
    const options = variants(schema);
    if (options.length > 1)
      for (const [at, option] of options.entries())
        if (hasMembers(merged(this.#resolve(option).schema)))
          this.#add(`option ${at + 1}`, option, false, depth, path, below);
    if (options.length === 1) this.members(options[0], depth, path, below);
    const [items] = Array.isArray(schema.prefixItems) ? [] : [schema.items];
    const inside = merged(this.#resolve(items).schema);
    if (hasMembers(inside)) this.members(items, depth, `${path}[]`, below);
  }

  #add(name: string, given: unknown, required: boolean, depth: number, path: string, trail: readonly unknown[]): void {
    if (this.rows.length >= this.#most) {
      this.cut = true;
      return;
    }
    const { schema, reference } = this.#resolve(given);
    const shown = merged(schema);
    const isCycle = trail.includes(schema) || trail.includes(shown);
    const own = isObject(given) ? { ...shown, ...withoutReference(given) } : shown;
    const row: SchemaRow = {
      name,
      depth,
      required,
      type: isCycle ? `${reference ?? "object"}, see above` : typeWords(given, (inner) => this.#resolveCounted(inner)),
      limits: own === undefined ? [] : limitsOf(own),
      path: path === "" ? name : `${path}.${name}`,
    };
    if (own !== undefined && "default" in own) row.default = JSON.stringify(own.default);
    if (typeof own?.description === "string" && own.description !== "") row.description = own.description;
    this.rows.push(row);
    if (!isCycle) this.members(given, depth + 1, row.path, trail);
  }

  /** Past the bound every schema is "anything", which ends the walk. */
  #resolveCounted(given: unknown): Resolved {
    this.#steps += 1;
    return this.#steps > maxSteps ? { schema: {} } : this.#resolve(given);
  }

  #resolve(given: unknown): Resolved {
    return resolve(this.#root, given);
  }
}

/** Follows `$ref` within the document. */
function resolve(root: Schema, given: unknown): Resolved {
  let schema = given;
  let reference: string | undefined;
  for (let hops = 0; hops < 16 && isObject(schema) && typeof schema.$ref === "string"; hops += 1) {
    const { $ref } = schema;
    if (!$ref.startsWith("#")) return { schema: {}, reference: $ref };
    reference = decodeURIComponentSafe($ref.split("/").at(-1) ?? "");
    const found = at(root, $ref.slice(1));
    if (found === undefined || found === schema) return { schema: {}, reference };
    schema = found;
  }
  return { schema, reference: reference === "" ? "the whole" : reference };
}

function at(root: Schema, pointer: string): unknown {
  let value: unknown = root;
  for (const segment of pointer.split("/").slice(1)) {
    const key = decodeURIComponentSafe(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    value =
      isObject(value) && Object.hasOwn(value, key) ? value[key] : Array.isArray(value) ? value[Number(key)] : undefined;
  }
  return value;
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withoutReference({ $ref: _, ...rest }: Schema): Schema {
  return rest;
}

const mergedSchemas = new WeakMap<object, Schema>();

/** A schema with the properties of its `allOf`. One object per schema, so that cycles are noticed. */
function merged(schema: unknown): Schema | undefined {
  if (!isObject(schema)) return undefined;
  if (!Array.isArray(schema.allOf)) return schema;
  const known = mergedSchemas.get(schema);
  if (known !== undefined) return known;
  const { allOf, ...own } = schema;
  const all: Schema = { ...own };
  for (const part of (allOf as unknown[]).slice(0, maxParts)) {
    if (!isObject(part)) continue;
    // What the schema itself says of a property wins.
    if (isObject(part.properties))
      all.properties = { ...Object(all.properties), ...part.properties, ...Object(own.properties) };
    if (Array.isArray(part.required))
      all.required = [...part.required, ...(Array.isArray(all.required) ? all.required : [])];
    all.type ??= part.type;
    all.description ??= part.description;
  }
  mergedSchemas.set(schema, all);
  return all;
}

/** What a value may be besides null. */
function variants(schema: Schema): unknown[] {
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray) ?? [];
  return options.filter((option: unknown) => !(isObject(option) && option.type === "null"));
}

function hasMembers(schema: Schema | undefined): boolean {
  if (schema === undefined) return false;
  if (isObject(schema.properties) && Object.keys(schema.properties).length > 0) return true;
  return isObject(schema.additionalProperties) || isObject(schema.items) || variants(schema).length > 0;
}
