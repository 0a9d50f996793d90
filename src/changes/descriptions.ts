import { type Described, denied } from "../http/described.ts";

export const changesOperations: Record<string, Record<string, Described>> = {
  "/api/changes/{tenant}": {
    get: {
      id: "listChanges",
      summary: "A tenant's log of changes, oldest first; with `Accept: text/event-stream` as it grows",
      query: {
        since: "Entries after this sequence number.",
        limit: "1 to 1000; not for a stream.",
      },
      headers: ["Rollcall-Min-Generation", "Last-Event-ID"],
      answers: {
        200: "Entries, each with its hash and that of the one before, and the head of the log; or a stream of them.",
        400: "A parameter is wrong, or a stream would start after the end of the log.",
        ...denied,
        412: "The tenant has not reached that generation.",
      },
    },
  },
};
