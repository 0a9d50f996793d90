import { type Described, denied, notFound, server } from "../http/described.ts";

/** Reading upstream MCP servers. */
export const sourcesOperations: Record<string, Record<string, Described>> = {
  [`${server}/refresh`]: {
    post: {
      id: "refreshServer",
      summary: "Read a server's sources now",
      answers: {
        200: "What was found; sources that failed say why.",
        400: "A name is not valid.",
        ...denied,
        ...notFound,
        409: "It has no sources.",
      },
    },
  },
};
