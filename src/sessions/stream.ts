import { isMember, type Principal } from "../auth/principal.ts";
import { openStream } from "../changes/open-stream.ts";
import { maxStreams, streamsOf } from "../changes/streams.ts";
import { unwrap } from "../http/context.ts";
import { streamLifetimeMs } from "../http/event-stream.ts";
import { consumeRateLimit } from "../http/request.ts";
import { positionsOf, subsetOf } from "./chosen.ts";
import { agreementOn, type Session } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";
import { FollowedSubset, topicsOf } from "./follow-chosen.ts";

interface Following {
  lastEventId: string | undefined;
  /** Aborts when the reader leaves. */
  signal: AbortSignal;
}

/** Changes to the capabilities that a session has chosen, as server-sent events. */
export async function openSessionStream(
  services: SessionsDeps,
  principal: Principal,
  session: Session & { id: string },
  { lastEventId, signal }: Following,
) {
  const after = positionsOf("Last-Event-ID", lastEventId);
  const topics = topicsOf(subsetOf(session), (tenant) => isMember(principal, tenant), after);
  const limits = agreementOn(session, "notifications")?.parameters ?? {};
  const most = Math.max(0, Number(limits.max_streams ?? maxStreams));
  // Anonymous streams are limited per session, and anyone can open many sessions, so opening is rate limited too.
  if (principal.anonymous) consumeRateLimit(services, services.negotiateLimiter, principal.subject);
  const stream = await openStream({
    streams: streamsOf(services, principal, session.id),
    tenant: (key) => services.tenant(key),
    feed: (tenantOf) => new FollowedSubset(topics, tenantOf),
    lifetimeMs: streamLifetimeMs(principal, services.now()),
    maxStreams: most,
    session: session.id,
    signal,
  });
  return unwrap(stream);
}
