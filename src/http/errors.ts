import { type Failure, statusOf } from "../kernel/failure.ts";
import type { Issue } from "../kernel/issue.ts";
import { pointerSegments } from "../kernel/issue.ts";
import { withoutUndefined } from "../kernel/json.ts";
import type { ErrorShape, RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { json, publicOrigin, send } from "./respond.ts";

const problemJson = "application/problem+json; charset=utf-8";

/** True for paths of the official registry's API, `/v0` and `/v0.1`. */
function isOfficial(path: string): boolean {
  return /^\/v0(\.1)?(\/|$)/.test(path);
}

/** A failure in the official API's format: RFC 9457, plus the message as `error` for clients that read this member. */
function problem({ code, message, details }: Failure): Record<string, unknown> {
  const status = statusOf(code);
  const { issues, ...others } = details ?? {};
  return {
    title: titles[status] ?? "Error",
    status,
    detail: message,
    errors: issues === undefined || issues.length === 0 ? [{ message }] : issues.map(errorOf),
    error: message,
    code,
    details: Object.keys(withoutUndefined(others)).length === 0 ? undefined : others,
  };
}

function errorOf({ path, message }: Issue): { message: string; location?: string } {
  return path === "" ? { message } : { message: `${toDotPath(path)}: ${message}`, location: toDotPath(path) };
}

/** `/packages/0/version` in the official API's notation: `packages[0].version`. */
export function toDotPath(pointer: string): string {
  return pointerSegments(pointer).reduce(
    (path, segment) => (/^\d+$/.test(segment) ? `${path}[${segment}]` : path === "" ? segment : `${path}.${segment}`),
    "",
  );
}

const titles: Partial<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
};

/** JSON-RPC error of a request that failed before a method was called. */
function rpcError({ code, message, details }: Failure, id: string | number | undefined): unknown {
  const data = { code, details };
  return { jsonrpc: "2.0", id: id ?? null, error: { code: rpcCode(code), message, data } };
}

/** The JSON-RPC code if there is one; else the HTTP status, which is outside the reserved ranges. */
function rpcCode(code: Failure["code"]): number {
  if (code === "ErrorInvalidBody") return -32_700;
  const status = statusOf(code);
  return status === 400 ? -32_600 : status === 500 ? -32_603 : status;
}

export function sendFailure(c: RequestContext, services: HttpDeps, given: Failure): Response {
  const status = statusOf(given.code);
  const failure = withNames(c, given);
  const { code, details } = failure;
  const headers: Record<string, string> = { "Cache-Control": "no-store" };
  if (details?.retryAfterSeconds !== undefined) headers["Retry-After"] = String(details.retryAfterSeconds);
  else if (status === 503) headers["Retry-After"] = "1";
  if (typeof details?.allow === "string") headers.Allow = details.allow;
  if (status === 401 || code === "ErrorInsufficientScope")
    headers["WWW-Authenticate"] = challenge(c, services, failure);
  const [body, type] = serialized(c, failure);
  return send(c, services, JSON.stringify(body), type, { status, headers });
}

/** Fills `{tenant}` and the like in a hint with what the request names, so that the next step can be pasted. */
function withNames(c: RequestContext, failure: Failure): Failure {
  const { hint } = failure.details ?? {};
  if (hint === undefined || !hint.includes("{")) return failure;
  const named: Record<string, string | undefined> = { ...c.req.query(), ...c.req.param() };
  const filled = hint.replaceAll(/\{(tenant|name|id|serverName)\}/g, (placeholder, name: string) => {
    const value = named[name];
    return value === undefined || value === "" || value.length > 256 ? placeholder : encodeURIComponent(value);
  });
  const { tenant, name } = named;
  const server = failure.code === "ErrorMCPServerNotFound" && tenant && name ? { tenant, name } : {};
  return { ...failure, details: { ...server, ...failure.details, hint: filled } };
}

function serialized(c: RequestContext, failure: Failure): [body: unknown, contentType: string] {
  switch (c.get("operation")?.errors ?? shapeOfPath(c.req.path)) {
    case "problem":
      return [problem(failure), problemJson];
    case "rpc":
      return [rpcError(failure, c.get("rpcId")), json];
    case "session":
      return [sessionError(failure), json];
    case "api":
      return [apiError(failure), json];
  }
}

/** For paths that no operation has. */
function shapeOfPath(path: string): ErrorShape {
  if (isOfficial(path)) return "problem";
  if (path === "/mcp") return "rpc";
  return path.startsWith("/mcp/") ? "session" : "api";
}

function apiError({ code, message, details }: Failure): unknown {
  return { success: false, error: { code, message, details } };
}

/** Error format below /mcp/: `error` is the message; code and details are members beside it. */
export function sessionError({ code, message, details }: Failure): unknown {
  return { error: message, code, details };
}

function challenge(c: RequestContext, services: HttpDeps, { code, details }: Failure): string {
  // A token would not help: the request needs a session.
  if (["ErrorSessionMissing", "ErrorSessionInvalid", "ErrorResumeInvalid"].includes(code)) {
    return 'Session negotiate="/mcp/negotiate"';
  }
  // Nor here: the message needs a signature.
  if (code === "ErrorWebhookUnverified") {
    return 'Webhook-Signature headers="webhook-id webhook-timestamp webhook-signature"';
  }
  const operation = c.get("operation");
  const { method, path } = c.req;
  // Each resource has its own metadata: the document for /mcp names /mcp (RFC 9728, section 3.1).
  const suffix = path === "/mcp" ? path : "";
  const metadata = `resource_metadata="${publicOrigin(c, services.config)}/.well-known/oauth-protected-resource${suffix}"`;
  if (code === "ErrorInsufficientScope")
    return `Bearer ${metadata}, error="insufficient_scope", scope="${details?.scope}"`;
  // RFC 6750, section 3.1: a request without a token gets no error code.
  const isToken = details?.reason !== undefined && details.reason !== "scheme" && details.reason !== "missing";
  const error = isToken ? ', error="invalid_token"' : "";
  const writes = isOfficial(path) && method !== "GET" && method !== "HEAD";
  const scope = operation?.scope ?? (writes ? "registry:publish" : "registry:read");
  return `Bearer ${metadata}${error}, scope="${scope}"`;
}
