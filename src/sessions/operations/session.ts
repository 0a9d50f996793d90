import { z } from "zod";
import { isMember } from "../../auth/principal.ts";
import { requestError } from "../../http/context.ts";
import { streamMeta } from "../../http/event-stream.ts";
import { operation } from "../../http/operation.ts";
import { afterNegotiating, inNegotiatedSession, inSession, negotiatedSessionHeader, sessionHeader } from "../access.ts";
import { SessionChanges, SessionDocument, SessionEnd } from "../answer-schema.ts";
import { positionsOf, subsetOf } from "../chosen.ts";
import type { SessionsDeps } from "../deps.ts";
import { positionsText, topicsOf } from "../follow-chosen.ts";
import { endStreams, ownerOf } from "../owner.ts";
import { sessionDocument } from "../response.ts";
import { openSessionStream } from "../stream.ts";

/** Reads and ends an open session, and reports changes to its chosen capabilities. */

const notStored = { headers: { "Cache-Control": "no-store" } };

const getSession = operation({
  id: "getSession",
  method: "get",
  path: "/mcp/session",
  tag: "Sessions",
  summary: "Read the session of the request",
  access: inSession,
  errors: "session",
  parameters: { headers: sessionHeader },
  answers: { 200: { description: "The session.", json: SessionDocument } },
  examples: { negotiated: afterNegotiating },

  handle: (_: SessionsDeps, { principal, session, answer }) =>
    answer(200, sessionDocument(session, principal), notStored),
});

const endSession = operation({
  id: "endSession",
  method: "delete",
  path: "/mcp/session",
  tag: "Sessions",
  summary: "End the session and its streams",
  access: inNegotiatedSession,
  errors: "session",
  parameters: { headers: negotiatedSessionHeader },
  answers: { 200: { description: "Ended.", json: SessionEnd } },
  examples: { negotiated: afterNegotiating },

  async handle(services: SessionsDeps, { principal, session, answer }) {
    // The session may have been ended, or resumed under another id, since it was checked.
    if (!(await services.sessions.end(session.id, ownerOf(principal)))) throw requestError("ErrorSessionInvalid");
    await endStreams(services, principal, session);
    return answer(200, { ended: session.id }, notStored);
  },
});

const getChanges = operation({
  id: "getSessionChanges",
  method: "get",
  path: "/mcp/session/changes",
  tag: "Sessions",
  summary: "Read what changed for the chosen capabilities",
  access: inNegotiatedSession,
  errors: "session",
  parameters: {
    query: { since: z.string().optional().describe("`position` of an earlier answer, or an id of the stream.") },
    headers: negotiatedSessionHeader,
  },
  answers: { 200: { description: "Changes since the session chose, or since the position.", json: SessionChanges } },
  fails: ["ErrorNoSubset"],
  examples: { negotiated: afterNegotiating },

  async handle(services: SessionsDeps, { principal, session, query, answer }) {
    const after = positionsOf("since", query.since);
    const topics = topicsOf(subsetOf(session), (tenant) => isMember(principal, tenant), after);
    const found = await Promise.all(topics.map((topic) => services.tenant(topic.tenant).changesOf(topic)));
    const seen = topics.map(({ tenant }, index) => [tenant, found[index]?.upTo ?? 0] as const);
    const data = {
      changes: found.flatMap(({ changes }) => changes),
      position: positionsText(new Map(seen)),
      more: found.some(({ upTo, generation }) => upTo < generation),
      complete: found.every(({ complete }) => complete),
    };
    return answer(200, data, notStored);
  },
});

const streamChanges = operation({
  id: "streamSessionChanges",
  method: "get",
  path: "/mcp/subscription/stream",
  tag: "Sessions",
  summary: "Follow what changes for the chosen capabilities",
  description: "As server-sent events: `change`, with the position as id. The stream ends after ten minutes.",
  access: inNegotiatedSession,
  errors: "session",
  parameters: {
    headers: {
      ...negotiatedSessionHeader,
      "Last-Event-ID": z
        .string()
        .optional()
        .describe("Id of the last event that was seen: the stream goes on after it."),
    },
  },
  answers: { 200: { description: "Server-sent events.", media: ["text/event-stream"] } },
  fails: ["ErrorNoSubset"],
  head: false,
  examples: { negotiated: afterNegotiating },

  async handle(services: SessionsDeps, { principal, session, headers, c, answer }) {
    const { signal } = c.req.raw;
    const stream = openSessionStream(services, principal, session, { lastEventId: headers["Last-Event-ID"], signal });
    return answer.raw(200, await stream, streamMeta());
  },
});

export const sessionOperations = [getSession, endSession, getChanges, streamChanges];
