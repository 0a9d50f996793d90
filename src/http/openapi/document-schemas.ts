import { z } from "zod";

type Json = Record<string, unknown>;

const prefix = "#/components/schemas/";

/**
 * The named schemas of an OpenAPI document. Requests and answers differ where a schema has defaults; a schema that is
 * used for both and differs has its answers' form under the name with `Output` behind it.
 */
export class DocumentSchemas {
  readonly #ids = z.registry<{ id: string }>();
  readonly #forms: Record<"input" | "output", Record<string, Json>>;
  readonly #used: Record<"input" | "output", Set<string>> = { input: new Set(), output: new Set() };
  /** Schemas around those that zod describes: envelopes and errors, by name. */
  readonly #defined = new Map<string, Json>();

  constructor(names: ReadonlyMap<z.ZodType, string>) {
    for (const [schema, id] of names) this.#ids.add(schema, { id });
    this.#forms = { input: this.#render("input"), output: this.#render("output") };
  }

  ref(id: string): Json {
    this.#use("output", id);
    return { $ref: `${prefix}${id}` };
  }

  input(schema: z.ZodType): Json {
    const id = this.#idOf(schema);
    this.#use("input", id);
    return { $ref: `${prefix}${id}` };
  }

  /** The schema of a parameter, with what its text becomes: integer, boolean, array. */
  parameter(schema: z.ZodType): Json {
    const { $schema: _, ...described } = z.toJSONSchema(schema, {
      io: "input",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const id = this.#ids.get(zodSchema)?.id;
        if (id === undefined) return;
        this.#use("input", id);
        const { description } = jsonSchema;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, { $ref: `${prefix}${id}`, description });
      },
    });
    return described;
  }

  output(schema: z.ZodType): Json {
    const id = this.#idOf(schema);
    this.#use("output", id);
    return { $ref: `${prefix}${id}`, form: "output" };
  }

  /** `{success, message?, data}` around data of a schema. */
  envelope(data: z.ZodType): Json {
    return this.define(`${this.#idOf(data)}Answer`, {
      type: "object",
      properties: { success: { const: true }, message: { type: "string" }, data: this.output(data) },
      required: ["success", "data"],
    });
  }

  /** Adds a schema that zod does not describe. */
  define(id: string, schema: Json): Json {
    const known = this.#defined.get(id);
    if (this.#forms.output[id] !== undefined || (known && JSON.stringify(known) !== JSON.stringify(schema))) {
      throw new Error(`two schemas have the name ${id}`);
    }
    this.#defined.set(id, schema);
    return { $ref: `${prefix}${id}` };
  }

  /** Every schema that the document refers to, by name; `paths` gets the final names of the forms. */
  finish(paths: Json): { paths: Json; schemas: Json } {
    const differing = this.#differing();
    const finalName = (id: string) => (differing.has(id) ? `${id}Output` : id);
    const schemas: Json = {};
    for (const id of this.#used.input) schemas[id] = this.#forms.input[id];
    for (const id of this.#used.output) {
      schemas[finalName(id)] = mapRefs(this.#forms.output[id], (ref) => finalName(ref), true);
    }
    for (const [id, schema] of this.#defined) schemas[id] = mapRefs(schema, finalName, false);
    const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
    return { paths: mapRefs(paths, finalName, false) as Json, schemas: Object.fromEntries(sorted) };
  }

  #idOf(schema: z.ZodType): string {
    const id = this.#ids.get(schema)?.id;
    if (id === undefined) {
      throw new Error(
        `a schema of a body or an answer has no name: ${JSON.stringify(z.toJSONSchema(schema)).slice(0, 300)}`,
      );
    }
    return id;
  }

  /** Marks a schema and all that it refers to. */
  #use(form: "input" | "output", id: string): void {
    if (this.#used[form].has(id)) return;
    this.#used[form].add(id);
    for (const other of refsIn(this.#forms[form][id])) this.#use(form, other);
  }

  /** Schemas used both ways whose forms differ, themselves or in what they refer to. */
  #differing(): Set<string> {
    const both = [...this.#used.output].filter((id) => this.#used.input.has(id));
    const text = (form: "input" | "output", id: string) => JSON.stringify(this.#forms[form][id]);
    const found = new Set(both.filter((id) => text("input", id) !== text("output", id)));
    for (let size = -1; size !== found.size; ) {
      size = found.size;
      for (const id of both) if (refsIn(this.#forms.output[id]).some((other) => found.has(other))) found.add(id);
    }
    return found;
  }

  #render(io: "input" | "output"): Record<string, Json> {
    const { schemas } = z.toJSONSchema(this.#ids, {
      io,
      uri: (id) => `${prefix}${id}`,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        // A client must not refuse members that a later version adds; zod forbids them for answers.
        const { type, catchall } = zodSchema._zod.def as { type: string; catchall?: unknown };
        if (type === "object" && catchall === undefined) delete jsonSchema.additionalProperties;
        // The end of a tuple, which generators read as a bound instead.
        if (jsonSchema.prefixItems !== undefined && jsonSchema.items === false) {
          delete jsonSchema.items;
          jsonSchema.minItems = jsonSchema.maxItems = jsonSchema.prefixItems.length;
        }
      },
    });
    return Object.fromEntries(
      Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema as Json]),
    );
  }
}

function refsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner.slice(prefix.length)] : refsIn(inner),
  );
}

/** Renames references to answers' forms: those that say so, or all of them. */
function mapRefs(value: unknown, rename: (id: string) => string, all: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => mapRefs(item, rename, all));
  if (typeof value !== "object" || value === null) return value;
  const { form, ...rest } = value as Json;
  const isRef = typeof rest.$ref === "string" && rest.$ref.startsWith(prefix);
  const kept = isRef && form === "output" ? rest : (value as Json);
  return Object.fromEntries(
    Object.entries(kept).map(([key, inner]) =>
      key === "$ref" && isRef && (all || form === "output")
        ? [key, `${prefix}${rename(String(inner).slice(prefix.length))}`]
        : [key, mapRefs(inner, rename, all)],
    ),
  );
}
