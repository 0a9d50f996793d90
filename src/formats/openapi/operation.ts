import { withoutUndefined } from "../../kernel/json.ts";
import type { Converted, Draft } from "../definitions.ts";
import { clipText } from "../text.ts";
import { baseUrl } from "./base-url.ts";
import { child, follow, members, type OpenApiDocument, type Place } from "./document.ts";
import { inputSchema } from "./input-schema.ts";
import { type Parameter, readParameters } from "./parameters.ts";
import type { OperationPlace } from "./path-items.ts";
import { formType, isJson, jsonFirst, readRequestBody } from "./request-body.ts";
import type { Schemas } from "./schemas.ts";
import { readSecurity } from "./security.ts";

/** Schema of the first successful JSON response. The `default` response is used if no success status is declared. */
function readOutput(source: OpenApiDocument, schemas: Schemas, operation: Place): Converted | undefined {
  const responses = members(source, child(operation, "responses"));
  const successes = responses.filter(([status]) => /^2(?:\d\d|XX)$/i.test(status));
  const candidates = successes.length > 0 ? successes : responses.filter(([status]) => status === "default");
  for (const [, candidate] of candidates) {
    const response = follow(source, candidate);
    const schema = response && responseSchema(source, operation, response);
    if (schema?.value === undefined) continue;
    const converted = schemas.convert(schema);
    if (typeof converted.schema === "object") return converted;
  }
  return undefined;
}

function responseSchema(source: OpenApiDocument, operation: Place, response: Place): Place | undefined {
  if (source.version === "2.0") return producesJson(source, operation) ? child(response, "schema") : undefined;
  const [, reference] = jsonFirst(members(source, child(response, "content"))) ?? [];
  const media = reference && follow(source, reference);
  return media && child(media, "schema");
}

/**
 * In 2.0, `produces` of the operation or the document lists the response media types. Without it any type is possible,
 * JSON included.
 */
function producesJson(source: OpenApiDocument, operation: Place): boolean {
  const own = child(operation, "produces").value;
  const types = Array.isArray(own) ? own : source.document.produces;
  if (!Array.isArray(types) || types.length === 0) return true;
  source.steps += types.length;
  return types.some((type) => typeof type === "string" && isJson(type));
}

/** Safe methods (RFC 9110, section 9.2.1, and the draft for QUERY). */
const safeMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]);

/** One operation as a capability, without its name and definitions. */
export function readOperation(
  source: OpenApiDocument,
  schemas: Schemas,
  place: OperationPlace,
  apiVersion: string | undefined,
): Draft {
  const { method, path, operation, pathItem } = place;
  const parameters = readParameters(source, schemas, place);
  const body = readRequestBody(source, schemas, operation, parameters);
  const input = inputSchema(source, schemas, operation, parameters, body);
  const output = readOutput(source, schemas, operation);
  const security = readSecurity(source, operation);
  const base = baseUrl(source, operation, pathItem);
  const contentType = body?.contentType ?? formContentType(source, parameters, child(operation, "consumes").value);

  const [summary, text] = textsOf(operation);
  const [pathSummary, pathText] = textsOf(pathItem);
  const title = clipText(summary ?? pathSummary, 1_024, `the summary of ${method} ${path}`, source.warnings);
  // A model is given the description and not the title, so a summary has to stand in for a missing one.
  const longest = text ?? summary ?? pathText ?? pathSummary;
  const description = clipText(longest, 65_536, `the description of ${method} ${path}`, source.warnings);
  const tags = child(operation, "tags").value;
  return {
    operation: withoutUndefined({
      title,
      description,
      provider: "openapi",
      deprecated: child(operation, "deprecated").value === true ? true : undefined,
      tags: isTexts(tags) && tags.length > 0 ? tags : undefined,
      inputSchema: input.schema,
      outputSchema: output?.schema,
      annotations: annotations(method),
      permissions: ["network.http"],
      effects: effects(method, security.required),
      metadata: {
        openapi: withoutUndefined({
          base_url: base,
          endpoint_method: method,
          endpoint_path: path,
          api_version: apiVersion,
          content_type: contentType,
          ...security.metadata,
        }),
        discovery: withoutUndefined({
          method: "api_introspection",
          source_url: source.url,
          capability_type: "specialized_http_api",
          introspector_version: "1.0.0",
        }),
      },
    }),
    inputNeeds: input.needs,
    outputNeeds: output?.needs ?? [],
  };
}

/** Summary and description; undefined where they say nothing. */
function textsOf(place: Place): [summary: unknown, description: unknown] {
  const summary = child(place, "summary").value;
  const description = child(place, "description").value;
  return [isBlank(summary) ? undefined : summary, isBlank(description) ? undefined : description];
}

function isBlank(value: unknown): boolean {
  return typeof value !== "string" || value.trim() === "";
}

function annotations(method: string): Record<string, boolean> {
  const annotations: Record<string, boolean> = { readOnlyHint: safeMethods.has(method) };
  if (method === "DELETE") annotations.destructiveHint = true;
  if (method === "PUT" || method === "DELETE") annotations.idempotentHint = true;
  return annotations;
}

function effects(method: string, isSecured: boolean): string[] {
  return [
    "network_request",
    safeMethods.has(method) ? "network_read" : "network_write",
    ...(method === "DELETE" ? ["destructive"] : []),
    ...(isSecured ? ["auth_required"] : []),
  ];
}

/**
 * Content type of a 2.0 form. Forms are `formData` parameters in 2.0, so only `consumes` names their type; without it
 * the type depends on whether a file is sent.
 */
function formContentType(
  source: OpenApiDocument,
  parameters: readonly Parameter[],
  consumes: unknown,
): string | undefined {
  const fields = parameters.filter(({ location }) => location === "formData");
  if (fields.length === 0) return undefined;
  const types = Array.isArray(consumes) ? consumes : source.document.consumes;
  if (Array.isArray(types)) source.steps += types.length;
  const named = isTexts(types) ? types.find((type) => formType.test(type)) : undefined;
  const hasFile = fields.some(({ converted: { schema } }) => typeof schema === "object" && schema.format === "binary");
  return named ?? (hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded");
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
