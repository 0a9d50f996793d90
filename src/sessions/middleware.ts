import type { MiddlewareHandler } from "hono";
import type { Principal } from "../auth/principal.ts";
import type { SessionRequirement } from "../config.ts";
import { type RequestContext, RequestFailed, requestError, type Variables } from "../http/context.ts";
import { authenticateOptional } from "../http/request.ts";
import { anonymousSession, type Session } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";
import { missingCapability } from "./open.ts";
import { ownerOf } from "./owner.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** The caller and session of a request below /mcp/; absent elsewhere. */
    caller?: { principal: Principal; session: Session };
  }
}

/** The caller and session that the middleware found. */
export function callerOf(c: RequestContext): { principal: Principal; session: Session } {
  const caller = c.get("caller");
  if (caller === undefined) throw new Error(`${c.req.path} is not behind the session middleware`);
  return caller;
}

/** Like `callerOf`, for routes that need a negotiated session. */
export function negotiatedCaller(c: RequestContext): { principal: Principal; session: Session & { id: string } } {
  const { principal, session } = callerOf(c);
  if (session.id === undefined) throw requestError("ErrorSessionMissing");
  return { principal, session: { ...session, id: session.id } };
}

/** Paths that need no session: the MCP endpoint, opening and resuming a session, and the server card. */
const pathsWithoutSession: ReadonlySet<string> = new Set([
  "/mcp",
  "/mcp/negotiate",
  "/mcp/session/resume",
  "/mcp/server-card",
]);

/**
 * Finds the session of every request below /mcp/ and checks that it holds the capabilities its path requires. A session
 * never authenticates a caller: the token of the same request does, and the session must belong to that caller.
 */
export function withSession(services: SessionsDeps): MiddlewareHandler<{ Bindings: Env; Variables: Variables }> {
  return async (c, next) => {
    if (pathsWithoutSession.has(c.req.path) || c.req.method === "OPTIONS") return next();
    const principal = await authenticateOptional(c, services);
    const owner = ownerOf(principal);
    const id = c.req.header("X-MCP-Session-ID");
    const { requireNegotiation, sessionRequirements } = services.config;
    if (!id && requireNegotiation) throw requestError("ErrorSessionMissing");
    const session = id ? await services.sessions.check(id, owner) : anonymousSession(owner, services.now());
    if (session === undefined) throw requestError("ErrorSessionInvalid");
    const lacking = requirementOf(sessionRequirements, c.req.path).find((name) => !session.held.includes(name));
    if (lacking !== undefined) throw new RequestFailed(missingCapability(lacking));
    c.set("caller", { principal, session });
    return next();
  };
}

/** The table is sorted, longest prefix first. */
function requirementOf(table: readonly SessionRequirement[], path: string): readonly string[] {
  return table.find(({ prefix }) => path.startsWith(prefix))?.capabilities ?? [];
}
