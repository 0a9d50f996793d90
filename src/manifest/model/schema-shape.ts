import { pathSegment } from "../../kernel/characters.ts";
import { pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";

/** Schemas looked at of one tool: the longest of some 12,000 public tools has a few hundred. */
const maxVisited = 10_000;

const typeNames = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/** Keywords whose value maps names to schemas. */
const maps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/** Keywords whose value is a schema or a list of schemas. */
const schemas = [
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames"],
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
];

interface Place {
  value: unknown;
  path: string;
}

/**
 * What is written wrongly in a schema, so that an API would refuse it, and where; undefined if nothing is found. Only
 * what schemas of tools are made of is looked at, and values (`default`, `const` …) are no schemas.
 */
export function schemaFault(schema: unknown): string | undefined {
  const todo: Place[] = [{ value: schema, path: "" }];
  for (let visited = 0; visited < maxVisited; visited += 1) {
    const place = todo.pop();
    if (place === undefined) return undefined;
    const { value, path } = place;
    if (typeof value === "boolean") continue;
    if (!isObject(value)) return `${path || "It"} is no schema, which is an object or a boolean`;
    const fault = keywordFault(value, path);
    if (fault !== undefined) return fault;
    todo.push(...below(value, path));
  }
  return undefined;
}

function keywordFault(schema: Record<string, unknown>, path: string): string | undefined {
  const { type, required } = schema;
  if (type !== undefined && !isType(type)) {
    return `${path}/type is no type of JSON Schema: ${JSON.stringify(type).slice(0, 100)}`;
  }
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    return `${path}/required is no list of names`;
  }
  if (schema.enum !== undefined && !Array.isArray(schema.enum)) return `${path}/enum is no list`;
  const odd = maps.find((keyword) => schema[keyword] !== undefined && !isObject(schema[keyword]));
  return odd === undefined ? undefined : `${path}/${odd} is no object of schemas`;
}

function isType(type: unknown): boolean {
  const names = Array.isArray(type) ? type : [type];
  return names.length > 0 && names.every((name) => typeNames.has(name)) && new Set(names).size === names.length;
}

function below(schema: Record<string, unknown>, path: string): Place[] {
  const found: Place[] = [];
  for (const keyword of maps) {
    for (const [name, value] of Object.entries(schema[keyword] ?? {}))
      found.push({ value, path: pointer(`${path}/${keyword}`, pathSegment(name)) });
  }
  for (const keyword of schemas) {
    const value = schema[keyword];
    if (value === undefined) continue;
    if (!Array.isArray(value)) found.push({ value, path: `${path}/${keyword}` });
    else for (const [index, one] of value.entries()) found.push({ value: one, path: `${path}/${keyword}/${index}` });
  }
  return found;
}
