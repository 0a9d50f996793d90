import type { Config } from "../config.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { type DirectoryState, stateText } from "./directory-state.ts";

/** Status, headers and cache metadata of a response. */
export interface ResponseMeta {
  status?: number;
  etag?: string;
  generation?: number;
  source?: AnswerSource;
  /** The state of everything public that the answer is as of, and milliseconds since this isolate's copy was confirmed. */
  directory?: DirectoryState & { age?: number };
  message?: string;
  headers?: Record<string, string>;
}

export const json = "application/json; charset=utf-8";

/** Builds all headers before the response: changing a response afterwards costs more than creating it. */
export function send(
  c: RequestContext,
  services: HttpDeps,
  body: BodyInit | null,
  contentType: string,
  meta: ResponseMeta,
): Response {
  const headers: Record<string, string> = {
    "Content-Type": contentType,
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": c.get("requestId"),
    ...cacheHeaders(services, c.req.header("Origin"), meta, services.now() - c.get("startedAt")),
    ...meta.headers,
  };
  if (meta.source !== undefined) c.set("source", meta.source);
  return new Response(body, { status: meta.status ?? 200, headers });
}

/** 304: no body and no content headers, but the caching and CORS headers of the full response. */
export function notModified(c: RequestContext, services: HttpDeps, meta: ResponseMeta): Response {
  if (meta.source !== undefined) c.set("source", meta.source);
  const headers = {
    "X-Request-Id": c.get("requestId"),
    ...cacheHeaders(services, c.req.header("Origin"), meta, services.now() - c.get("startedAt")),
    ...meta.headers,
  };
  return new Response(null, { status: 304, headers });
}

/** Headers that a full response and its 304 have in common. */
export function cacheHeaders(
  services: HttpDeps,
  origin: string | undefined,
  { etag, generation, source, directory }: ResponseMeta,
  milliseconds: number,
): Record<string, string> {
  const headers: Record<string, string> = { "Cache-Control": "private, no-cache", ...corsHeaders(services, origin) };
  if (etag !== undefined) headers.ETag = etag;
  if (generation !== undefined) headers["Rollcall-Generation"] = String(generation);
  if (source !== undefined) {
    headers["Rollcall-Source"] = source;
    headers["Server-Timing"] = `${source};dur=${milliseconds}`;
    if (directory?.age !== undefined) headers["Server-Timing"] += `, directory-age;dur=${directory.age}`;
  }
  if (directory !== undefined) headers["Rollcall-Directory"] = stateText(directory);
  return headers;
}

/** The origin of links: the configured one, or the request's own if its host is one where the registry is reached. */
export function publicOrigin(
  c: RequestContext,
  { publicUrl, mcpHosts, defaultOrigin }: Pick<Config, "publicUrl" | "mcpHosts" | "defaultOrigin">,
): string {
  if (publicUrl !== undefined) return publicUrl;
  // Anybody may send any Host.
  const asked = URL.parse(c.req.url);
  const isOwn = asked !== null && (mcpHosts === undefined || mcpHosts.includes(asked.hostname));
  return isOwn ? asked.origin : defaultOrigin;
}

export function corsHeaders(
  { config: { corsOrigins: allowed }, declaredHeaders: { exposed } }: HttpDeps,
  origin: string | undefined,
): Record<string, string> {
  if (allowed === "*") return { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": exposed };
  if (origin === undefined || !allowed.includes(origin)) return { Vary: "Origin" };
  return { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposed, Vary: "Origin" };
}
