import { Hono } from "hono";
import { failure } from "./domain/failure.ts";
import { corsHeaders, fail } from "./http/answer.ts";
import { answerAgain } from "./http/answer-again.ts";
import { type App, RequestFailed, type Variables } from "./http/context.ts";
import { log } from "./http/log.ts";
import { answerMessageAgain, mayRepeat } from "./http/message-again.ts";
import { admit, serverName, tenantName } from "./http/request.ts";
import { observe } from "./middleware/observe.ts";
import { withSession } from "./middleware/session.ts";
import { capabilitiesRoutes } from "./routes/capabilities.ts";
import { capabilityRoutes } from "./routes/capability.ts";
import { capabilityIndexRoutes } from "./routes/capability-index.ts";
import { catalogRoutes } from "./routes/catalog.ts";
import { changesRoutes } from "./routes/changes.ts";
import { configsRoutes } from "./routes/configs.ts";
import { descriptionRoutes } from "./routes/description.ts";
import { discoveryRoutes } from "./routes/discovery.ts";
import { generatorsRoutes } from "./routes/generators.ts";
import { historyRoutes } from "./routes/history.ts";
import { hooksRoutes } from "./routes/hooks.ts";
import { importsRoutes } from "./routes/imports.ts";
import { inboundRoutes } from "./routes/inbound.ts";
import { type EndpointOptions, mcpRoutes, ownEndpoint } from "./routes/mcp.ts";
import { negotiationRoutes } from "./routes/negotiation.ts";
import { officialRoutes } from "./routes/official.ts";
import { officialWriteRoutes } from "./routes/official-writes.ts";
import { operationsRoutes } from "./routes/operations.ts";
import { refreshRoutes } from "./routes/refresh.ts";
import { resourceRoutes } from "./routes/resource.ts";
import { searchRoutes } from "./routes/search.ts";
import { sessionRoutes } from "./routes/session.ts";
import { subscriptionsRoutes } from "./routes/subscriptions.ts";
import { toolsRoutes } from "./routes/tools.ts";
import { viewsRoutes } from "./routes/views.ts";
import type { Services } from "./services.ts";

/** How the Worker answers: again, where it answered the same before, and through the app otherwise. */
export function createFetch(services: Services, endpoint: EndpointOptions = ownEndpoint): App["fetch"] {
  const app = createApp(services, endpoint);
  return (request, env, ctx) => {
    const { method } = request;
    if (method === "GET") return answerAgain(services, request) ?? app.fetch(request, env, ctx);
    if (method !== "POST" || !mayRepeat(request)) return app.fetch(request, env, ctx);
    return answerMessageAgain(services, request).then((answer) =>
      answer instanceof Response ? answer : app.fetch(answer, env, ctx),
    );
  };
}

/** The endpoint is the registry's own but in the conformance run, which serves its fixtures beside it. */
export function createApp(services: Services, endpoint: EndpointOptions = ownEndpoint): App {
  const app: App = new Hono<{ Bindings: Env; Variables: Variables }>();
  app.use(observe(services));
  app.use("/mcp/*", withSession(services));
  app.options("*", (c) => preflight(services, c.req.header("Origin")));

  operationsRoutes(app, services);
  descriptionRoutes(app, services);
  discoveryRoutes(app, services);
  configsRoutes(app, services);
  capabilitiesRoutes(app, services);
  historyRoutes(app, services);
  generatorsRoutes(app, services);
  refreshRoutes(app, services);
  viewsRoutes(app, services);
  capabilityRoutes(app, services);
  catalogRoutes(app, services);
  searchRoutes(app, services);
  capabilityIndexRoutes(app, services);
  importsRoutes(app, services);
  changesRoutes(app, services);
  subscriptionsRoutes(app, services);
  hooksRoutes(app, services);
  inboundRoutes(app, services);
  mcpRoutes(app, services, endpoint);
  negotiationRoutes(app, services);
  sessionRoutes(app, services);
  toolsRoutes(app, services);
  resourceRoutes(app, services);
  officialRoutes(app, services);
  officialWriteRoutes(app, services);

  // What a path below these lacks is named, rather than called not found.
  for (const prefix of ["/api/mcp/capabilities", "/api/mcp/configs"]) {
    app.all(`${prefix}/*`, async (c) => {
      await admit(c, services, "registry:read");
      const [tenant, name] = c.req.path.slice(prefix.length + 1).split("/");
      tenantName(tenant);
      serverName(name);
      return fail(c, services, failure("ErrorNotFound"));
    });
  }

  app.notFound((c) => fail(c, services, failure("ErrorNotFound")));
  app.onError((error, c) => {
    if (error instanceof RequestFailed) return fail(c, services, error.failure);
    // Durable Objects say when trying again may help: a restart, a deploy, an overload.
    const { retryable, overloaded } = error as { retryable?: boolean; overloaded?: boolean };
    const unavailable = retryable === true || overloaded === true;
    c.set("logged", true);
    log(c, "error", { error: error.message, stack: error.stack });
    const fetching = c.req.path.startsWith("/api/mcp/capabilities/") && c.req.method === "GET";
    const reason = `see request ${c.get("requestId")} in the log`;
    const message = fetching ? `Failed to fetch capabilities: ${reason}` : `Internal error: ${reason}`;
    return fail(c, services, unavailable ? failure("ErrorUnavailable") : failure("ErrorInternalServer", message));
  });
  return app;
}

function preflight(services: Services, origin: string | undefined): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(services.config, origin),
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "Access-Control-Allow-Headers":
        "Authorization, Cache-Control, Content-Type, If-Match, If-None-Match, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Rollcall-Min-Generation, X-MCP-Session-ID, X-Request-Id",
      "Access-Control-Max-Age": "86400",
    },
  });
}
