import { z } from "zod";
import { withoutSecrets } from "../../formats/mcp/describe-item.ts";
import { manager } from "../../http/access.ts";
import { requestError, unwrap } from "../../http/context.ts";
import { named } from "../../http/named.ts";
import { operation } from "../../http/operation.ts";
import { flag, server, traits, writing } from "../../http/parameters.ts";
import { createWorkerPace } from "../../kernel/platform/worker-pace.ts";
import { ImportResult } from "../answer-schema.ts";
import type { RegistryDeps } from "../deps.ts";
import { importedItems, publishImported } from "../import.ts";
import { type ImportFormat, importFormats, readImport } from "../import-document.ts";
import { dryRunHeaders, publishMeta, publishResult } from "../publish-answer.ts";
import { writerFrom } from "../write.ts";

const ImportDocument = named(
  "ImportDocument",
  z
    .unknown()
    .describe(
      "An OpenAPI or MCP document as JSON or YAML, a GraphQL schema as text or its introspection as JSON, or RTFS text.",
    ),
);

const Format = z.enum(importFormats).describe("Format of the document.");
traits.add(Format, { read: readFormat, fails: ["ErrorNotFound"] });

function readFormat(text: string): ImportFormat {
  const format = importFormats.find((known) => known === text);
  if (format !== undefined) return format;
  throw requestError("ErrorNotFound", `Unknown importer; available: ${importFormats.join(", ")}`);
}

/** A provenance URL. Nothing is fetched from it; user, password, fragment and secrets in the query are not stored. */
const HttpUrl = z
  .url({ protocol: /^https?$/, error: "must be a URL that starts with http:// or https://" })
  .max(2_048)
  .overwrite(publicUrl);

function publicUrl(text: string): string {
  const url = URL.parse(withoutSecrets(text));
  if (url === null) return text;
  url.hash = "";
  return url.href;
}

const openApi = {
  openapi: "3.1.0",
  info: { title: "Tides", version: "1.0.0" },
  servers: [{ url: "https://tides.example.com" }],
  paths: { "/tides": { get: { operationId: "listTides", summary: "High and low water today", responses: {} } } },
};

const importDocument = operation({
  id: "importDocument",
  method: "post",
  path: "/api/import/{format}",
  tag: "Publish",
  summary: "Publish what a document of another format describes",
  access: manager("query"),
  parameters: {
    path: { format: Format },
    query: {
      tenant: server.tenant.describe("Owner of the server."),
      name: server.name.describe("Name of the server."),
      sourceUrl: HttpUrl.describe(
        "Where the document comes from, for `metadata.discovery.source_url`. Relative server URLs of OpenAPI are resolved against it.",
      ).optional(),
      endpointUrl: HttpUrl.describe(
        "Where the operations or tools are called: `graphql.endpoint_url`, `openapi.base_url` or `mcp.server_url`.",
      ).optional(),
      dryRun: flag.default(false).describe("Answers what the import would do, and publishes nothing."),
    },
    headers: writing,
  },
  heavy: "always",
  body: {
    schema: ImportDocument,
    read: "unread",
    limit: "importBytes",
    media: ["application/json", "application/yaml", "application/graphql", "application/rtfs"],
  },
  answers: {
    200: {
      description: "Published, unchanged, or previewed.",
      data: ImportResult,
      headers: dryRunHeaders,
      directory: "sometimes",
    },
    201: {
      description: "Published; the server is new.",
      data: ImportResult,
      etag: true,
      generation: true,
      directory: "sometimes",
    },
  },
  fails: ["ErrorCapabilityCollision", "ErrorSameVersion", "ErrorPublishSuperseded"],
  examples: {
    preview: {
      path: { format: "openapi" },
      query: { tenant: "demo", name: "tides", dryRun: true },
      headers: { "Content-Type": "application/json" },
      body: openApi,
    },
    openapi: {
      path: { format: "openapi" },
      query: { tenant: "demo", name: "tides" },
      headers: { "Content-Type": "application/json" },
      body: openApi,
      status: 201,
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path, query, headers, c, answer }) {
    const ref = { tenant, name: query.name };
    const writer = writerFrom(principal, { tenant, spelling }, headers);
    const { name: server, sourceUrl, endpointUrl } = query;
    const pace = createWorkerPace();
    const imported = unwrap(await readImport(c, services, { server, sourceUrl, endpointUrl }, path.format, pace));
    const options = { partial: true, dryRun: query.dryRun };
    const published = unwrap(await publishImported(services, ref, writer, imported, options, pace));
    const { status, ...meta } = publishMeta(published);
    const data = { ...publishResult(published, options, services.now()), ...importedItems(published, query.dryRun) };
    return answer(status, data, meta);
  },
});

export const importsOperations = [importDocument];
