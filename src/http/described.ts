/** Parts shared by the `descriptions.ts` tables of the rooms. */

/** One route that is not an operation yet. */
export interface Described {
  id: string;
  summary: string;
  /** Published name of the body's schema; `any` for a document of another kind. */
  body?: string;
  query?: Record<string, string>;
  headers?: readonly (keyof typeof requestHeaders)[];
  answers: Record<number, string>;
  anonymous?: true;
}

export const requestHeaders = {
  "Rollcall-Min-Generation":
    "The answer must be at least as new as this generation of the tenant; 412 when there is none.",
  "Cache-Control": "`no-cache` reads the tenant's object instead of any cache.",
  "If-None-Match": "A tag from an earlier answer: 304 when nothing changed. On a write, `*` creates only.",
  "If-Match": "A tag or manifest digest the server must still be at: 412 when it is not.",
  "X-MCP-Session-ID": "The session, from the answer to a negotiation.",
  "Last-Event-ID": "The id of the last event that was seen: the stream goes on after it.",
} as const;

export const reading = ["Rollcall-Min-Generation", "Cache-Control", "If-None-Match"] as const;
export const writing = ["If-Match", "If-None-Match"] as const;

export const denied = {
  401: "No valid token.",
  403: "The token lacks the tenant or the scope.",
  429: "Too many requests; see Retry-After.",
};
export const badBody = {
  400: "The request or its body cannot be read.",
  413: "The body is too large.",
  415: "Neither JSON nor YAML.",
  422: "The document breaks a rule; details.issues says where.",
};
export const notFound = { 404: "No such server." };
export const conflict = { 412: "The server changed since the tag in If-Match." };

export const server = "/api/mcp/capabilities/{tenant}/{name}";
export const page = { limit: "Items a page, 1 to 100.", cursor: "nextCursor of the page before." };
