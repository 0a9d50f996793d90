import { Hono } from "hono";
import { indexRoutes } from "./capability-index/routes.ts";
import { changesRoutes } from "./changes/routes.ts";
import { inboundHookRoutes } from "./hooks/inbound-routes.ts";
import { hooksRoutes } from "./hooks/routes.ts";
import { type App, RequestFailed, type Variables } from "./http/context.ts";
import { sendFailure } from "./http/errors.ts";
import { mount } from "./http/mount.ts";
import { log, observe } from "./http/observe.ts";
import { authenticate, serverName, tenantName } from "./http/request.ts";
import { corsHeaders } from "./http/respond.ts";
import { respondFromCache } from "./http/response-cache.ts";
import { unknownPath } from "./http/unknown-path.ts";
import { failure } from "./kernel/failure.ts";
import { ownIndexUris } from "./mcp/resources/index-resources.ts";
import { ownResources } from "./mcp/resources/resources.ts";
import { resourceRoutes } from "./mcp/resources/routes.ts";
import { isCacheable, respondFromMessageCache } from "./mcp/server/response-cache.ts";
import { type EndpointOptions, mcpRoutes, ownEndpoint } from "./mcp/server/routes.ts";
import { toolsRoutes } from "./mcp/tools/routes.ts";
import { ownTools } from "./mcp/tools/tools.ts";
import { officialRoutes } from "./official/routes.ts";
import { officialWriteRoutes } from "./official/write-routes.ts";
import { operations } from "./operations.ts";
import { capabilityRoutes } from "./registry/capability-routes.ts";
import { configsRoutes } from "./registry/configs-routes.ts";
import { generatorsRoutes } from "./registry/generators/routes.ts";
import { importsRoutes } from "./registry/import-routes.ts";
import { revisionsRoutes } from "./registry/revisions-routes.ts";
import { discoveryRoutes } from "./service/discovery-routes.ts";
import { schemasRoutes } from "./service/schemas-routes.ts";
import { statusRoutes } from "./service/status-routes.ts";
import type { Services } from "./services.ts";
import { withSession } from "./sessions/middleware.ts";
import { negotiationRoutes } from "./sessions/negotiate-routes.ts";
import { sessionRoutes } from "./sessions/session-routes.ts";
import { refreshRoutes } from "./sources/routes.ts";
import { subscriptionsRoutes } from "./subscriptions/routes.ts";

/** The Worker's fetch handler: sends a cached response where there is one, and runs the app otherwise. */
export function createFetch(services: Services, endpoint: EndpointOptions = ownEndpoint): App["fetch"] {
  const app = createApp(services, endpoint);
  return (request, env, ctx) => {
    const { method } = request;
    if (method === "GET") return respondFromCache(services, request) ?? app.fetch(request, env, ctx);
    if (method !== "POST" || !isCacheable(request)) return app.fetch(request, env, ctx);
    return respondFromMessageCache(services, request).then((answer) =>
      answer instanceof Response ? answer : app.fetch(answer, env, ctx),
    );
  };
}

/** `endpoint` is the registry's own MCP endpoint; the conformance run passes one that also serves its fixtures. */
export function createApp(services: Services, endpoint: EndpointOptions = ownEndpoint): App {
  const app: App = new Hono<{ Bindings: Env; Variables: Variables }>();
  app.use(observe(services));
  app.use("/mcp/*", withSession(services));
  app.options("*", (c) => preflight(services, c.req.header("Origin")));

  statusRoutes(app, services);
  schemasRoutes(app, services);
  discoveryRoutes(app, services);
  configsRoutes(app, services);
  revisionsRoutes(app, services);
  generatorsRoutes(app, services);
  refreshRoutes(app, services);
  capabilityRoutes(app, services);
  indexRoutes(app, services);
  importsRoutes(app, services);
  changesRoutes(app, services);
  subscriptionsRoutes(app, services);
  hooksRoutes(app, services);
  inboundHookRoutes(app, services);
  mcpRoutes(app, services, endpoint);
  negotiationRoutes(app, services, {
    tools: ownTools.map(({ name }) => name),
    resources: () => [...ownResources.map(({ uri }) => uri), ...ownIndexUris(services)],
  });
  sessionRoutes(app, services);
  toolsRoutes(app, services);
  resourceRoutes(app, services);
  officialRoutes(app, services);
  officialWriteRoutes(app, services);
  // After the routes that are not operations yet: one of them has a more specific path than an operation.
  mount<Services>(app, services, operations);

  // Unknown paths below these prefixes: an invalid tenant or server name is reported before the 404.
  for (const prefix of ["/api/mcp/capabilities", "/api/mcp/configs"]) {
    app.all(`${prefix}/*`, async (c) => {
      await authenticate(c, services, "registry:read");
      const [tenant, name] = c.req.path.slice(prefix.length + 1).split("/");
      tenantName(tenant);
      serverName(name);
      return sendFailure(c, services, unknownPath(c.req.path, operations));
    });
  }

  app.notFound((c) => sendFailure(c, services, unknownPath(c.req.path, operations)));
  app.onError((error, c) => {
    if (error instanceof RequestFailed) return sendFailure(c, services, error.failure);
    // Durable Objects mark errors where a retry may help: a restart, a deploy, an overload.
    const { retryable, overloaded } = error as { retryable?: boolean; overloaded?: boolean };
    const unavailable = retryable === true || overloaded === true;
    c.set("logged", true);
    log(c, "error", { error: error.message, stack: error.stack });
    const fetching = c.req.path.startsWith("/api/mcp/capabilities/") && c.req.method === "GET";
    const reason = `see request ${c.get("requestId")} in the log`;
    const message = fetching ? `Failed to fetch capabilities: ${reason}` : `Internal error: ${reason}`;
    return sendFailure(
      c,
      services,
      unavailable ? failure("ErrorUnavailable") : failure("ErrorInternalServer", message),
    );
  });
  return app;
}

function preflight(services: Services, origin: string | undefined): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(services, origin),
      "Access-Control-Allow-Methods": services.declaredHeaders.methods,
      "Access-Control-Allow-Headers": services.declaredHeaders.allowed,
      "Access-Control-Max-Age": "86400",
    },
  });
}
