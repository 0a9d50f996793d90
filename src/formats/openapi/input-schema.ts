import { withoutUndefined } from "../../kernel/json.ts";
import type { Converted } from "../definitions.ts";
import { plainObject } from "../text.ts";
import { type OpenApiDocument, type Place, pathOf } from "./document.ts";
import type { Parameter } from "./parameters.ts";
import { bodyProperties, type RequestBody } from "./request-body.ts";
import type { Schemas } from "./schemas.ts";

/**
 * One object schema for all inputs of an operation. A property from a parameter has its request location in `x-in`; the
 * other properties belong to the body.
 */
export function inputSchema(
  source: OpenApiDocument,
  schemas: Schemas,
  operation: Place,
  parameters: readonly Parameter[],
  body: RequestBody | undefined,
): { schema: Record<string, unknown>; needs: readonly string[] } {
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  const needs = new Set<string>();
  const add = (name: string, isRequired: boolean, { schema, needs: keys }: Converted) => {
    properties.set(name, schema);
    if (isRequired) required.add(name);
    for (const key of keys) needs.add(key);
  };
  /** The name, prefixed with its origin if it is already used. */
  const free = (name: string, origin: string): string => {
    let candidate = name;
    for (let number = 1; properties.has(candidate); number += 1) {
      candidate = number === 1 ? `${origin}_${name}` : `${origin}_${name}_${number}`;
    }
    if (candidate !== name) source.warnings.add(`${pathOf(operation)}: ${name} in ${origin} is called ${candidate}`);
    return candidate;
  };

  const isPath = ({ location }: Parameter) => location === "path";
  const others = parameters.filter((parameter) => !isPath(parameter) && parameter.location !== "body");
  // Path parameters come first and keep their names, because the names also appear in the path.
  for (const { name, location, required: isRequired, converted } of [...parameters.filter(isPath), ...others]) {
    const called = free(name, location);
    const renamed = called === name || typeof converted.schema !== "object" ? {} : { "x-name": name };
    add(called, isRequired, { ...converted, schema: { ...(converted.schema as object), ...renamed } });
  }

  let isClosed = false;
  if (body !== undefined) {
    const merged = bodyProperties(schemas, body);
    const collision = Object.keys(merged?.properties ?? {}).find((name) => properties.has(name));
    if (merged !== undefined && collision === undefined) {
      for (const [name, schema] of Object.entries(merged.properties)) properties.set(name, schema);
      // If the body is optional, its required properties are optional too.
      if (body.required) for (const name of merged.required) required.add(name);
      for (const key of merged.needs) needs.add(key);
      isClosed = merged.isClosed;
    } else {
      const name = free("body", "request");
      if (collision !== undefined) {
        source.warnings.add(
          `${pathOf(operation)}: the body has a ${collision} of its own, so all of it is under ${name}`,
        );
      }
      add(name, body.required, body.converted);
    }
  }
  return {
    schema: withoutUndefined({
      type: "object",
      properties: plainObject(properties),
      required: required.size === 0 ? undefined : [...required],
      additionalProperties: isClosed ? false : undefined,
    }),
    needs: [...needs],
  };
}
