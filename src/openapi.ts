import type { z } from "zod";
import { components } from "./http/named.ts";
import { describeOperation, responseHeaders } from "./http/openapi/describe-operation.ts";
import { DocumentSchemas } from "./http/openapi/document-schemas.ts";
import { version } from "./kernel/version.ts";
import { operations } from "./operations.ts";
import { published } from "./service/published-schemas.ts";

export { originPlaceholder } from "./http/openapi/asset.ts";
export { jsonSchemas } from "./service/published-schemas.ts";

type Json = Record<string, unknown>;

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
  const paths: Record<string, Json> = {};
  const put = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  for (const operation of operations) put(operation.path, operation.method, describeOperation(operation, schemas));
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
    ...withSchemas(schemas, sorted),
  };
}

function withSchemas(schemas: DocumentSchemas, paths: Json): Json {
  const finished = schemas.finish(paths);
  const securitySchemes = {
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    signature: { type: "apiKey", in: "header", name: "webhook-signature", description: "Standard Webhooks." },
  };
  return {
    paths: finished.paths,
    components: { securitySchemes, headers: responseHeaders, schemas: finished.schemas },
  };
}

/** Names of the components: those that schemas were given, and the files' names in PascalCase. */
function schemaNames(): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  for (const [file, schema] of Object.entries(published)) names.set(schema, pascalCase(file));
  for (const [schema, id] of components) names.set(schema, id);
  return names;
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
