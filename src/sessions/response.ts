import type { ChosenCard, SessionDocument } from "./answer-schema.ts";
import type { ChosenItem, Session } from "./contract.ts";
import { sessionIdleMs } from "./lifetime.ts";

/** A session as its client sees it. Times are in seconds. */
export function sessionDocument(session: Session): SessionDocument {
  const { id, lastActivity, subset } = session;
  return {
    id,
    client_name: session.clientName,
    client_version: session.clientVersion,
    client_capabilities: session.clientCapabilities,
    created_at: session.createdAt / 1_000,
    last_activity: lastActivity / 1_000,
    expires_at: id === undefined ? undefined : (lastActivity + sessionIdleMs) / 1_000,
    auth_context: session.authContext,
    negotiated: session.negotiated,
    extensions: subset && { "dev.rollcall/context": { items: subset.items.map(formatItem) } },
  };
}

function formatItem({ id, tenant, server, kind, key: name, digest, tokens, registry }: ChosenItem): ChosenCard {
  return { id, tenant, server, kind, name, digest, tokens, registry };
}
