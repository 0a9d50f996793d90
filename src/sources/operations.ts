import { denied, notFound, type Operation, server } from "../http/operation.ts";

/** Reading upstream MCP servers. */
export const sourcesOperations: Record<string, Record<string, Operation>> = {
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
