import { err, ok, type Result } from "../kernel/result.ts";
import { type AddressPolicy, checkAddress, isLoopback } from "./address.ts";
import { boundBody, discard, readBounded } from "./bounded-body.ts";
import { type FetchFailure, type FetchFailureKind, failureFrom, fetchFailure } from "./fetch-failure.ts";
import { headersForOtherOrigin, outboundHeaders, responseHeaders } from "./headers.ts";
import { startTimeLimit, type TimeLimit, type TimeLimits } from "./time-limit.ts";

export interface GuardedRequest {
  method?: string;
  /** Nothing is added from the incoming request that the registry is handling. */
  headers?: HeadersInit;
  /** Not a stream, so that it can be sent again after a redirect. */
  body?: string | Uint8Array;
  /** `manual` returns a redirect to the caller as the response. */
  redirect?: "follow" | "manual";
  patience?: TimeLimits;
  /** Limit of the decoded body. */
  maxBytes?: number;
  signal?: AbortSignal | null;
}

interface GuardedResponse {
  status: number;
  headers: Headers;
  /** The final URL, after redirects. */
  url: string;
  /** Fails with a FetchError at its limits. Read or cancel it; otherwise it holds a connection until the time limit. */
  body: ReadableStream<Uint8Array> | null;
  /** Reads the whole body. Call it once, and do not read `body` as well. */
  read(): Promise<Result<Uint8Array, FetchFailure>>;
}

export type GuardedFetch = (
  address: string,
  request?: GuardedRequest,
) => Promise<Result<GuardedResponse, FetchFailure>>;

export interface GuardedFetchOptions {
  policy: AddressPolicy;
  fetch: (request: Request) => Promise<Response>;
}

interface Hop {
  url: URL;
  method: string;
  headers: Headers;
  body: string | Uint8Array | undefined;
}

const maxRedirects = 3;
const defaultDeadlineMs = 10_000;
const defaultMaxBytes = 8 * 1_024 * 1_024;

/**
 * The only fetch for addresses that others wrote: sources, subscribers, redirects. It checks each address before
 * anything is sent, limits time and bytes, and sends credentials only to the origin they are for. On every failure the
 * connection is released.
 */
export function createGuardedFetch({ policy, fetch }: GuardedFetchOptions): GuardedFetch {
  return async (address, request = {}) => {
    const { method = "GET", body, redirect = "follow", maxBytes = defaultMaxBytes } = request;
    const url = checkAddress(address, policy);
    const headers = outboundHeaders(request.headers);
    if (!url.ok || headers === undefined) return failed("refused");
    const limit = startTimeLimit(request.patience ?? { deadlineMs: defaultDeadlineMs }, request.signal);

    let hop: Hop = { url: url.value, method: method.toUpperCase(), headers, body };
    for (let redirects = 0; ; redirects += 1) {
      const response = await send(hop, fetch, limit);
      if (!response.ok) return response;
      const location = redirect === "follow" ? redirectOf(response.value) : undefined;
      if (location === undefined) return toGuardedResponse(response.value, hop, maxBytes, limit);

      discard(response.value.body);
      const next = redirects < maxRedirects ? follow(hop, response.value.status, location, policy) : undefined;
      if (next?.ok !== true) {
        limit.stop();
        return next ?? failed("too-many-redirects");
      }
      hop = next.value;
    }
  };
}

/** One request to one origin. The wait ends at the time limit even if `fetch` ignores its signal. */
async function send(
  hop: Hop,
  fetch: GuardedFetchOptions["fetch"],
  limit: TimeLimit,
): Promise<Result<Response, FetchFailure>> {
  const onTimeout = Promise.withResolvers<never>();
  const onAbort = () => onTimeout.reject(limit.signal.reason);
  try {
    limit.signal.throwIfAborted();
    limit.signal.addEventListener("abort", onAbort);
    const { method, headers, body = null } = hop;
    const request = new Request(hop.url, { method, headers, body, redirect: "manual", signal: limit.signal });
    const answered = fetch(request);
    // Discards a response that arrives after the time limit.
    answered.then(
      (response) => limit.signal.aborted && discard(response.body),
      () => {},
    );
    return ok(await Promise.race([answered, onTimeout.promise]));
  } catch (error) {
    limit.stop();
    return err(limit.signal.aborted ? failureFrom(limit.signal.reason) : failureFrom(error));
  } finally {
    limit.signal.removeEventListener("abort", onAbort);
  }
}

/** Target of a redirect. A redirect without a `Location` is a normal response, as for `fetch`. */
function redirectOf({ status, headers }: Response): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get("location") ?? undefined) : undefined;
}

/**
 * The next request of a redirect. Requests other than GET and HEAD follow only 307 and 308, and only within their
 * origin: an origin must not choose who else receives the body. For the other codes browsers send a GET instead; here
 * the message would be lost silently, and to an MCP server a GET means something else. So they are refused.
 */
function follow(hop: Hop, status: number, location: string, policy: AddressPolicy): Result<Hop, FetchFailure> {
  const target = URL.parse(location, hop.url.href);
  // Only a loopback address may redirect to a loopback address, even if the policy allows loopback.
  const allowLoopback = policy.allowLoopback === true && isLoopback(hop.url);
  const judged = target && checkAddress(target.href, { ...policy, allowLoopback });
  if (!judged?.ok) return failed("refused");
  const url = judged.value;
  const isSameOrigin = url.origin === hop.url.origin;
  const isRead = hop.method === "GET" || hop.method === "HEAD";
  if (!isRead && !(isSameOrigin && (status === 307 || status === 308))) return failed("refused");
  return ok({ ...hop, url, headers: isSameOrigin ? hop.headers : headersForOtherOrigin(hop.headers) });
}

function toGuardedResponse(
  response: Response,
  hop: Hop,
  maxBytes: number,
  limit: TimeLimit,
): Result<GuardedResponse, FetchFailure> {
  // Content-Length is not trusted, but if it is already too large, the body need not be read.
  if (response.body !== null && Number(response.headers.get("content-length")) > maxBytes) {
    limit.stop();
    discard(response.body);
    return failed("too-large");
  }
  const body = response.body && boundBody(response.body, maxBytes, limit);
  if (body === null) limit.stop();
  return ok({
    status: response.status,
    headers: responseHeaders(response.headers),
    url: hop.url.href,
    body,
    read: () => readBounded(body),
  });
}

function failed(kind: FetchFailureKind): { ok: false; error: FetchFailure } {
  return err(fetchFailure(kind));
}
