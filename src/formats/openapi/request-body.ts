import { isObject } from "../../kernel/json.ts";
import type { Converted } from "../definitions.ts";
import { child, follow, members, type OpenApiDocument, type Place } from "./document.ts";
import type { Parameter } from "./parameters.ts";
import type { Schemas } from "./schemas.ts";

export const formType = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

const jsonType = /^[\w.+-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
/** Media ranges that include JSON. */
const wideType = /^(?:\*|application)\/\*/;

export function isJson(type: string): boolean {
  return jsonType.test(type) || wideType.test(type);
}

/** The JSON entry, or else the entry of a media range that includes JSON. */
export function jsonFirst<T>(contents: readonly [string, T][]): [string, T] | undefined {
  return contents.find(([type]) => jsonType.test(type)) ?? contents.find(([type]) => wideType.test(type));
}

export interface RequestBody {
  converted: Converted;
  required: boolean;
  /** Set if the body is not JSON. */
  contentType?: string;
}

/** The operation's body: `requestBody`, or in 2.0 the `body` parameter. */
export function readRequestBody(
  source: OpenApiDocument,
  schemas: Schemas,
  operation: Place,
  parameters: readonly Parameter[],
): RequestBody | undefined {
  if (source.version === "2.0") {
    const body = parameters.find(({ location }) => location === "body");
    return body === undefined ? undefined : { converted: body.converted, required: body.required };
  }
  const start = child(operation, "requestBody");
  const place = start.value === undefined ? undefined : follow(source, start);
  if (place === undefined || !isObject(place.value)) return undefined;
  const contents = members(source, child(place, "content"));
  const [type, reference] = jsonFirst(contents) ?? contents.find(([name]) => formType.test(name)) ?? contents[0] ?? [];
  const media = reference === undefined ? undefined : follow(source, reference);
  if (type === undefined || media === undefined) return undefined;
  const schema = child(media, "schema");
  const required = place.value.required === true;
  if (isJson(type)) return { converted: schemas.convert(schema), required };
  const text: Converted = { schema: { type: "string", contentMediaType: type }, needs: [] };
  return { converted: schema.value === undefined ? text : schemas.convert(schema), required, contentType: type };
}

/** A body schema with only these keywords can be merged with the parameters without changing its meaning. */
const mergeableKeywords = new Set([
  ...["type", "properties", "required", "additionalProperties", "title", "description", "deprecated"],
  ...["default", "examples", "xml", "externalDocs", "readOnly", "writeOnly", "$comment"],
]);

/** The properties of a body whose schema is a plain object with known properties; undefined for other bodies. */
export function bodyProperties(schemas: Schemas, { converted }: RequestBody) {
  const { schema, needs } = behindReferences(schemas, converted);
  if (typeof schema !== "object") return undefined;
  const { type, properties, additionalProperties = true, required } = schema;
  const isPlain = Object.keys(schema).every((keyword) => mergeableKeywords.has(keyword) || keyword.startsWith("x-"));
  if (!isPlain || (type !== undefined && type !== "object") || !isObject(properties)) return undefined;
  if (Object.keys(properties).length === 0 || typeof additionalProperties !== "boolean") return undefined;
  return {
    properties,
    needs,
    required: Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : [],
    isClosed: additionalProperties === false,
  };
}

const maxHops = 100;

function behindReferences(schemas: Schemas, start: Converted): Converted {
  let at = start;
  for (let hops = 0; hops < maxHops && typeof at.schema === "object"; hops += 1) {
    const { $ref, ...beside } = at.schema;
    const [key] = at.needs;
    const isBare = Object.keys(beside).every((keyword) => keyword === "description" || keyword === "title");
    const definition = key === undefined ? undefined : schemas.definition(key);
    if (typeof $ref !== "string" || !isBare || definition === undefined) break;
    at = definition;
  }
  return at;
}
