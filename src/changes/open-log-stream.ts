import type { Principal } from "../auth/principal.ts";
import { streamLifetimeMs } from "../http/event-stream.ts";
import type { Failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { Result } from "../kernel/result.ts";
import type { ChangesDeps } from "./deps.ts";
import { FollowedLog } from "./follow-log.ts";
import { openStream } from "./open-stream.ts";
import { maxStreams, streamsOfSubject } from "./streams.ts";

interface Followed {
  tenant: TenantKey;
  since: number;
  signal: AbortSignal;
}

/** A stream of a tenant's whole log. The caller has been found to be a member. */
export function openLogStream(
  services: ChangesDeps,
  principal: Principal,
  { tenant, since, signal }: Followed,
): Promise<Result<ReadableStream, Failure>> {
  return openStream({
    streams: streamsOfSubject(services, principal.subject),
    tenant: (key) => services.tenant(key),
    feed: (tenantOf) => new FollowedLog({ tenant, since }, tenantOf),
    lifetimeMs: streamLifetimeMs(principal, services.now()),
    maxStreams,
    signal,
  });
}
