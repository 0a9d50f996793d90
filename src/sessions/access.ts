import { z } from "zod";
import type { Principal } from "../auth/principal.ts";
import type { SessionRequirement } from "../config.ts";
import { type Access, anyone } from "../http/access.ts";
import { type RequestContext, RequestFailed, requestError } from "../http/context.ts";
import { consumeRateLimit } from "../http/request.ts";
import { anonymousSession, type Session } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";
import { missingCapability } from "./open.ts";
import { ownerOf } from "./owner.ts";

/**
 * A caller in a session; in a passing one without an id, if the request names none. The session must hold the
 * capabilities that its path requires. A session never authenticates a caller: the token of the same request does, and
 * the session must belong to that caller.
 */
export const inSession: Access<{ principal: Principal; session: Session }, SessionsDeps> = {
  token: "optional",
  scope: "registry:read",
  fails: ["ErrorSessionMissing", "ErrorSessionInvalid", "ErrorCapabilityRequired"],
  async identify(c, services) {
    const { principal } = await anyone.identify(c, services);
    const named = await namedSession(c, services, principal);
    const session = named ?? anonymousSession(ownerOf(principal), services.now());
    const required = requirementOf(services.config.sessionRequirements, c.req.path);
    const lacking = required.find((name) => !session.held.includes(name));
    if (lacking !== undefined) throw new RequestFailed(missingCapability(lacking, named !== undefined));
    return { principal, session };
  },
};

/**
 * The session that the request names. Fails if the caller has no such session, or if none is named where the deployment
 * requires negotiation.
 */
export async function namedSession(
  c: RequestContext,
  services: SessionsDeps,
  principal: Principal,
): Promise<Session | undefined> {
  const id = c.req.header("X-MCP-Session-ID");
  if (!id && services.config.requireNegotiation) throw requestError("ErrorSessionMissing");
  if (!id) return undefined;
  const session = await services.sessions.check(id, ownerOf(principal));
  if (session === undefined) throw requestError("ErrorSessionInvalid");
  return session;
}

/** A caller in a session that was negotiated. */
export const inNegotiatedSession: Access<{ principal: Principal; session: Session & { id: string } }, SessionsDeps> = {
  ...inSession,
  async identify(c, services) {
    const { principal, session } = await inSession.identify(c, services);
    if (session.id === undefined) throw requestError("ErrorSessionMissing");
    return { principal, session: { ...session, id: session.id } };
  },
};

/** Anyone may negotiate, but each session is a separate object, so negotiations are rate limited. */
export const negotiator: Access<{ principal: Principal }, SessionsDeps> = {
  ...anyone,
  async identify(c, services) {
    const { principal } = await anyone.identify(c, services);
    consumeRateLimit(services, services.negotiateLimiter, principal.subject);
    return { principal };
  },
};

/** `inSession` reads this header; it is a parameter so that clients know of it. */
export const sessionHeader = {
  "X-MCP-Session-ID": z.string().optional().describe("The session, from the answer to a negotiation."),
};

/** The same where only a negotiated session will do. */
export const negotiatedSessionHeader = {
  "X-MCP-Session-ID": z.string().describe("The session, from the answer to a negotiation."),
};

/** An example in a session: opens one first. */
export const afterNegotiating = {
  after: {
    id: "negotiate",
    take: ({ headers }: { headers: Headers }) => ({ "X-MCP-Session-ID": headers.get("X-MCP-Session-ID") ?? "" }),
  },
};

/** The table is sorted, longest prefix first. */
function requirementOf(table: readonly SessionRequirement[], path: string): readonly string[] {
  return table.find(({ prefix }) => path.startsWith(prefix))?.capabilities ?? [];
}
