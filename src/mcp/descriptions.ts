import type { Described } from "../http/described.ts";
import { inSession, lacking, sessionless } from "../sessions/descriptions.ts";

/** The MCP endpoint, and the registry's own tools and resources over plain HTTP. */
export const mcpOperations: Record<string, Record<string, Described>> = {
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
  "/api/mcp/capabilities/{view}": {
    get: {
      id: "getOwnView",
      summary: "The same views of the registry itself",
      answers: { 200: "The view, without an envelope.", 404: "No such view." },
      anonymous: true,
    },
  },
};
