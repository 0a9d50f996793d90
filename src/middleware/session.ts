import type { MiddlewareHandler } from "hono";
import type { SessionRequirement } from "../config.ts";
import { anonymousSession } from "../domain/session.ts";
import { bad, RequestFailed, type Variables } from "../http/context.ts";
import { admitAnyone } from "../http/request.ts";
import { lacksCapability } from "../negotiation/open-session.ts";
import { ownerOf } from "../negotiation/ownership.ts";
import type { Services } from "../services.ts";

/** What is below /mcp/ and needs no session: where one is got, and what describes the server. */
const open: ReadonlySet<string> = new Set(["/mcp", "/mcp/negotiate", "/mcp/session/resume", "/mcp/server-card"]);

/**
 * Finds the session of every request below /mcp/ and holds it against what its path requires. A session is never a
 * proof of who is calling: the token of the same request is, and the session must be that caller's own.
 */
export function withSession(services: Services): MiddlewareHandler<{ Bindings: Env; Variables: Variables }> {
  return async (c, next) => {
    if (open.has(c.req.path) || c.req.method === "OPTIONS") return next();
    const principal = await admitAnyone(c, services);
    const owner = ownerOf(principal);
    const id = c.req.header("X-MCP-Session-ID");
    const { requireNegotiation, sessionRequirements } = services.config;
    if (!id && requireNegotiation) throw bad("ErrorSessionMissing");
    const session = id ? await services.sessions.check(id, owner) : anonymousSession(owner, services.now());
    if (session === undefined) throw bad("ErrorSessionInvalid");
    const lacking = requirementOf(sessionRequirements, c.req.path).find((name) => !session.held.includes(name));
    if (lacking !== undefined) throw new RequestFailed(lacksCapability(lacking));
    c.set("caller", { principal, session });
    return next();
  };
}

/** The table is in order, longest prefix first. */
function requirementOf(table: readonly SessionRequirement[], path: string): readonly string[] {
  return table.find(({ prefix }) => path.startsWith(prefix))?.capabilities ?? [];
}
