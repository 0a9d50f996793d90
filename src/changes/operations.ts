import { member } from "../http/access.ts";
import { requestError, unwrap } from "../http/context.ts";
import { streamMeta, wantsEvents } from "../http/event-stream.ts";
import { operation } from "../http/operation.ts";
import { reading, server, traits, whole } from "../http/parameters.ts";
import { parameterReader } from "../http/read-parameters.ts";
import type { ChangesDeps } from "./deps.ts";
import { openLogStream } from "./open-log-stream.ts";
import { checkPosition, readChanges } from "./read.ts";
import { ChangePage } from "./schema.ts";

const position = whole(0, 1e15);
const readPosition = parameterReader("Last-Event-ID", position);

const lastEventId = position.describe("Of a stream: the last event that was seen. Wins over `since`.");
// An empty Last-Event-ID means that the client has seen no event.
traits.add(lastEventId, { read: (text) => (text === "" ? undefined : readPosition([text])) });

/** The response is JSON or an event stream, depending on Accept. */
const vary = { Vary: "Accept, Origin" };

const listChanges = operation({
  id: "listChanges",
  method: "get",
  path: "/api/changes/{tenant}",
  tag: "Changes",
  summary: "Read or follow the change log of a tenant",
  description:
    "The oldest entry first. With `Accept: text/event-stream` the answer goes on as the log grows: events `change`, each " +
    "with an entry as its data and the entry's sequence number as its id.",
  access: member("path"),
  parameters: {
    path: { tenant: server.tenant },
    query: {
      since: position.default(0).describe("Entries after this sequence number."),
      limit: whole(1, 1_000).optional().describe("Entries on a page, 100 if absent. Not for a stream."),
    },
    headers: {
      "Rollcall-Min-Generation": reading["Rollcall-Min-Generation"],
      "Last-Event-ID": lastEventId.optional(),
    },
  },
  answers: {
    200: {
      description: "A page of entries, or a stream of them.",
      data: ChangePage,
      media: ["text/event-stream"],
      generation: true,
    },
  },
  examples: { demo: { path: { tenant: "demo" }, query: { since: 0, limit: 10 } } },

  async handle(services: ChangesDeps, { principal, tenant, query: { since, limit }, headers, c, answer }) {
    const minGeneration = headers["Rollcall-Min-Generation"];
    if (!wantsEvents(c)) {
      const range = { since, limit: limit ?? 100 };
      const page = unwrap(await readChanges(services, principal, tenant, range, minGeneration));
      return answer(200, page, { generation: page.generation, source: "object", headers: vary });
    }
    if (limit !== undefined) throw requestError("ErrorBadRequest", "limit is for pages; a stream has none");
    const start = headers["Last-Event-ID"] ?? since;
    const { generation } = unwrap(await checkPosition(services, principal, tenant, start, minGeneration));
    const meta = { ...streamMeta(vary), generation, source: "object" as const };
    // HEAD must not open a stream that no one reads.
    if (c.req.method === "HEAD") return answer.raw(200, null, meta);
    const opened = await openLogStream(services, principal, { tenant, since: start, signal: c.req.raw.signal });
    return answer.raw(200, unwrap(opened), meta);
  },
});

export const changesOperations = [listChanges];
