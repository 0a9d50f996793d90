import { badBody, type Described } from "../http/described.ts";

export const inSession = ["X-MCP-Session-ID"] as const;

export const sessionless = { 401: "No session, where one is needed, or one that is unknown, expired or another's." };

export const lacking = { 403: "The client did not declare a capability that this needs." };

/** Negotiation and sessions. */
export const sessionsOperations: Record<string, Record<string, Described>> = {
  "/mcp/negotiate": {
    post: {
      id: "negotiate",
      summary: "Open a session: what the client can do, and what it would like",
      body: "negotiation-request",
      answers: {
        200: "The server's side, what was settled, and the session; its id also in X-MCP-Session-ID.",
        ...badBody,
        401: "The token is not valid; none is needed.",
        403: "The deployment requires a capability that the client lacks.",
        409: "The client requires a capability that the server lacks.",
        429: "Too many negotiations; see Retry-After.",
      },
      anonymous: true,
    },
  },
  "/mcp/session": {
    get: {
      id: "getSession",
      summary: "The session of the request",
      headers: inSession,
      answers: { 200: "The session.", ...sessionless },
      anonymous: true,
    },
    delete: {
      id: "endSession",
      summary: "End the session and its streams",
      headers: inSession,
      answers: { 200: "Ended.", ...sessionless },
      anonymous: true,
    },
  },
  "/mcp/session/resume": {
    post: {
      id: "resumeSession",
      summary: "Take up a session again under a new id, once",
      body: "resume-request",
      answers: { 200: "As a negotiation answers.", ...badBody, 401: "The resume token is not good (any more)." },
      anonymous: true,
    },
  },
  "/mcp/session/changes": {
    get: {
      id: "getSessionChanges",
      summary: "What changed for the capabilities that the session chose",
      query: { since: "position of an earlier answer, or an id of the stream." },
      headers: inSession,
      answers: {
        200: "Changes, oldest first a tenant.",
        400: "since is no position.",
        ...sessionless,
        409: "The session chose nothing.",
      },
      anonymous: true,
    },
  },
  "/mcp/subscription/stream": {
    get: {
      id: "streamSessionChanges",
      summary: "The same as they happen, as server-sent events",
      headers: [...inSession, "Last-Event-ID"],
      answers: {
        200: "text/event-stream.",
        400: "Last-Event-ID is none.",
        ...sessionless,
        ...lacking,
        409: "The session chose nothing.",
        429: "Too many streams.",
      },
      anonymous: true,
    },
  },
};
