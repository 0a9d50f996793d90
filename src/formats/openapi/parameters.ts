import { isObject } from "../../kernel/json.ts";
import type { Converted } from "../definitions.ts";
import { plainCopy, withLineFeeds } from "../text.ts";
import { child, fail, follow, items, members, type OpenApiDocument, type Parameter, type Place } from "./document.ts";
import type { OperationPlace } from "./path-items.ts";
import type { Schemas } from "./schemas.ts";

export type { Parameter };

/** Headers described elsewhere in the document: OpenAPI 3 says to ignore parameters with these names. */
const reservedHeaders = new Set(["accept", "content-type", "authorization"]);

const parameterLocations = new Set(["path", "query", "querystring", "header", "cookie"]);
const swaggerLocations = new Set(["path", "query", "header", "formData", "body"]);

/** Fields of a 2.0 parameter that do not belong to its schema. `description` belongs to both. */
const nonSchemaFields = new Set(["name", "in", "required", "allowEmptyValue", "$ref"]);

const exampleLevels = 48;

/**
 * Parameters of the path item and the operation. An operation's parameter replaces the path item's parameter of the
 * same name and location. A name in the path that no parameter declares becomes one.
 */
export function readParameters(
  source: OpenApiDocument,
  schemas: Schemas,
  { method, path, pathItem, operation }: OperationPlace,
): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const owner of [pathItem, operation]) {
    for (const item of items(source, child(owner, "parameters"))) {
      const parameter = readParameter(source, schemas, item);
      if (parameter === undefined) continue;
      const { name, location } = parameter;
      found.set(`${location} ${location === "header" ? name.toLowerCase() : name}`, parameter);
    }
  }
  for (const name of namesInPath(source, path)) {
    if (name === "__proto__" || found.has(`path ${name}`)) continue;
    source.warnings.add(`${method} ${path}: {${name}} is not among the parameters; taken as a required string`);
    const schema = { type: "string", "x-in": "path" };
    found.set(`path ${name}`, { name, location: "path", required: true, converted: { schema, needs: [] } });
  }
  return [...found.values()];
}

/** Names in braces: without a value for each of them the path cannot be called. */
function namesInPath(source: OpenApiDocument, path: string): Set<string> {
  const names = new Set(Array.from(path.matchAll(/\{([^{}/]+)\}/g), ([, name = ""]) => name));
  source.steps += names.size;
  return names;
}

function readParameter(source: OpenApiDocument, schemas: Schemas, item: Place): Parameter | undefined {
  const place = follow(source, item);
  if (place === undefined) return undefined;
  const { value } = place;
  if (!isObject(value)) return parameterAt(source, schemas, place);
  if (source.parameters.has(value)) {
    const known = source.parameters.get(value);
    if (known === undefined) source.ignoredHeaders += 1;
    return known;
  }
  const parameter = parameterAt(source, schemas, place);
  source.parameters.set(value, parameter);
  return parameter;
}

/** undefined for a header that is to be ignored, or after a fault, which ends the import. */
function parameterAt(source: OpenApiDocument, schemas: Schemas, place: Place): Parameter | undefined {
  const { value } = place;
  if (!isObject(value) || typeof value.name !== "string" || value.name === "" || typeof value.in !== "string") {
    fail(source, "a parameter is an object with a name and a place it is in", place);
    return undefined;
  }
  const { name, in: location } = value;
  if (name === "__proto__") {
    fail(source, "a parameter cannot be called __proto__", place);
    return undefined;
  }
  if (!(source.version === "2.0" ? swaggerLocations : parameterLocations).has(location)) {
    fail(source, `unknown parameter location ${JSON.stringify(location.slice(0, 100))}`, place);
    return undefined;
  }
  if (source.version !== "2.0" && location === "header" && reservedHeaders.has(name.toLowerCase())) {
    source.ignoredHeaders += 1;
    return undefined;
  }
  return {
    name,
    location,
    required: value.required === true || location === "path",
    converted: described(value, convertedSchema(source, schemas, place, location), location),
  };
}

function convertedSchema(source: OpenApiDocument, schemas: Schemas, place: Place, location: string): Converted {
  if (source.version === "2.0" && location !== "body") {
    const fields = Object.entries(place.value as object).filter(([key]) => !nonSchemaFields.has(key));
    return schemas.convert({ ...place, value: Object.fromEntries(fields) });
  }
  const schema = child(place, "schema");
  if (schema.value !== undefined) return schemas.convert(schema);
  const [, media] = members(source, child(place, "content"))[0] ?? [];
  return media === undefined ? { schema: {}, needs: [] } : schemas.convert(child(media, "schema"));
}

/**
 * The parameter's description and deprecation override the schema's; its example is used if the schema has none. `x-in`
 * is the location in the request.
 */
function described(parameter: Record<string, unknown>, { schema, needs }: Converted, location: string): Converted {
  const { description, deprecated, example } = parameter;
  const fields = typeof schema === "object" ? schema : {};
  const hasExample = Object.hasOwn(parameter, "example") && !Object.hasOwn(fields, "examples");
  const about: Record<string, unknown> = { ...fields };
  if (typeof description === "string" && description !== "") about.description = withLineFeeds(description);
  if (deprecated === true) about.deprecated = deprecated;
  if (hasExample) about.examples = [plainCopy(example, exampleLevels, withLineFeeds)];
  if (location !== "body") about["x-in"] = location;
  return { schema: about, needs };
}
