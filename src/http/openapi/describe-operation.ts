import type { z } from "zod";
import type { AnswerDeclaration, BodyDeclaration, Operation, Shape } from "../operation.ts";
import { traits } from "../parameters.ts";
import { innerOf } from "../read-parameters.ts";
import { failuresByStatus } from "./declared-failures.ts";
import type { DocumentSchemas } from "./document-schemas.ts";
import type { ErrorResponses } from "./error-responses.ts";
import { headerRefs } from "./response-headers.ts";
import { whoMayCall } from "./who-may-call.ts";

/** What OpenAPI says of one operation. Build time only: nothing that serves requests imports this file. */

type Json = Record<string, unknown>;

export function describeOperation(operation: Operation, schemas: DocumentSchemas, errors: ErrorResponses): Json {
  const { id, tag, summary, description, body, answers } = operation;
  const parameters = describeParameters(operation, schemas);
  const responses: Json = {};
  for (const [status, declared] of Object.entries(answers)) responses[status] = describeAnswer(declared, schemas);
  if (operation.method === "get" && Object.values(answers).some(({ etag }) => etag)) {
    responses[304] = {
      description: "Nothing has changed since the tag in If-None-Match.",
      headers: headerRefs(["ETag"]),
    };
  }
  for (const [status, codes] of failuresByStatus(operation)) {
    responses[status] = errors.ref(operation.errors ?? "api", status, codes);
  }
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: securityOf(operation),
    "x-who-may-call": whoMayCall(operation.access),
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body && describeBody(operation, body, schemas),
    responses,
  };
}

function securityOf({ access }: Operation): Json[] {
  const bearer = { bearer: access.scope === undefined ? [] : [access.scope] };
  if (access.verify !== undefined) return [{ signature: [] }];
  if (access.token === "none") return [];
  return access.token === "optional" ? [{}, bearer] : [bearer];
}

function describeParameters(operation: Operation, schemas: DocumentSchemas): Json[] {
  const { path = {}, query = {}, headers = {} } = operation.parameters ?? {};
  const describe = (place: "path" | "query" | "header", shape: Shape) =>
    Object.entries(shape).flatMap(([name, schema]) => describeParameter(operation, schemas, place, name, schema));
  return [...describe("path", path), ...describe("query", query), ...describe("header", headers)];
}

function describeParameter(
  { examples = {} }: Operation,
  schemas: DocumentSchemas,
  place: "path" | "query" | "header",
  name: string,
  schema: z.ZodType,
): Json[] {
  const { optional, fallback, schema: inner } = innerOf(schema);
  if (traits.get(inner)?.hidden) return [];
  const { description, examples: samples, ...described } = schemas.parameter(schema);
  const members = { path: "path", query: "query", header: "headers" } as const;
  const shown = Object.entries(examples).flatMap(([example, request]) => {
    const value = request[members[place]]?.[name];
    return value === undefined ? [] : [[example, { value }] as const];
  });
  const sample = Array.isArray(samples) && shown.length === 0 ? { example: samples[0] } : {};
  return [
    {
      name,
      in: place,
      required: place === "path" || (!optional && fallback === undefined) || undefined,
      description,
      schema: described,
      examples: shown.length === 0 ? undefined : Object.fromEntries(shown),
      ...sample,
    },
  ];
}

function describeBody({ examples = {} }: Operation, body: BodyDeclaration, schemas: DocumentSchemas): Json {
  const { schema, media = ["application/json"], whenEmpty } = body;
  const shown = Object.entries(examples).flatMap(([name, { summary, body: value }]) =>
    value === undefined ? [] : [[name, { summary, value }] as const],
  );
  const content = {
    schema: schemas.input(schema),
    examples: shown.length === 0 ? undefined : Object.fromEntries(shown),
  };
  return {
    required: whenEmpty === undefined,
    // Generators warn at YAML, so the description names it instead of the list of media types.
    description: body.media === undefined ? "JSON, or YAML with `Content-Type: application/yaml`." : undefined,
    content: Object.fromEntries(media.map((type) => [type, content])),
  };
}

function describeAnswer(declared: AnswerDeclaration, schemas: DocumentSchemas): Json {
  const { description, data, json, type: jsonType = "application/json", media = [] } = declared;
  const { etag, generation, directory, headers = {} } = declared;
  const known = [
    ...(etag ? ["ETag"] : []),
    ...(generation ? ["Rollcall-Generation", "Rollcall-Source"] : []),
    ...(directory ? ["Rollcall-Directory"] : []),
  ];
  const own = Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: "string" } }]);
  const content: Json = {};
  if (data !== undefined) content["application/json"] = { schema: schemas.envelope(data) };
  if (json !== undefined) content[jsonType] = { schema: schemas.output(json) };
  for (const type of media) content[type] = { schema: { type: "string" } };
  const all = { ...headerRefs(known), ...Object.fromEntries(own) };
  return {
    description,
    headers: Object.keys(all).length === 0 ? undefined : all,
    content: Object.keys(content).length === 0 ? undefined : content,
  };
}
