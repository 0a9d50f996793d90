import { isMember } from "../auth/principal.ts";
import { maxStreams, streamsOf } from "../changes/streams.ts";
import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import { sendEvents, streamLifetimeMs } from "../http/event-stream.ts";
import { consumeRateLimit, readQuery } from "../http/request.ts";
import { send } from "../http/respond.ts";
import { agreementOn, type ChosenSubset, type Session } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";
import { parsePositions, positionsText, topicsOf } from "./follow-chosen.ts";
import { callerOf, negotiatedCaller } from "./middleware.ts";
import { endStreams, ownerOf } from "./owner.ts";
import { sessionDocument } from "./response.ts";

/** Reads and ends an open session, and reports changes to its chosen capabilities. */
export function sessionRoutes(app: App, services: SessionsDeps): void {
  const json = (c: RequestContext, body: unknown) =>
    send(c, services, JSON.stringify(body), "application/json; charset=utf-8", {
      headers: { "Cache-Control": "no-store" },
    });

  app.get("/mcp/session", (c) => {
    readQuery(c, []);
    return json(c, sessionDocument(callerOf(c).session));
  });

  app.delete("/mcp/session", async (c) => {
    readQuery(c, []);
    const { principal, session } = negotiatedCaller(c);
    // The session may have been ended, or resumed under another id, since the middleware checked it.
    if (!(await services.sessions.end(session.id, ownerOf(principal)))) throw requestError("ErrorSessionInvalid");
    await endStreams(services, principal, session);
    return json(c, { ended: session.id });
  });

  app.get("/mcp/session/changes", async (c) => {
    const { since } = readQuery(c, ["since"]);
    const { principal, session } = negotiatedCaller(c);
    const after = positionsOf("since", since);
    const topics = topicsOf(subsetOf(session), (tenant) => isMember(principal, tenant), after);
    const answers = await Promise.all(topics.map((topic) => services.tenant(topic.tenant).changesOf(topic)));
    const seen = topics.map(({ tenant }, index) => [tenant, answers[index]?.upTo ?? 0] as const);
    return json(c, {
      changes: answers.flatMap(({ changes }) => changes),
      // `since` of the next request; the stream accepts it as Last-Event-ID.
      position: positionsText(new Map(seen)),
      more: answers.some(({ upTo, generation }) => upTo < generation),
      complete: answers.every(({ complete }) => complete),
    });
  });

  app.get("/mcp/subscription/stream", async (c) => {
    // A HEAD request is routed here too, and would open a stream that nobody reads.
    if (c.req.method !== "GET") throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET" });
    readQuery(c, []);
    const { principal, session } = negotiatedCaller(c);
    const after = positionsOf("Last-Event-ID", c.req.header("Last-Event-ID"));
    const topics = topicsOf(subsetOf(session), (tenant) => isMember(principal, tenant), after);
    const limits = agreementOn(session, "notifications")?.parameters ?? {};
    const follows = { kind: "subset" as const, topics };
    const options = { session: session.id, follows, lifetimeMs: streamLifetimeMs(principal, services.now()) };
    const most = Math.max(0, Number(limits.max_streams ?? maxStreams));
    // Anonymous streams are limited per session, and anyone can open many sessions, so opening is rate limited too.
    if (principal.anonymous) consumeRateLimit(services, services.negotiateLimiter, principal.subject);
    const stream = unwrap(await streamsOf(services, principal, session.id).open(options, most));
    return sendEvents(c, services, stream);
  });

  const allowed = {
    "/mcp/session": "GET, HEAD, DELETE",
    "/mcp/session/changes": "GET, HEAD",
    "/mcp/subscription/stream": "GET",
  };
  for (const [path, allow] of Object.entries(allowed)) {
    app.all(path, () => {
      throw requestError("ErrorMethodNotAllowed", undefined, { allow });
    });
  }
}

function subsetOf({ subset }: Session): ChosenSubset {
  if (subset === undefined || subset.items.length === 0) throw requestError("ErrorNoSubset");
  return subset;
}

function positionsOf(name: string, text: string | undefined): Record<string, number> {
  if (text === undefined || text === "") return {};
  const positions = parsePositions(text);
  if (positions === undefined) throw requestError("ErrorBadRequest", `${name} is not a position that was given out`);
  return positions;
}
