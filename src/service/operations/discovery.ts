import type { z } from "zod";
import { everyone } from "../../http/access.ts";
import { type Answer, type Answered, operation } from "../../http/operation.ts";
import { ifNoneMatch } from "../../http/parameters.ts";
import { json, publicOrigin } from "../../http/respond.ts";
import { digestOfTextSync } from "../../kernel/digest.ts";
import { service, version } from "../../kernel/version.ts";
import type { ServiceDeps } from "../deps.ts";
import { aiCatalogPath, resourceMetadataPath, serverCardPath } from "../discovery-paths.ts";
import { AiCatalog, ResourceMetadata, ServerCard } from "../schema.ts";

/** The 2025 revisions are served without sessions. */
const supportedProtocolVersions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

const serverCardType = "application/mcp-server-card+json";

/** A document that changes with a deployment only. Public for every origin, whatever CORS_ORIGINS allows. */
function fixed(answer: Pick<Answer<{ 200: { description: string } }>, "raw">, text: string, type: string): Answered {
  const headers = { "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600" };
  return answer.raw(200, text, { type, etag: `"${digestOfTextSync(text)}"`, headers });
}

const getServerCard = operation({
  id: "getServerCard",
  method: "get",
  path: serverCardPath,
  tag: "Service",
  summary: "Read the server card: the registry as an MCP server",
  access: everyone,
  parameters: { headers: { "If-None-Match": ifNoneMatch } },
  answers: { 200: { description: "An MCP server card.", json: ServerCard, type: serverCardType, etag: true } },
  examples: { card: {} },

  handle({ config }: ServiceDeps, { c, answer }) {
    const card: z.infer<typeof ServerCard> = {
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      name: "dev.rollcall/registry",
      version,
      title: "Rollcall",
      description: "What servers can do, what it costs in tokens, and whether it is still what was reviewed.",
      remotes: [{ type: "streamable-http", url: `${publicOrigin(c, config)}/mcp`, supportedProtocolVersions }],
    };
    return fixed(answer, JSON.stringify(card), serverCardType);
  },
});

const getAiCatalog = operation({
  id: "getAiCatalog",
  method: "get",
  path: aiCatalogPath,
  tag: "Service",
  summary: "Find the server card",
  access: everyone,
  parameters: { headers: { "If-None-Match": ifNoneMatch } },
  answers: { 200: { description: "An AI catalogue.", json: AiCatalog, etag: true } },
  examples: { catalog: {} },

  handle({ config }: ServiceDeps, { c, answer }) {
    const origin = publicOrigin(c, config);
    const entry = {
      identifier: `urn:air:${new URL(origin).hostname}:mcp:${service}`,
      type: serverCardType,
      url: `${origin}${serverCardPath}`,
    };
    const catalog: z.infer<typeof AiCatalog> = { specVersion: "1.0", entries: [entry] };
    return fixed(answer, JSON.stringify(catalog), json);
  },
});

/** RFC 9728: how a client gets a token, for the whole registry and for its MCP endpoint. */
function resourceMetadata(id: string, resource: "" | "/mcp", summary: string) {
  return operation({
    id,
    method: "get",
    path: `${resourceMetadataPath}${resource}`,
    tag: "Service",
    summary,
    access: everyone,
    parameters: { headers: { "If-None-Match": ifNoneMatch } },
    answers: { 200: { description: "Resource metadata (RFC 9728).", json: ResourceMetadata, etag: true } },
    examples: { metadata: {} },

    handle({ config }: ServiceDeps, { c, answer }) {
      const { authorizationServers } = config;
      const metadata: z.infer<typeof ResourceMetadata> = {
        resource: `${publicOrigin(c, config)}${resource}`,
        resource_name: service,
        scopes_supported: ["registry:read", "registry:publish"],
        bearer_methods_supported: ["header"],
        authorization_servers: authorizationServers.length === 0 ? undefined : [...authorizationServers],
      };
      return fixed(answer, JSON.stringify(metadata), json);
    },
  });
}

/** Data changes by the second and may need a token or a session; descriptions are open to crawlers. */
const robots = ["User-agent: *", "Allow: /mcp/server-card", "Disallow: /api/", "Disallow: /hooks/", "Disallow: /mcp"];

const getRobots = operation({
  id: "getRobots",
  method: "get",
  path: "/robots.txt",
  tag: "Service",
  summary: "Read what crawlers may read",
  access: everyone,
  parameters: { headers: { "If-None-Match": ifNoneMatch } },
  answers: { 200: { description: "Rules for crawlers.", media: ["text/plain"], etag: true } },
  examples: { rules: {} },

  handle: (_: ServiceDeps, { answer }) => fixed(answer, `${robots.join("\n")}\n`, "text/plain; charset=utf-8"),
});

export const discoveryOperations = [
  getServerCard,
  getAiCatalog,
  resourceMetadata("getResourceMetadata", "", "Find out how to get a token"),
  resourceMetadata("getMcpResourceMetadata", "/mcp", "Find out how to get a token for the MCP endpoint"),
  getRobots,
];
