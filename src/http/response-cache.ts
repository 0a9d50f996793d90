import { matchesEtag } from "../kernel/etag.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { routeLabel } from "./observe.ts";
import { anonymousSubject, validRequestId } from "./request.ts";
import { cacheHeaders, type ResponseMeta } from "./respond.ts";
import type { CachedResponse } from "./response-store.ts";

/** Cached responses for anonymous callers live 60 s, as long as a verified token stays cached. */
const anonymousMs = 60_000;

/**
 * Returns the cached response to a GET that the same caller sent before, if nothing it was made from has changed;
 * undefined if the app must handle the request. Synchronous, memory only. `url` and `headers` of the request are read
 * once: each of these getters costs as much as everything else here.
 */
export function respondFromCache(services: HttpDeps, { url, headers }: Request): Response | undefined {
  const kept = findCached(services, headers, url);
  if (kept === undefined) return undefined;
  const { body, notModified: unchanged } = kept;
  const ifNoneMatch = unchanged && headers.get("If-None-Match");
  if (unchanged && ifNoneMatch && matchesEtag(ifNoneMatch, unchanged.etag)) {
    if (!consumeCallerRateLimit(services, kept, headers, 304)) return undefined;
    if (!headers.has(requestId)) return unchanged.response;
    return withRequestId(new Response(null, { status: 304, headers: unchanged.headers }), headers);
  }
  if (!(body instanceof Uint8Array) || !consumeCallerRateLimit(services, kept, headers, 200)) return undefined;
  return withRequestId(new Response(body, { headers: kept.headers }), headers);
}

const requestId = "X-Request-Id";

/**
 * Copies the request's `X-Request-Id` to a cached response. No id is generated without one: a response from memory is
 * not logged.
 */
export function withRequestId(response: Response, asked: Headers): Response {
  const id = validRequestId(asked.get(requestId));
  if (id !== undefined) response.headers.set(requestId, id);
  return response;
}

/** The caller's cached response for a request, unless the request must bypass the cache. */
export function findCached(services: HttpDeps, headers: Headers, question: string): CachedResponse | undefined {
  const kept = services.responses.get(keyOf(question, headers.get("Authorization")), services.now());
  return kept === undefined || bypassesCache(services, headers) ? undefined : kept;
}

/**
 * Applies the caller's rate limit and records the request in the metrics. On false the app handles the request and
 * sends the 429.
 */
export function consumeCallerRateLimit(
  services: HttpDeps,
  kept: CachedResponse,
  headers: Headers,
  status: number,
): boolean {
  const { ok } = services.readLimiter.consume(kept.subject ?? anonymousSubject(headers), services.now());
  if (ok) services.metrics.record(kept.route, status, 0, "memory");
  return ok;
}

/** True if the request must bypass the cache: it asks for fresher data or needs per-origin CORS headers. */
function bypassesCache({ config }: HttpDeps, headers: Headers): boolean {
  return (
    headers.has("Cache-Control") ||
    headers.has("Rollcall-Min-Generation") ||
    (config.corsOrigins !== "*" && headers.has("Origin"))
  );
}

interface CacheEntryInput {
  question: string;
  body: () => CachedResponse["body"];
  contentType: string;
  meta: ResponseMeta;
  holds: () => boolean;
}

/** Caches a response that was made from memory, to be sent again while `holds` returns true. */
export function cacheResponse(c: RequestContext, services: HttpDeps, keeping: CacheEntryInput): void {
  const { question, body, contentType, meta, holds } = keeping;
  const { headers: given } = c.req.raw;
  // HEAD requests run the GET routes, but are not served from the cache.
  if (c.req.method === "HEAD" || bypassesCache(services, given)) return;
  const authorization = given.get("Authorization");
  const subject = authorization === null ? undefined : c.get("subject");
  const until =
    authorization === null ? services.now() + anonymousMs : services.authenticator.cachedUntil(authorization);
  const common = { ...cacheHeaders(services, undefined, meta, 0), ...meta.headers };
  services.responses.put(keyOf(question, authorization), {
    route: routeLabel(c),
    body: body(),
    headers: new Headers({ "Content-Type": contentType, "X-Content-Type-Options": "nosniff", ...common }),
    notModified: meta.etag === undefined ? undefined : notModifiedResponse(meta.etag, common),
    subject,
    until,
    isValid: holds,
  });
}

function notModifiedResponse(etag: string, common: Record<string, string>): NonNullable<CachedResponse["notModified"]> {
  const headers = new Headers(common);
  return { etag, headers, response: new Response(null, { status: 304, headers }) };
}

/** The key includes the credentials: a response made for one caller is never sent to another. */
function keyOf(question: string, authorization: string | null): string {
  return authorization === null ? question : `${question} ${authorization}`;
}
