import type { Principal } from "../auth/principal.ts";
import { type App, type RequestContext, requestError, throwIf, unwrap } from "../http/context.ts";
import { sendEvents, streamLifetimeMs, wantsEvents } from "../http/event-stream.ts";
import { authenticate, freshnessOf, integerParam, readQuery, tenantName } from "../http/request.ts";
import { sendData } from "../http/respond.ts";
import { checkMember } from "../registry/access.ts";
import type { ChangesDeps } from "./deps.ts";
import { readChanges } from "./read.ts";
import { maxStreams, streamsOfSubject } from "./streams.ts";

const path = "/api/changes/:tenant";

/** One resource in two forms. */
const vary = { Vary: "Accept, Origin" };

/** A tenant's ordered log of changes: page by page, or as it grows. */
export function changesRoutes(app: App, services: ChangesDeps): void {
  app.get(path, async (c) => {
    const tenant = tenantName(c.req.param("tenant"));
    const principal = await authenticate(c, services, "registry:read");
    // Before the query: whoever may not see the log does not learn what is wrong with the question either.
    throwIf(checkMember(principal, tenant));
    return wantsEvents(c) ? follow(c, services, principal, tenant) : list(c, services, principal, tenant);
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}

async function list(c: RequestContext, services: ChangesDeps, principal: Principal, tenant: string): Promise<Response> {
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
  tenant: string,
): Promise<Response> {
  const query = readQuery(c, ["since"]);
  const asked = position("since", query.since);
  // An empty one is how a client says that it has seen none.
  const seen = position("Last-Event-ID", c.req.header("Last-Event-ID") || undefined);
  const since = seen ?? asked ?? 0;
  const { minGeneration } = freshnessOf(c);
  const { head } = unwrap(await readChanges(services, principal, tenant, { since, limit: 1 }, minGeneration));
  // It would hear nothing until the log has come that far, and then miss what came before.
  if (since > head.sequence) {
    const message = `The log ends at ${head.sequence}, before ${since}`;
    throw requestError("ErrorBadRequest", message, { sequence: head.sequence });
  }
  // A HEAD comes here too, and would open a stream that no one reads.
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
