import { badBody, type Operation } from "../http/operation.ts";

const inSession = ["X-MCP-Session-ID"] as const;

const sessionless = { 401: "No session, where one is needed, or one that is unknown, expired or another's." };

const lacking = { 403: "The client did not declare a capability that this needs." };

/** Sessions, and the registry as an MCP server. */
export const mcpOperations: Record<string, Record<string, Operation>> = {
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
  "/mcp": {
    post: {
      id: "mcp",
      summary: "The registry as an MCP server: revision 2026-07-28, and clients of 2025 without sessions",
      body: "any",
      answers: {
        200: "A JSON-RPC result or error, as application/json or text/event-stream.",
        400: "No JSON, or header and body disagree.",
        401: "What it asks for needs a token, or the token is not good.",
        403: "A page of this origin, or a host of this name, is not let in.",
        404: "No such method.",
        406: "Accept does not name both application/json and text/event-stream.",
        415: "The body is not application/json.",
      },
      anonymous: true,
    },
  },
  "/mcp/tool": {
    get: {
      id: "listTools",
      summary: "The registry's own tools with their schemas",
      headers: inSession,
      answers: { 200: "As MCP lists tools.", ...sessionless },
      anonymous: true,
    },
  },
  "/mcp/tool/{name}": {
    post: {
      id: "callTool",
      summary: "Call one of the registry's own tools with its arguments, or with a list of them",
      body: "any",
      headers: inSession,
      answers: {
        200: "The result; progress as text/event-stream where it was negotiated and asked for.",
        400: "The body cannot be read.",
        ...sessionless,
        ...lacking,
        404: "No such tool, or what it looked for is not there.",
        422: "The arguments break a rule; details.issues says where.",
      },
      anonymous: true,
    },
  },
  "/mcp/resource": {
    get: {
      id: "readResource",
      summary: "Read one of the registry's own resources",
      query: { uri: "Such as `capabilities://server`." },
      headers: inSession,
      answers: { 200: "Its text.", 400: "No URI.", ...sessionless, 404: "No such resource." },
      anonymous: true,
    },
  },
};
