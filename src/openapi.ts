import type { z } from "zod";
import { indexOperations } from "./capability-index/descriptions.ts";
import { changesOperations } from "./changes/descriptions.ts";
import { hooksOperations } from "./hooks/descriptions.ts";
import { type Described, requestHeaders } from "./http/described.ts";
import { components } from "./http/named.ts";
import { describeOperation } from "./http/openapi/describe-operation.ts";
import { DocumentSchemas } from "./http/openapi/document-schemas.ts";
import { ErrorResponses } from "./http/openapi/error-responses.ts";
import { responseHeaders } from "./http/openapi/response-headers.ts";
import { version } from "./kernel/version.ts";
import { CapabilityKind, ToolAnnotations } from "./manifest/schema/capability.ts";
import { Icon, JsonObject, ProviderMetadata } from "./manifest/schema/parts.ts";
import { mcpOperations } from "./mcp/descriptions.ts";
import { officialOperations } from "./official/descriptions.ts";
import {
  Argument,
  Input,
  KeyValueInput,
  LocalTransport,
  OfficialIcon,
  Package,
  Remote,
  Repository,
  VersionStatus,
} from "./official/schema.ts";
import { operations } from "./operations.ts";
import { registryOperations } from "./registry/descriptions.ts";
import { Advertise, ServerStatus, Source, Visibility } from "./registry/schema.ts";
import { ToolCategory } from "./registry/views/schema.ts";
import { serviceOperations } from "./service/descriptions.ts";
import { published } from "./service/published-schemas.ts";
import { sessionsOperations } from "./sessions/descriptions.ts";
import { sourcesOperations } from "./sources/descriptions.ts";
import { subscriptionsOperations } from "./subscriptions/descriptions.ts";
import { ChangeFilters } from "./subscriptions/schema.ts";

export { originPlaceholder } from "./http/openapi/asset.ts";
export { jsonSchemas } from "./service/published-schemas.ts";

type Json = Record<string, unknown>;

/** Routes that are not operations yet, by path and method. */
export const described: Record<string, Record<string, Described>> = {
  ...officialOperations("/v0.1", ""),
  ...officialOperations("/v0", "V0"),
  ...serviceOperations,
  ...indexOperations,
  ...registryOperations,
  ...sourcesOperations,
  ...subscriptionsOperations,
  ...hooksOperations,
  ...changesOperations,
  ...sessionsOperations,
  ...mcpOperations,
};

/** Schemas that others are made of: with a name, clients have one type for each instead of one wherever it occurs. */
const parts: Record<string, z.ZodType> = {
  ...{ Advertise, CapabilityKind, ChangeFilters, Icon, JsonObject, ProviderMetadata, ServerStatus, Source },
  ...{ ToolAnnotations, ToolCategory, VersionStatus, Visibility },
  ...{ Input, KeyValueInput, Argument, Package, Remote, Repository, Transport: LocalTransport, OfficialIcon },
};

/** Sections of the API, in the order of the document. */
const tags = {
  Find: "Search and catalogue across tenants, indexes for a model, single capabilities.",
  Publish: "Servers, their settings and their manifests.",
  History: "Revisions and differences.",
  Hooks: "Inbound webhooks of publishers.",
  Subscriptions: "Outbound webhooks about changes.",
  Changes: "The change log of a tenant.",
  Sessions: "Negotiation and its sessions.",
  MCP: "The registry as an MCP server, and its tools and resources over plain HTTP.",
  "Registry API": "The official MCP registry's API.",
  Service: "Health, metrics, descriptions and discovery.",
};

/** The OpenAPI document, with paths below `origin`. Build time only: the Worker serves it as an asset. */
export function openApiDocument(origin: string): Json {
  const schemas = new DocumentSchemas(schemaNames());
  const errors = new ErrorResponses(schemas);
  const paths: Record<string, Json> = {};
  const put = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  for (const operation of operations)
    put(operation.path, operation.method, describeOperation(operation, schemas, errors));
  for (const [path, methods] of Object.entries(described)) {
    for (const [method, operation] of Object.entries(methods)) put(path, method, describe(path, operation, schemas));
  }
  const sorted = Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    openapi: "3.1.1",
    info: {
      title: "Rollcall",
      version,
      summary: "An edge-deployed capability registry",
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Success is `{success: true, message?, data}`; failure is `{success: false, error: {code, message, details?}}`. " +
        "Data answers carry ETag, Rollcall-Generation and Rollcall-Source.",
    },
    servers: [{ url: origin }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    ...withComponents(schemas, errors, sorted),
  };
}

function withComponents(schemas: DocumentSchemas, errors: ErrorResponses, paths: Json): Json {
  const finished = schemas.finish(paths);
  const securitySchemes = {
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    signature: { type: "apiKey", in: "header", name: "webhook-signature", description: "Standard Webhooks." },
  };
  return {
    paths: finished.paths,
    components: {
      securitySchemes,
      headers: responseHeaders,
      responses: Object.fromEntries(Object.entries(errors.responses).sort(([a], [b]) => (a < b ? -1 : 1))),
      schemas: finished.schemas,
    },
  };
}

/** Names of the components: those that schemas were given, and the files' names in PascalCase. */
function schemaNames(): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  for (const [name, schema] of Object.entries(parts)) names.set(schema, name);
  for (const [file, schema] of Object.entries(published)) names.set(schema, pascalCase(file));
  for (const [schema, id] of components) names.set(schema, id);
  return names;
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function describe(path: string, operation: Described, schemas: DocumentSchemas): Json {
  const text = { type: "string" };
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: text,
  }));
  const inQuery = Object.entries(operation.query ?? {}).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: text,
  }));
  const inHeaders = (operation.headers ?? []).map((name) => ({
    name,
    in: "header",
    description: requestHeaders[name],
    schema: text,
  }));
  const parameters = [...inPath, ...inQuery, ...inHeaders];
  return {
    operationId: operation.id,
    summary: operation.summary,
    security: operation.anonymous ? [] : [{ bearer: [] }],
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: operation.body && { required: true, content: contentOf(operation.body, schemas) },
    responses: Object.fromEntries(
      Object.entries(operation.answers).map(([status, description]) => [status, { description }]),
    ),
  };
}

function contentOf(body: string, schemas: DocumentSchemas): Json {
  if (body === "any") return { "*/*": {} };
  const schema = schemas.input(published[body as keyof typeof published]);
  return { "application/json": { schema }, "application/yaml": { schema } };
}
