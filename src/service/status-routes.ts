import { type App, RequestFailed } from "../http/context.ts";
import { authenticate } from "../http/request.ts";
import { sendData } from "../http/respond.ts";
import { failure } from "../kernel/failure.ts";
import { service, version } from "../kernel/version.ts";
import type { ServiceDeps } from "./deps.ts";
import { discoveryLinks } from "./discovery-routes.ts";

/** For operators: entry links, health and metrics. */
export function statusRoutes(app: App, services: ServiceDeps): void {
  app.get("/", (c) => {
    const links = {
      health: "/healthz",
      description: "/openapi.json",
      schemas: "/schemas/",
      api: "/api/mcp/configs",
      registry: "/v0.1/servers",
    };
    return sendData(c, services, { name: service, version, ...links }, { headers: { Link: discoveryLinks } });
  });

  app.get("/healthz", (c) => sendData(c, services, { status: "ok", name: service, version }));

  app.get("/api/metrics", async (c) => {
    const principal = await authenticate(c, services, "registry:read");
    if (!principal.admin) {
      throw new RequestFailed(failure("ErrorTenantPermissionError", "Only an admin may read the metrics"));
    }
    const { metrics, now, memory, responses } = services;
    const caches = { capacity: memory.capacity, bytes: memory.bytes, caches: memory.usage() };
    return sendData(c, services, { ...metrics.snapshot(now()), memory: caches, responseCache: responses.lookups });
  });
}
