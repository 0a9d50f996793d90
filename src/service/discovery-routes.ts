import type { App, RequestContext } from "../http/context.ts";
import { readQuery } from "../http/request.ts";
import { publicOrigin, send } from "../http/respond.ts";
import { digestOfTextSync } from "../kernel/digest.ts";
import { matchesEtag } from "../kernel/etag.ts";
import { service, version } from "../kernel/version.ts";
import type { ServiceDeps } from "./deps.ts";

const card = "/mcp/server-card";
const catalog = "/.well-known/ai-catalog.json";
const resource = "/.well-known/oauth-protected-resource";

/** The 2025 revisions are served without sessions. */
const supportedProtocolVersions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

/** Discovery documents: server card, AI catalog, OAuth resource metadata, robots.txt. */
export function discoveryRoutes(app: App, services: ServiceDeps): void {
  const { config } = services;

  const fixed = (c: RequestContext, text: string, contentType: string) => {
    readQuery(c, []);
    const etag = `"${digestOfTextSync(text)}"`;
    // Public for every origin, whatever CORS_ORIGINS allows.
    const headers = { "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600" };
    const meta = { etag, headers };
    const ifNoneMatch = c.req.header("If-None-Match");
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)) {
      return send(c, services, null, contentType, { ...meta, status: 304 });
    }
    return send(c, services, text, contentType, meta);
  };

  app.get(card, (c) => {
    const origin = publicOrigin(c, config);
    const document = {
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      name: "dev.rollcall/registry",
      version,
      title: "Rollcall",
      description: "What servers can do, what it costs in tokens, and whether it is still what was reviewed.",
      remotes: [{ type: "streamable-http", url: `${origin}/mcp`, supportedProtocolVersions }],
    };
    return fixed(c, JSON.stringify(document), "application/mcp-server-card+json");
  });

  app.get(catalog, (c) => {
    const origin = publicOrigin(c, config);
    const entry = {
      identifier: `urn:air:${new URL(origin).hostname}:mcp:${service}`,
      type: "application/mcp-server-card+json",
      url: `${origin}${card}`,
    };
    return fixed(c, JSON.stringify({ specVersion: "1.0", entries: [entry] }), "application/json; charset=utf-8");
  });

  // RFC 9728: how a client gets a token, for the whole registry and for its MCP endpoint.
  for (const path of ["", "/mcp"]) {
    app.get(`${resource}${path}`, (c) => {
      const { authorizationServers } = config;
      const metadata = {
        resource: `${publicOrigin(c, config)}${path}`,
        resource_name: service,
        scopes_supported: ["registry:read", "registry:publish"],
        bearer_methods_supported: ["header"],
        authorization_servers: authorizationServers.length === 0 ? undefined : authorizationServers,
      };
      return fixed(c, JSON.stringify(metadata), "application/json; charset=utf-8");
    });
  }

  // Data changes by the second and may need a token or a session; descriptions are open to crawlers.
  const robots = ["User-agent: *", "Allow: /mcp/server-card", "Disallow: /api/", "Disallow: /hooks/", "Disallow: /mcp"];
  app.get("/robots.txt", (c) => fixed(c, `${robots.join("\n")}\n`, "text/plain; charset=utf-8"));
}

/** Link header (RFC 8288) with the relations of RFC 8631: API description, health, and metadata for machines. */
export const discoveryLinks = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</healthz>; rel="status"',
  `<${catalog}>; rel="service-meta"; type="application/json"`,
  `<${resource}>; rel="service-meta"; type="application/json"`,
].join(", ");
