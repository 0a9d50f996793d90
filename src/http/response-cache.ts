import type { Principal } from "../auth/principal.ts";
import { matchesEtag } from "../kernel/etag.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { routeLabel } from "./observe.ts";
import { anonymousPrincipal, anonymousSubject, validRequestId } from "./request.ts";
import { cacheHeaders, type ResponseMeta } from "./respond.ts";
import type { CachedResponse, ResponseAccess } from "./response-store.ts";

/**
 * Returns the cached response to a GET, if the caller may have it and nothing it was made from has changed; undefined if
 * the app must handle the request. Synchronous, memory only. `url` and `headers` of the request are read once: each of
 * these getters costs as much as everything else here.
 */
export function respondFromCache(services: HttpDeps, { url, headers }: Request): Response | undefined {
  const found = findCached(services, headers, url);
  if (found === undefined) return undefined;
  const { body, notModified: unchanged, headers: cached, accepts } = found.response;
  if (accepts !== undefined && !accepts(headers.get("Accept") ?? undefined)) return undefined;
  const ifNoneMatch = unchanged && headers.get("If-None-Match");
  if (unchanged && ifNoneMatch && matchesEtag(ifNoneMatch, unchanged.etag)) {
    if (!consumeCallerRateLimit(services, found, headers, 304)) return undefined;
    if (!headers.has(requestId)) return unchanged.response;
    return withRequestId(new Response(null, { status: 304, headers: unchanged.headers }), headers);
  }
  if (!(body instanceof Uint8Array) || !consumeCallerRateLimit(services, found, headers, 200)) return undefined;
  return withRequestId(new Response(body, { headers: cached }), headers);
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

/** A cached response, and the caller who may have it. */
interface Found {
  response: CachedResponse;
  principal: Principal;
}

/**
 * The cached response to a question, unless the request must bypass the cache. A caller whose token is not in the
 * authenticator's cache gets none: the app verifies the token first.
 */
export function findCached(services: HttpDeps, headers: Headers, question: string): Found | undefined {
  return services.responses.find(question, ({ anonymous }) => {
    if (bypassesCache(services, headers)) return undefined;
    const authorization = headers.get("Authorization");
    if (authorization !== null) return services.authenticator.peek(authorization);
    return anonymous ? anonymousPrincipal : undefined;
  });
}

/**
 * Applies the caller's rate limit and records the request in the metrics. On false the app handles the request and
 * sends the 429.
 */
export function consumeCallerRateLimit(
  services: HttpDeps,
  { response, principal }: Found,
  headers: Headers,
  status: number,
): boolean {
  const subject = principal.anonymous ? anonymousSubject(headers) : principal.subject;
  const { ok } = services.readLimiter.consume(subject, services.now());
  if (ok) services.metrics.record(response.route, status, 0, "memory");
  return ok;
}

/** True if the request must bypass the cache: a header changes the answer, or it needs per-origin CORS headers. */
function bypassesCache({ config, declaredHeaders }: HttpDeps, headers: Headers): boolean {
  const { cacheBypass } = declaredHeaders;
  for (let at = 0; at < cacheBypass.length; at += 1) if (headers.has(cacheBypass[at] ?? "")) return true;
  return config.corsOrigins !== "*" && headers.has("Origin");
}

interface CacheEntryInput {
  question: string;
  access: ResponseAccess;
  /** The caller for whom the response was made. */
  principal: Principal;
  body: () => CachedResponse["body"];
  contentType: string;
  meta: ResponseMeta;
  holds: () => boolean;
  accepts?: CachedResponse["accepts"];
}

/**
 * Caches a response that was made from memory, to be sent again while `holds` returns true. The same question must always
 * come with the same access.
 */
export function cacheResponse(c: RequestContext, services: HttpDeps, entry: CacheEntryInput): void {
  const { question, access, principal, body, contentType, holds, accepts } = entry;
  // Whatever the first answer needed, the next ones come from memory.
  const meta = entry.meta.source === undefined ? entry.meta : { ...entry.meta, source: "memory" as const };
  // HEAD requests run the GET routes, but are not served from the cache.
  if (c.req.method === "HEAD" || bypassesCache(services, c.req.raw.headers)) return;
  const common = { ...cacheHeaders(services, undefined, meta, 0), ...meta.headers };
  services.responses.put(question, access, principal, {
    route: routeLabel(c),
    body: body(),
    headers: new Headers({ "Content-Type": contentType, "X-Content-Type-Options": "nosniff", ...common }),
    notModified: meta.etag === undefined ? undefined : notModifiedResponse(meta.etag, common),
    isValid: holds,
    accepts,
  });
}

function notModifiedResponse(etag: string, common: Record<string, string>): NonNullable<CachedResponse["notModified"]> {
  const headers = new Headers(common);
  return { etag, headers, response: new Response(null, { status: 304, headers }) };
}
