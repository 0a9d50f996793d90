import type { Principal } from "../auth/principal.ts";
import { matchesEtag } from "../kernel/etag.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { routeLabel } from "./observe.ts";
import type { Operation } from "./operation.ts";
import { anonymousPrincipal, anonymousSubject, validRequestId } from "./request.ts";
import { cacheHeaders, type ResponseMeta } from "./respond.ts";
import type { CachedResponse, ResponseAccess } from "./response-store.ts";

/**
 * Returns the cached response to a GET, if the caller may have it and nothing it was made from has changed; undefined if
 * the app must handle the request. Synchronous, memory only. `url` and `headers` of the request are read once: each of
 * these getters costs as much as everything else here.
 */
export function respondFromCache(services: HttpDeps, request: Request): Response | undefined {
  const { url, headers } = request;
  const found = findCached(services, headers, url);
  if (found === undefined) return undefined;
  const { body, etag, accepts } = found.response;
  if (accepts !== undefined && !accepts(headers.get("Accept") ?? undefined)) return undefined;
  const ifNoneMatch = etag && headers.get("If-None-Match");
  if (etag && ifNoneMatch && matchesEtag(ifNoneMatch, etag)) {
    if (!consumeCallerRateLimit(services, found, request, 304)) return undefined;
    const unchanged = found.response.notModified;
    if (!headers.has(requestId)) return unchanged.response;
    return withRequestId(new Response(null, { status: 304, headers: unchanged.headers }), headers);
  }
  if (!(body instanceof Uint8Array) || !consumeCallerRateLimit(services, found, request, 200)) return undefined;
  return withRequestId(new Response(body, { headers: found.response.headers }), headers);
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
  request: Request,
  status: number,
): boolean {
  const subject = principal.anonymous ? anonymousSubject(request, services) : principal.subject;
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
  const kept = { route: routeLabel(c), body: body(), etag: meta.etag, isValid: holds, accepts };
  services.responses.put(question, access, principal, new KeptResponse(kept, contentType, common));
}

type KeptFields = Omit<CachedResponse, "headers" | "notModified">;

/** Its headers are made when it is first sent again: most answers never are. */
class KeptResponse implements CachedResponse {
  readonly route: KeptFields["route"];
  readonly body: KeptFields["body"];
  readonly etag: KeptFields["etag"];
  readonly isValid: KeptFields["isValid"];
  readonly accepts: KeptFields["accepts"];
  readonly #contentType: string;
  readonly #common: Record<string, string>;
  #headers: Headers | undefined;
  #notModified: CachedResponse["notModified"] | undefined;

  constructor(
    { route, body, etag, isValid, accepts }: KeptFields,
    contentType: string,
    common: Record<string, string>,
  ) {
    this.route = route;
    this.body = body;
    this.etag = etag;
    this.isValid = isValid;
    this.accepts = accepts;
    this.#contentType = contentType;
    this.#common = common;
  }

  get headers(): Headers {
    this.#headers ??= new Headers({
      "Content-Type": this.#contentType,
      "X-Content-Type-Options": "nosniff",
      ...this.#common,
    });
    return this.#headers;
  }

  get notModified(): CachedResponse["notModified"] {
    if (this.#notModified === undefined) {
      const headers = new Headers(this.#common);
      this.#notModified = { headers, response: new Response(null, { status: 304, headers }) };
    }
    return this.#notModified;
  }
}

/** Questions that are cached are short. A longer body bypasses the cache; the route reads it within its own limits. */
export const maxQuestionBytes = 4_096;

/** The bytes of a short body, or a stream of the whole body if it is longer. Content-Length is not trusted. */
export async function readShortBody(
  body: ReadableStream<Uint8Array>,
): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const reader = body.getReader({ mode: "byob" });
  try {
    const { value } = await reader.readAtLeast(maxQuestionBytes + 1, new Uint8Array(maxQuestionBytes + 1));
    if (value === undefined || value.byteLength <= maxQuestionBytes) return value ?? new Uint8Array();
    reader.releaseLock();
    return prependChunk(value, body.getReader());
  } catch (cause) {
    // The route that reads this stream gets the same error.
    return new ReadableStream({ start: (controller) => controller.error(cause) });
  }
}

/** A stream of a chunk that was already read, followed by the rest. */
export function prependChunk(
  first: Uint8Array | undefined,
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (first === undefined) controller.close();
      else controller.enqueue(first);
    },
    async pull(controller) {
      const { done, value } = await rest.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => rest.cancel(reason),
  });
}

/** What a POST asks: its URL, and the body with the headers that say how to read and answer it. */
const questions = new WeakMap<Request, string>();

/** Headers that affect how a body is read or answered. */
const questionHeaders = ["Content-Type", "Accept"];

/** The key under which the answer to a request is cached; undefined if it is not. */
export function questionOf(request: Request): string | undefined {
  return request.method === "POST" ? questions.get(request) : request.url;
}

/** True for a POST that only reads and whose answer may be in the cache, judged without its body. */
export function createPostCheck(operations: readonly Operation[]): (request: Request) => boolean {
  const paths = operations
    .filter(({ method, cached }) => method === "post" && cached)
    .map(({ path }) => path.split("/"));
  return ({ url, headers }) =>
    isAtOneOf(url, paths) &&
    Number(headers.get("Content-Length") ?? Number.NaN) <= maxQuestionBytes &&
    !headers.has("Content-Encoding");
}

/** Whether a URL without a query has one of these paths, segment by segment. */
function isAtOneOf(url: string, paths: readonly (readonly string[])[]): boolean {
  const [, , , ...segments] = url.split("/");
  return paths.some(
    ([, ...path]) =>
      path.length === segments.length && path.every((part, at) => part.startsWith("{") || part === segments[at]),
  );
}

/** Like `respondFromCache`, for a POST. On a miss, returns the request with a body that can be read again. */
export async function respondFromPostCache(services: HttpDeps, request: Request): Promise<Response | Request> {
  if (request.body === null) return request;
  const { headers, url } = request;
  const read = await readShortBody(request.body);
  const again = new Request(request, { body: read });
  if (!(read instanceof Uint8Array)) return again;
  // One character for each byte: bodies that differ are different questions. An absent header is no empty one.
  const body = String.fromCharCode(...read);
  const question = [url, ...questionHeaders.map((name) => headers.get(name) ?? "\0"), body].join("\n");
  questions.set(again, question);
  const found = findCached(services, headers, question);
  const cached = found?.response.body;
  if (found === undefined || !(cached instanceof Uint8Array)) return again;
  if (!consumeCallerRateLimit(services, found, request, 200)) return again;
  return withRequestId(new Response(cached, { headers: found.response.headers }), headers);
}
