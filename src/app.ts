import { Hono } from "hono";
import { mountPages, sendFailurePage, wantsHtml } from "./console/mount.ts";
import { pages } from "./console/pages.ts";
import { type App, type RequestContext, RequestFailed, type Variables } from "./http/context.ts";
import { sendFailure } from "./http/errors.ts";
import { noteBound, withRemedy } from "./http/limits/met-bounds.ts";
import { mount } from "./http/mount.ts";
import { log, observe } from "./http/observe.ts";
import type { Operation } from "./http/operation.ts";
import { authenticate, serverName, tenantName } from "./http/request.ts";
import { corsHeaders } from "./http/respond.ts";
import { respondFromCache } from "./http/response-cache.ts";
import { unknownPath } from "./http/unknown-path.ts";
import { type Failure, failure } from "./kernel/failure.ts";
import { isStorageFault, newerDataError, noteProblem } from "./kernel/platform/problems.ts";
import { isCacheable, respondFromMessageCache } from "./mcp/server/response-cache.ts";
import { operations } from "./operations.ts";
import type { Services } from "./services.ts";

/** The Worker's fetch handler: sends a cached response where there is one, and runs the app otherwise. */
export function createFetch(services: Services, served: readonly Operation<Services>[] = operations): App["fetch"] {
  const app = createApp(services, served);
  return (request, env, ctx) => {
    const { method } = request;
    if (method === "GET") return respondFromCache(services, request) ?? app.fetch(request, env, ctx);
    if (method !== "POST" || !isCacheable(services, request)) return app.fetch(request, env, ctx);
    return respondFromMessageCache(services, request).then((answer) =>
      answer instanceof Response ? answer : app.fetch(answer, env, ctx),
    );
  };
}

/** `served` differs in the conformance run, whose MCP endpoint also has its fixtures. */
export function createApp(services: Services, served: readonly Operation<Services>[] = operations): App {
  const app: App = new Hono<{ Bindings: Env; Variables: Variables }>();
  app.use(observe(services));
  app.options("*", (c) => preflight(services, c.req.header("Origin")));

  // First: at `/` a browser gets the console, and every other caller the operation.
  mountPages(app, services, pages);
  mount(app, services, served);

  // Unknown paths below these prefixes: an invalid tenant or server name is reported before the 404.
  for (const prefix of ["/api/mcp/capabilities", "/api/mcp/configs"]) {
    app.all(`${prefix}/*`, async (c) => {
      await authenticate(c, services, "registry:read");
      const [tenant, name] = c.req.path.slice(prefix.length + 1).split("/");
      tenantName(tenant);
      serverName(name);
      return sendFailure(c, services, unknownPath(c.req.method, c.req.path, operations));
    });
  }

  const fail = (c: RequestContext, reason: Failure, asPage: boolean | undefined) =>
    asPage ? sendFailurePage(c, services, reason) : sendFailure(c, services, reason);

  app.notFound((c) => fail(c, unknownPath(c.req.method, c.req.path, operations), wantsHtml(c)));
  app.onError((error, c) => {
    if (error instanceof RequestFailed) {
      noteBound(c, services, error.failure);
      return fail(c, withRemedy(error.failure), c.get("isPage"));
    }
    if (error.message === newerDataError) return fail(c, failure("ErrorNewerData"), c.get("isPage"));
    // Durable Objects mark errors where a retry may help: a restart, a deploy, an overload.
    const { retryable, overloaded } = error as { retryable?: boolean; overloaded?: boolean };
    const unavailable = retryable === true || overloaded === true;
    const hasNoStorage = isStorageFault(error.message);
    if (hasNoStorage) noteProblem("storage", services.now());
    c.set("logged", true);
    log(c, "error", { error: error.message, stack: error.stack });
    const fetching = c.req.path.startsWith("/api/mcp/capabilities/") && c.req.method === "GET";
    const reason = `see request ${c.get("requestId")} in the log`;
    const message = fetching ? `Failed to fetch capabilities: ${reason}` : `Internal error: ${reason}`;
    const broken = hasNoStorage ? storageFailed : failure("ErrorInternalServer", message);
    return fail(c, unavailable ? failure("ErrorUnavailable") : broken, c.get("isPage"));
  });
  return app;
}

/** The disk of a machine of one's own is full or read-only, or the platform's storage is in trouble. */
const storageFailed = failure("ErrorUnavailable", "The registry's storage failed; nothing was acknowledged", {
  retryAfterSeconds: 5,
  hint: "Send the request again after the seconds in Retry-After; GET /healthz tells when storage works again",
});

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
