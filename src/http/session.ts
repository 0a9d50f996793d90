import type { Principal } from "../auth/principal.ts";
import { type ChosenItem, type Session, sessionIdleMs } from "../domain/session.ts";
import { bad, type RequestContext } from "./context.ts";

/** Who calls, and in which session, as the middleware found them. */
export function callerOf(c: RequestContext): { principal: Principal; session: Session } {
  const caller = c.get("caller");
  if (caller === undefined) throw new Error(`${c.req.path} is not behind the session middleware`);
  return caller;
}

/** The same for what needs a session that was negotiated. */
export function negotiatedCaller(c: RequestContext): { principal: Principal; session: Session & { id: string } } {
  const { principal, session } = callerOf(c);
  if (session.id === undefined) throw bad("ErrorSessionMissing");
  return { principal, session: { ...session, id: session.id } };
}

/** A session as its client sees it. Times are in seconds, as its model says. */
export function sessionDocument(session: Session): Record<string, unknown> {
  const { id, lastActivity, subset } = session;
  return {
    ...(id === undefined ? {} : { id }),
    client_name: session.clientName,
    client_version: session.clientVersion,
    client_capabilities: session.clientCapabilities,
    created_at: session.createdAt / 1_000,
    last_activity: lastActivity / 1_000,
    ...(id === undefined ? {} : { expires_at: (lastActivity + sessionIdleMs) / 1_000 }),
    auth_context: session.authContext,
    negotiated: session.negotiated,
    ...(subset === undefined ? {} : { extensions: { "dev.rollcall/context": { items: subset.items.map(shownItem) } } }),
  };
}

function shownItem({ id, tenant, server, kind, key: name, digest, tokens }: ChosenItem): Record<string, unknown> {
  return { id, tenant, server, kind, name, digest, tokens };
}
