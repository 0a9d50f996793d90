import { isMember, type Principal } from "../auth/principal.ts";
import { tenantKey } from "../kernel/names.ts";
import type { ChosenCard, SessionDocument } from "./answer-schema.ts";
import type { ChosenItem, ChosenSubset, Session } from "./contract.ts";
import { sessionIdleMs } from "./lifetime.ts";

/**
 * A session as its client sees it. Times are in seconds. The token of this request decides what is shown: nothing of a
 * tenant that the caller has lost since the negotiation, except what was chosen as anyone may choose it.
 */
export function sessionDocument(session: Session, principal: Principal): SessionDocument {
  const { id, lastActivity, subset } = session;
  return {
    id,
    client_name: session.clientName,
    client_version: session.clientVersion,
    client_capabilities: session.clientCapabilities,
    created_at: session.createdAt / 1_000,
    last_activity: lastActivity / 1_000,
    expires_at: id === undefined ? undefined : (lastActivity + sessionIdleMs) / 1_000,
    auth_context: stillHeld(session.authContext, principal),
    negotiated: session.negotiated,
    extensions: subset && { "dev.rollcall/context": { items: visibleItems(subset, principal).map(formatItem) } },
  };
}

function visibleItems({ items, servers }: ChosenSubset, principal: Principal): ChosenItem[] {
  const open = new Set(servers.flatMap(({ tenant, server, wasPublic }) => (wasPublic ? [`${tenant}/${server}`] : [])));
  return items.filter(
    ({ tenant, server }) => isMember(principal, tenantKey(tenant)) || open.has(`${tenant}/${server}`),
  );
}

function stillHeld(negotiated: Session["authContext"], principal: Principal): Session["authContext"] {
  if (negotiated === null) return null;
  return {
    subject: negotiated.subject,
    tenants: negotiated.tenants.filter((tenant) => isMember(principal, tenantKey(tenant))),
    scopes: negotiated.scopes.filter((scope) => principal.scopes.includes(scope)),
  };
}

function formatItem({ id, tenant, server, kind, key: name, digest, tokens, registry }: ChosenItem): ChosenCard {
  return { id, tenant, server, kind, name, digest, tokens, registry };
}
