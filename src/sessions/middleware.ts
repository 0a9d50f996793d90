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
    /** Who calls below /mcp/, and the session they call in; absent elsewhere. */
    caller?: { principal: Principal; session: Session };
  }
}

/** Who calls, and in which session, as the middleware found them. */
export function callerOf(c: RequestContext): { principal: Principal; session: Session } {
  const caller = c.get("caller");
  if (caller === undefined) throw new Error(`${c.req.path} is not behind the session middleware`);
  return caller;
}

/** The same for what needs a session that was negotiated. */
export function negotiatedCaller(c: RequestContext): { principal: Principal; session: Session & { id: string } } {
  const { principal, session } = callerOf(c);
  if (session.id === undefined) throw requestError("ErrorSessionMissing");
  return { principal, session: { ...session, id: session.id } };
}

/** What is below /mcp/ and needs no session: where one is got, and what describes the server. */
const open: ReadonlySet<string> = new Set(["/mcp", "/mcp/negotiate", "/mcp/session/resume", "/mcp/server-card"]);

/**
 * Finds the session of every request below /mcp/ and holds it against what its path requires. A session is never a
 * proof of who is calling: the token of the same request is, and the session must be that caller's own.
 */
export function withSession(services: SessionsDeps): MiddlewareHandler<{ Bindings: Env; Variables: Variables }> {
  return async (c, next) => {
    if (open.has(c.req.path) || c.req.method === "OPTIONS") return next();
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

/** The table is in order, longest prefix first. */
function requirementOf(table: readonly SessionRequirement[], path: string): readonly string[] {
  return table.find(({ prefix }) => path.startsWith(prefix))?.capabilities ?? [];
}
