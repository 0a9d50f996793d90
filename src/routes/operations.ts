import { failure } from "../domain/failure.ts";
import { publicOrigin, send, succeed } from "../http/answer.ts";
import { type App, RequestFailed } from "../http/context.ts";
import { admit } from "../http/request.ts";
import type { Services } from "../services.ts";
import { service, version } from "../version.ts";

/** What an operator looks at: health, counts, and how to get in. */
export function operationsRoutes(app: App, services: Services): void {
  app.get("/", (c) => {
    const links = { health: "/healthz", description: "/openapi.json", schemas: "/schemas/", api: "/api/mcp/configs" };
    return succeed(c, services, { name: service, version, ...links });
  });

  app.get("/healthz", (c) => succeed(c, services, { status: "ok", name: service, version }));

  app.get("/api/metrics", async (c) => {
    const principal = await admit(c, services, "registry:read");
    if (!principal.admin) {
      throw new RequestFailed(failure("ErrorTenantPermissionError", "Only an admin may read the metrics"));
    }
    const data = {
      ...services.metrics.snapshot(services.now()),
      memoryBytes: services.views.bytes + services.catalogPages.bytes,
    };
    return succeed(c, services, data);
  });

  // RFC 9728: what a client needs to know to get a token for this resource.
  app.get("/.well-known/oauth-protected-resource", (c) => {
    const { tokenKeys, issuer } = services.config;
    const metadata = {
      resource: publicOrigin(c, services.config),
      resource_name: service,
      scopes_supported: ["registry:read", "registry:publish"],
      bearer_methods_supported: ["header"],
      ...(tokenKeys?.kind === "jwks" && URL.canParse(issuer) ? { authorization_servers: [issuer] } : {}),
    };
    const headers = { "Cache-Control": "public, max-age=3600" };
    return send(c, services, JSON.stringify(metadata), "application/json; charset=utf-8", { headers });
  });
}
