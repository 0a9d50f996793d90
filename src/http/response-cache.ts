import { routePath } from "hono/route";
import { matchesEtag } from "../kernel/etag.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { anonymousSubject, validRequestId } from "./request.ts";
import { cacheHeaders, type ResponseMeta } from "./respond.ts";
import type { CachedResponse } from "./response-store.ts";

/** How long a caller without a token is nobody in particular: as long as the word of one with a token is taken. */
const anonymousMs = 60_000;

/**
 * The answer to a GET that the same caller asked before, if nothing it was made from has moved since; undefined sends the
 * request the long way. Awaits nothing and touches nothing but memory. What a request tells of itself is looked at once:
 * each look costs as much as everything else here.
 */
export function respondFromCache(services: HttpDeps, { url, headers }: Request): Response | undefined {
  const kept = findCached(services, headers, url);
  if (kept === undefined) return undefined;
  const { body, unchanged } = kept;
  const ifNoneMatch = unchanged && headers.get("If-None-Match");
  if (unchanged && ifNoneMatch && matchesEtag(ifNoneMatch, unchanged.etag)) {
    if (!consumeRateLimitOf(services, kept, headers, 304)) return undefined;
    if (!headers.has(requestId)) return unchanged.response;
    return withRequestId(new Response(null, { status: 304, headers: unchanged.headers }), headers);
  }
  if (!(body instanceof Uint8Array) || !consumeRateLimitOf(services, kept, headers, 200)) return undefined;
  return withRequestId(new Response(body, { headers: kept.headers }), headers);
}

const requestId = "X-Request-Id";

/** Under the id that the request came with. What is answered from memory leaves no trace, and needs none of its own. */
export function withRequestId(response: Response, asked: Headers): Response {
  const id = validRequestId(asked.get(requestId));
  if (id !== undefined) response.headers.set(requestId, id);
  return response;
}

/** What is kept for the caller under a question, unless they want more than was kept. */
export function findCached(services: HttpDeps, headers: Headers, question: string): CachedResponse | undefined {
  const kept = services.responses.find(keyOf(question, headers.get("Authorization")), services.now());
  return kept === undefined || bypassesCache(services, headers) ? undefined : kept;
}

/** Counts the request; whoever has no turn left is told so the long way. */
export function consumeRateLimitOf(
  services: HttpDeps,
  kept: CachedResponse,
  headers: Headers,
  status: number,
): boolean {
  const { ok } = services.readLimiter.consume(kept.subject ?? anonymousSubject(headers), services.now());
  if (ok) services.metrics.record(kept.route, status, 0, "memory");
  return ok;
}

/** Whether a request wants what is not in every answer: something newer, or leave for its page. */
function bypassesCache({ config }: HttpDeps, headers: Headers): boolean {
  return (
    headers.has("Cache-Control") ||
    headers.has("Rollcall-Min-Generation") ||
    (config.corsOrigins !== "*" && headers.has("Origin"))
  );
}

interface Keeping {
  question: string;
  body: () => CachedResponse["body"];
  contentType: string;
  meta: ResponseMeta;
  holds: () => boolean;
}

/** Keeps what is being answered from memory, to be sent again as long as it holds. */
export function cacheResponse(c: RequestContext, services: HttpDeps, keeping: Keeping): void {
  const { question, body, contentType, meta, holds } = keeping;
  const { headers: given } = c.req.raw;
  // A HEAD comes here too, and is none of those that are answered again.
  if (c.req.method === "HEAD" || bypassesCache(services, given)) return;
  const authorization = given.get("Authorization");
  const subject = authorization === null ? undefined : c.get("subject");
  const until =
    authorization === null ? services.now() + anonymousMs : services.authenticator.cachedUntil(authorization);
  const common = { ...cacheHeaders(services, undefined, meta, 0), ...meta.headers };
  services.responses.keep(keyOf(question, authorization), {
    route: `${c.req.method} ${routePath(c)}`,
    body: body(),
    headers: new Headers({ "Content-Type": contentType, "X-Content-Type-Options": "nosniff", ...common }),
    unchanged: meta.etag === undefined ? undefined : notModifiedResponse(meta.etag, common),
    subject,
    until,
    holds,
  });
}

function notModifiedResponse(etag: string, common: Record<string, string>): NonNullable<CachedResponse["unchanged"]> {
  const headers = new Headers(common);
  return { etag, headers, response: new Response(null, { status: 304, headers }) };
}

/** A caller is known by what they present: what was answered to one is never answered to another. */
function keyOf(question: string, authorization: string | null): string {
  return authorization === null ? question : `${question} ${authorization}`;
}
