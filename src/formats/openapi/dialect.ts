/**
 * One schema, its subschemas already read, from the dialects of OpenAPI 2.0 and 3.0 to JSON Schema 2020-12. The later
 * versions are that dialect already; their authors still write some of the old words, and mean what they meant.
 */
export function modernised(schema: Record<string, unknown>): Record<string, unknown> {
  const { nullable, "x-nullable": xNullable, example, ...rest } = schema;
  let modern = rest;
  exclusiveBound(modern, "minimum", "exclusiveMinimum");
  exclusiveBound(modern, "maximum", "exclusiveMaximum");
  if (modern.type === "file") modern = { ...modern, type: "string", format: "binary" };
  // A single example became a list; a map of them was never allowed here.
  if (Object.hasOwn(modern, "examples") && !Array.isArray(modern.examples)) delete modern.examples;
  if (Object.hasOwn(schema, "example") && !Object.hasOwn(modern, "examples")) modern.examples = [example];
  // A draft 3 habit: the property says of itself that it is required.
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
    return {
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      anyOf: [rest, { type: "null" }],
    };
  }
  // Without a type null was never excluded.
  const types = [schema.type ?? []].flat();
  return {
    ...schema,
    ...(types.length === 0 || types.includes("null") ? {} : { type: [...types, "null"] }),
    ...(Array.isArray(schema.enum) && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {}),
  };
}
