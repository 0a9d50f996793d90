import { denied, type Operation, page } from "../http/operation.ts";

export const searchOperations: Record<string, Record<string, Operation>> = {
  "/api/search": {
    get: {
      id: "searchCapabilities",
      summary: "Capabilities for a task in plain words, the best first; public ones need no token",
      query: {
        q: "The task. Several steps are looked for one by one.",
        kind: "Only `tool`, `prompt`, `resource`, `resourceTemplate`, `generator` or `operation`; may be repeated.",
        tenant: "Only capabilities of this tenant; may be repeated.",
        budget: "As many tokens as all results together may cost; what does not fit is left out.",
        explain: "`true` tells of each result what it was found by.",
        ...page,
      },
      headers: ["If-None-Match"],
      answers: {
        200: "A page in order of rank.",
        304: "Nothing that is shown has changed.",
        400: "A parameter or cursor is wrong.",
        ...denied,
        410: "The results before this page have changed.",
      },
      anonymous: true,
    },
  },
};
