import type { Config } from "../config.ts";
import { type Failure, statusOf } from "../kernel/failure.ts";
import type { Source } from "../kernel/platform/usage.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { isOfficial, problem, problemJson, rpcError } from "./errors.ts";

/** What an answer says about itself besides its data. */
export interface AnswerMeta {
  status?: number;
  etag?: string;
  generation?: number;
  source?: Source;
  message?: string;
  headers?: Record<string, string>;
}

const json = "application/json; charset=utf-8";

/** Names that a page on another origin may read. */
const exposed =
  "ETag, Link, X-MCP-Session-ID, Rollcall-Generation, Rollcall-Source, Server-Timing, Retry-After, X-Request-Id, WWW-Authenticate";

export function succeed(c: RequestContext, services: HttpDeps, data: unknown, meta: AnswerMeta = {}): Response {
  const { message } = meta;
  const body = JSON.stringify({ success: true, message, data });
  return send(c, services, body, json, meta);
}

/** Headers are built in one go: changing a response afterwards costs more than making it. */
export function send(
  c: RequestContext,
  services: HttpDeps,
  body: BodyInit | null,
  contentType: string,
  meta: AnswerMeta,
): Response {
  const headers: Record<string, string> = {
    "Content-Type": contentType,
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": c.get("requestId"),
    ...validators(services, c.req.header("Origin"), meta, services.now() - c.get("startedAt")),
    ...meta.headers,
  };
  if (meta.source !== undefined) c.set("source", meta.source);
  return new Response(body, { status: meta.status ?? 200, headers });
}

/** 304: no body, and of the headers of the answer it stands for those that say whether and how it may be used again. */
export function notModified(c: RequestContext, services: HttpDeps, meta: AnswerMeta): Response {
  if (meta.source !== undefined) c.set("source", meta.source);
  const headers = {
    "X-Request-Id": c.get("requestId"),
    ...validators(services, c.req.header("Origin"), meta, services.now() - c.get("startedAt")),
    ...meta.headers,
  };
  return new Response(null, { status: 304, headers });
}

/** What an answer and the 304 that stands for it have in common. */
export function validators(
  { config }: HttpDeps,
  origin: string | undefined,
  { etag, generation, source }: AnswerMeta,
  milliseconds: number,
): Record<string, string> {
  const headers: Record<string, string> = { "Cache-Control": "private, no-cache", ...corsHeaders(config, origin) };
  if (etag !== undefined) headers.ETag = etag;
  if (generation !== undefined) headers["Rollcall-Generation"] = String(generation);
  if (source !== undefined) {
    headers["Rollcall-Source"] = source;
    headers["Server-Timing"] = `${source};dur=${milliseconds}`;
  }
  return headers;
}

export function fail(c: RequestContext, services: HttpDeps, failure: Failure): Response {
  const status = statusOf(failure.code);
  const { code, details } = failure;
  const headers: Record<string, string> = { "Cache-Control": "no-store" };
  if (details?.retryAfterSeconds !== undefined) headers["Retry-After"] = String(details.retryAfterSeconds);
  else if (status === 503) headers["Retry-After"] = "1";
  if (typeof details?.allow === "string") headers.Allow = details.allow;
  if (status === 401 || code === "ErrorInsufficientScope")
    headers["WWW-Authenticate"] = challenge(c, services, failure);
  if (isOfficial(c.req.path)) {
    return send(c, services, JSON.stringify(problem(failure)), problemJson, { status, headers });
  }
  if (c.req.path === "/mcp") {
    return send(c, services, JSON.stringify(rpcError(failure, c.get("rpcId"))), json, { status, headers });
  }
  const body = c.req.path.startsWith("/mcp/") ? sessionError(failure) : apiError(failure);
  return send(c, services, JSON.stringify(body), json, { status, headers });
}

function apiError({ code, message, details }: Failure): unknown {
  return { success: false, error: { code, message, details } };
}

/** Below /mcp/ the error is its sentence; code and details stand beside it. */
export function sessionError({ code, message, details }: Failure): unknown {
  return { error: message, code, details };
}

function challenge(c: RequestContext, services: HttpDeps, { code, details }: Failure): string {
  // No token would help here: what is missing is a session.
  if (["ErrorSessionMissing", "ErrorSessionInvalid", "ErrorResumeInvalid"].includes(code)) {
    return 'Session negotiate="/mcp/negotiate"';
  }
  const { method, path } = c.req;
  // Each resource has metadata of its own: the one for /mcp says /mcp (RFC 9728, section 3.1).
  const suffix = path === "/mcp" ? path : "";
  const metadata = `resource_metadata="${publicOrigin(c, services.config)}/.well-known/oauth-protected-resource${suffix}"`;
  if (code === "ErrorInsufficientScope")
    return `Bearer ${metadata}, error="insufficient_scope", scope="${details?.scope}"`;
  const error = details?.reason === undefined ? "" : ', error="invalid_token"';
  const scope = isOfficial(path) && method !== "GET" && method !== "HEAD" ? "registry:publish" : "registry:read";
  return `Bearer ${metadata}${error}, scope="${scope}"`;
}

export function publicOrigin(c: RequestContext, config: Config): string {
  // A host that is none leaves links without one.
  return config.publicUrl ?? URL.parse(c.req.url)?.origin ?? "";
}

export function corsHeaders(config: Config, origin: string | undefined): Record<string, string> {
  const allowed = config.corsOrigins;
  if (allowed === "*") return { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": exposed };
  if (origin === undefined || !allowed.includes(origin)) return { Vary: "Origin" };
  return { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposed, Vary: "Origin" };
}
