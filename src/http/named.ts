import type { z } from "zod";

const names = new Map<z.ZodType, string>();

/** Schemas with their names in OpenAPI. */
export const components: ReadonlyMap<z.ZodType, string> = names;

/**
 * Names a schema of a body or an answer. The name, in PascalCase, is the type's name in generated clients. Schemas that
 * are published as files are named there.
 */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  names.set(schema, id);
  return schema;
}
