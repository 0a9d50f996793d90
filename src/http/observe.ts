import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { refuseBody } from "./body.ts";
import type { RequestContext, Variables } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { validRequestId } from "./request.ts";

/** Name of the route in metrics and logs: that of the operation, or the pattern that matched. */
export function routeLabel(c: RequestContext): string {
  return c.get("operation")?.id ?? `${c.req.method} ${routePath(c)}`;
}

/** Logs one JSON line. The query string and headers are never logged: they may contain secrets. */
export function log(c: RequestContext, event: string, fields: Record<string, unknown>): void {
  const { method, path } = c.req;
  const line = JSON.stringify({
    event,
    requestId: c.get("requestId"),
    method,
    path,
    subject: c.get("subject"),
    ...fields,
  });
  if (event === "error") console.error(line);
  else console.log(line);
}

/**
 * Middleware around every request: sets its id and start time, and records its metrics. Logs errors, writes and slow
 * requests; a hot read logs nothing, because a log line would cost more than the read.
 */
export function observe(services: HttpDeps): MiddlewareHandler<{ Bindings: Env; Variables: Variables }> {
  return async (c, next) => {
    const startedAt = services.now();
    c.set("requestId", validRequestId(c.req.header("X-Request-Id")) ?? crypto.randomUUID());
    c.set("startedAt", startedAt);
    await next();
    // Refused before its body was read: without leave, for its address, or for its size.
    if (c.res.status >= 400 && services.config.discardRefusedBodies) await refuseBody(c);
    const milliseconds = services.now() - startedAt;
    const { status } = c.res;
    const { method } = c.req;
    const route = routeLabel(c);
    services.metrics.record(route, status, milliseconds, c.get("source"));
    // Requests at /mcp are POST but never write.
    const write = method !== "GET" && method !== "HEAD" && method !== "OPTIONS" && c.req.path !== "/mcp";
    if (c.get("logged")) return;
    if (status >= 500 || (write && status < 400) || milliseconds >= services.config.slowMs) {
      log(c, status >= 500 ? "error" : write ? "write" : "slow", { status, route, milliseconds });
    }
  };
}
