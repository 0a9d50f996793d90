import { holds } from "../auth/permission.ts";
import { parsePositions, positionsText } from "../domain/event-stream.ts";
import { agreed, type ChosenSubset, type Session } from "../domain/session.ts";
import { topicsOf } from "../domain/topic.ts";
import { send } from "../http/answer.ts";
import { type App, bad, type RequestContext, unwrap } from "../http/context.ts";
import { parameters } from "../http/request.ts";
import { callerOf, negotiatedCaller, sessionDocument } from "../http/session.ts";
import { mostStreams } from "../negotiation/offers.ts";
import { endStreams, ownerOf, streamsOf } from "../negotiation/ownership.ts";
import type { Services } from "../services.ts";

/** A stream is ended after this and taken up again by its client, so that none outlives a deploy or a token for long. */
const streamLifetimeMs = 600_000;

/** A session once it is open: shown, ended, and what changed for the capabilities it chose. */
export function sessionRoutes(app: App, services: Services): void {
  const json = (c: RequestContext, body: unknown) =>
    send(c, services, JSON.stringify(body), "application/json; charset=utf-8", {
      headers: { "Cache-Control": "no-store" },
    });

  app.get("/mcp/session", (c) => {
    parameters(c, []);
    return json(c, sessionDocument(callerOf(c).session));
  });

  app.delete("/mcp/session", async (c) => {
    parameters(c, []);
    const { principal, session } = negotiatedCaller(c);
    // Two ends at once: the second finds nothing, which is what it wanted.
    await services.sessions.end(session.id, ownerOf(principal));
    await endStreams(services, principal, session);
    return json(c, { ended: session.id });
  });

  app.get("/mcp/session/changes", async (c) => {
    const { since } = parameters(c, ["since"]);
    const { principal, session } = negotiatedCaller(c);
    const after = positionsOf("since", since);
    const topics = topicsOf(subsetOf(session), (tenant) => holds(principal, tenant), after);
    services.operations.objectCalls += topics.length;
    const answers = await Promise.all(topics.map((topic) => services.tenant(topic.tenant).changesOf(topic)));
    const seen = topics.map(({ tenant }, index) => [tenant, answers[index]?.upTo ?? 0] as const);
    return json(c, {
      changes: answers.flatMap(({ changes }) => changes),
      // To ask from next time; the stream takes it as Last-Event-ID.
      position: positionsText(new Map(seen)),
      more: answers.some(({ upTo, generation }) => upTo < generation),
      complete: answers.every(({ complete }) => complete),
    });
  });

  app.get("/mcp/subscription/stream", async (c) => {
    // A HEAD comes here too, and would open a stream that no one reads.
    if (c.req.method !== "GET") throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET" });
    parameters(c, []);
    const { principal, session } = negotiatedCaller(c);
    const after = positionsOf("Last-Event-ID", c.req.header("Last-Event-ID"));
    const topics = topicsOf(subsetOf(session), (tenant) => holds(principal, tenant), after);
    const limits = agreed(session, "notifications")?.parameters ?? {};
    const tokenMs = principal.expiresAt * 1_000 - services.now();
    const options = { session: session.id, topics, lifetimeMs: Math.min(streamLifetimeMs, tokenMs) };
    const most = Math.max(0, Number(limits.max_streams ?? mostStreams));
    services.operations.objectCalls += 1;
    const stream = unwrap(await streamsOf(services, principal, session.id).open(options, most));
    return send(c, services, stream, "text/event-stream; charset=utf-8", {
      headers: { "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
    });
  });

  const allowed = {
    "/mcp/session": "GET, HEAD, DELETE",
    "/mcp/session/changes": "GET, HEAD",
    "/mcp/subscription/stream": "GET",
  };
  for (const [path, allow] of Object.entries(allowed)) {
    app.all(path, () => {
      throw bad("ErrorMethodNotAllowed", undefined, { allow });
    });
  }
}

function subsetOf({ subset }: Session): ChosenSubset {
  if (subset === undefined || subset.items.length === 0) throw bad("ErrorNoSubset");
  return subset;
}

function positionsOf(name: string, text: string | undefined): Record<string, number> {
  if (text === undefined || text === "") return {};
  const positions = parsePositions(text);
  if (positions === undefined) throw bad("ErrorBadRequest", `${name} is not a position that was given out`);
  return positions;
}
