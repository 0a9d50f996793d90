import type { z } from "zod";
import { components } from "./http/named.ts";
import { declaredFailures } from "./http/openapi/declared-failures.ts";
import { describeOperation } from "./http/openapi/describe-operation.ts";
import { DocumentSchemas } from "./http/openapi/document-schemas.ts";
import { ErrorResponses } from "./http/openapi/error-responses.ts";
import { responseHeaders } from "./http/openapi/response-headers.ts";
import { whoMayCall } from "./http/openapi/who-may-call.ts";
import { version } from "./kernel/version.ts";
import { CapabilityKind, ToolAnnotations } from "./manifest/schema/capability.ts";
import { Icon, JsonObject, ProviderMetadata } from "./manifest/schema/parts.ts";
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
import { Advertise, ServerStatus, Source, Visibility } from "./registry/schema.ts";
import { ToolCategory } from "./registry/views/schema.ts";
import { published } from "./service/published-schemas.ts";
import { ChangeFilters } from "./subscriptions/schema.ts";

export { originPlaceholder } from "./http/openapi/asset.ts";
export { failure, failureCodes, statusOf } from "./kernel/failure.ts";
export { jsonSchemas } from "./service/published-schemas.ts";

type Json = Record<string, unknown>;

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

/** For the reference: what a page says of an operation beside what OpenAPI says of it. */
export interface OperationFacts {
  id: string;
  /** Who may call it, in words. */
  who: string;
  fails: string[];
}

export function operationFacts(): OperationFacts[] {
  return operations.map((operation) => ({
    id: operation.id,
    who: whoMayCall(operation.access),
    fails: declaredFailures(operation),
  }));
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
