import type { Principal } from "../auth/principal.ts";
import { type App, type RequestContext, requestError, throwIf, unwrap } from "../http/context.ts";
import { sendEvents, streamLifetimeMs, wantsEvents } from "../http/event-stream.ts";
import { authenticate, freshnessOf, integerParam, readQuery, tenantName } from "../http/request.ts";
import { sendData } from "../http/respond.ts";
import type { TenantKey } from "../kernel/names.ts";
import { checkMember } from "../registry/access.ts";
import type { ChangesDeps } from "./deps.ts";
import { readChanges } from "./read.ts";
import { maxStreams, streamsOfSubject } from "./streams.ts";

const path = "/api/changes/:tenant";

/** The response is JSON or an event stream, depending on Accept. */
const vary = { Vary: "Accept, Origin" };

/** A tenant's change log, as pages or as a live stream. */
export function changesRoutes(app: App, services: ChangesDeps): void {
  app.get(path, async (c) => {
    const tenant = tenantName(c.req.param("tenant"));
    const principal = await authenticate(c, services, "registry:read");
    // Checked before the query: a caller without access must not learn from query errors.
    throwIf(checkMember(principal, tenant));
    return wantsEvents(c) ? follow(c, services, principal, tenant) : list(c, services, principal, tenant);
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}

async function list(
  c: RequestContext,
  services: ChangesDeps,
  principal: Principal,
  tenant: TenantKey,
): Promise<Response> {
  const query = readQuery(c, ["since", "limit"]);
  const since = position("since", query.since) ?? 0;
  const limit = integerParam("limit", query.limit, { min: 1, max: 1_000, fallback: 100 });
  const { minGeneration } = freshnessOf(c);
  const data = unwrap(await readChanges(services, principal, tenant, { since, limit }, minGeneration));
  return sendData(c, services, data, { generation: data.generation, source: "object", headers: vary });
}

async function follow(
  c: RequestContext,
  services: ChangesDeps,
  principal: Principal,
  tenant: TenantKey,
): Promise<Response> {
  const query = readQuery(c, ["since"]);
  const asked = position("since", query.since);
  // An empty Last-Event-ID means that the client has seen no event.
  const seen = position("Last-Event-ID", c.req.header("Last-Event-ID") || undefined);
  const since = seen ?? asked ?? 0;
  const { minGeneration } = freshnessOf(c);
  const { head } = unwrap(await readChanges(services, principal, tenant, { since, limit: 1 }, minGeneration));
  // Such a stream would be silent until the log has grown that far, and then miss the entries before.
  if (since > head.sequence) {
    const message = `The log ends at ${head.sequence}, before ${since}`;
    throw requestError("ErrorBadRequest", message, { sequence: head.sequence });
  }
  // HEAD requests arrive here too, and must not open a stream that no one reads.
  if (c.req.method !== "GET") return sendEvents(c, services, null, vary);
  const opened = await streamsOfSubject(services, principal.subject).open(
    { follows: { kind: "log", tenant, since }, lifetimeMs: streamLifetimeMs(principal, services.now()) },
    maxStreams,
  );
  return sendEvents(c, services, unwrap(opened), vary);
}

function position(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  return integerParam(name, value, { min: 0, max: 1e15, fallback: 0 });
}
