import type { DeclaredHeaders } from "./deps.ts";
import type { AnswerDeclaration, Operation } from "./operation.ts";

/** Headers of MCP and of sessions, which its handlers read and answer themselves. */
const protocol = {
  answers: ["Link", "X-MCP-Session-ID"],
  requests: ["Last-Event-ID", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "X-MCP-Session-ID"],
};

export function declaredHeaders(operations: readonly Operation[]): DeclaredHeaders {
  const answers = operations.flatMap((operation) => Object.values(operation.answers).flatMap(answerHeaders));
  const requests = operations.flatMap(({ access, body, parameters }) => [
    ...(access.token === "none" ? [] : ["Authorization"]),
    ...(access.headers ?? []),
    ...(body === undefined ? [] : ["Content-Type"]),
    ...Object.keys(parameters?.headers ?? {}),
  ]);
  const methods = operations.map(({ method }) => method.toUpperCase());
  return {
    exposed: list([...answers, ...protocol.answers, "Retry-After", "WWW-Authenticate", "X-Request-Id"]),
    allowed: list([...requests, ...protocol.requests, "X-Request-Id"]),
    methods: list([...methods, "HEAD"]),
    cacheBypass: cacheBypassHeaders(operations),
  };
}

/** Headers of an answer beside those of every answer. */
function answerHeaders({ etag, generation, directory, headers = {} }: AnswerDeclaration): string[] {
  return [
    ...(etag ? ["ETag"] : []),
    ...(generation ? ["Rollcall-Generation", "Rollcall-Source", "Server-Timing"] : []),
    ...(directory ? ["Rollcall-Directory"] : []),
    ...Object.keys(headers),
  ];
}

function list(names: readonly string[]): string {
  return [...new Set(names)].sort().join(", ");
}

/**
 * Request headers that change what a cached operation answers: a request with one of them bypasses the response cache,
 * which compares tags itself. In lower case.
 */
export function cacheBypassHeaders(operations: readonly Operation[]): string[] {
  const declared = operations
    .filter(({ cached }) => cached)
    .flatMap(({ parameters }) => Object.keys(parameters?.headers ?? {}).map((name) => name.toLowerCase()));
  return [...new Set(declared)].filter((name) => name !== "if-none-match").sort();
}
