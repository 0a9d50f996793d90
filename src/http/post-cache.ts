import type { HttpDeps } from "./deps.ts";
import type { Operation } from "./operation.ts";
import { consumeCallerRateLimit, findCached, withRequestId } from "./response-cache.ts";
import { maxQuestionBytes, readShortBody } from "./short-body.ts";

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
    .map(({ path }) => new RegExp(`^https?://[^/]+${path.replaceAll(/\{\w+\}/g, "[^/?]+")}$`));
  return ({ url, headers }) =>
    paths.some((path) => path.test(url)) &&
    Number(headers.get("Content-Length") ?? Number.NaN) <= maxQuestionBytes &&
    !headers.has("Content-Encoding");
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
  if (!consumeCallerRateLimit(services, found, headers, 200)) return again;
  return withRequestId(new Response(cached, { headers: found.response.headers }), headers);
}
