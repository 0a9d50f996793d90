import { err, ok, type Result } from "../kernel/result.ts";
import { type AddressPolicy, checkAddress, isLoopback } from "./address.ts";
import { boundBody, discard, readBounded } from "./bounded-body.ts";
import { type FetchFailure, type FetchFailureKind, failureFrom, fetchFailure } from "./fetch-failure.ts";
import { headersForOtherOrigin, outboundHeaders, readableHeaders } from "./headers.ts";
import { startTimeLimit, type TimeLimit, type TimeLimits } from "./time-limit.ts";

export interface GuardedRequest {
  method?: string;
  /** All that is sent. Nothing of the request that the registry itself is answering is ever added. */
  headers?: HeadersInit;
  /** Whole, so that it can be sent again after a redirect. */
  body?: string | Uint8Array;
  /** `manual` hands a redirect to the caller as the answer. */
  redirect?: "follow" | "manual";
  patience?: TimeLimits;
  /** Of the decoded body. */
  maxBytes?: number;
  signal?: AbortSignal | null;
}

export interface GuardedResponse {
  status: number;
  headers: Headers;
  /** Where the answer came from, after redirects. */
  url: string;
  /** Fails with a FetchError at its bounds. Read it or cancel it; otherwise it holds a connection until its time is up. */
  body: ReadableStream<Uint8Array> | null;
  /** The whole body; to be called once, and instead of reading `body`. */
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
 * The one way out of the registry, for every address that somebody else wrote: sources, subscribers, redirects. It
 * judges each address before anything is sent, bounds time and bytes, and keeps credentials at the origin they are for.
 * On every failure the connection has been let go.
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
      if (location === undefined) return answer(response.value, hop, maxBytes, limit);

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

/** One request to one origin. The wait ends with its time even where a `fetch` does not heed its signal. */
async function send(
  hop: Hop,
  fetch: GuardedFetchOptions["fetch"],
  limit: TimeLimit,
): Promise<Result<Response, FetchFailure>> {
  const timeIsUp = Promise.withResolvers<never>();
  const onAbort = () => timeIsUp.reject(limit.signal.reason);
  try {
    limit.signal.throwIfAborted();
    limit.signal.addEventListener("abort", onAbort);
    const { method, headers, body = null } = hop;
    const request = new Request(hop.url, { method, headers, body, redirect: "manual", signal: limit.signal });
    const answered = fetch(request);
    // An answer that comes after all, when nobody waits for it any more.
    answered.then(
      (response) => limit.signal.aborted && discard(response.body),
      () => {},
    );
    return ok(await Promise.race([answered, timeIsUp.promise]));
  } catch (error) {
    limit.stop();
    return err(limit.signal.aborted ? failureFrom(limit.signal.reason) : failureFrom(error));
  } finally {
    limit.signal.removeEventListener("abort", onAbort);
  }
}

/** Where an answer sends its reader. A redirect without a target is an answer like any other, as for `fetch`. */
function redirectOf({ status, headers }: Response): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get("location") ?? undefined) : undefined;
}

/**
 * The next request of a redirect. What was to be written is sent on only by 307 and 308, and only within its origin:
 * one origin must not choose who else gets the body. The other codes would make a GET of it, as browsers do; here the
 * message would be lost without a word, and to an MCP server a GET means something else. So they are refused.
 */
function follow(hop: Hop, status: number, location: string, policy: AddressPolicy): Result<Hop, FetchFailure> {
  const target = URL.parse(location, hop.url.href);
  // Only this machine may point to this machine, whatever the policy lets a person write.
  const allowLoopback = policy.allowLoopback === true && isLoopback(hop.url);
  const judged = target && checkAddress(target.href, { ...policy, allowLoopback });
  if (!judged?.ok) return failed("refused");
  const url = judged.value;
  const isSameOrigin = url.origin === hop.url.origin;
  const isRead = hop.method === "GET" || hop.method === "HEAD";
  if (!isRead && !(isSameOrigin && (status === 307 || status === 308))) return failed("refused");
  return ok({ ...hop, url, headers: isSameOrigin ? hop.headers : headersForOtherOrigin(hop.headers) });
}

function answer(
  response: Response,
  hop: Hop,
  maxBytes: number,
  limit: TimeLimit,
): Result<GuardedResponse, FetchFailure> {
  // The announced length is no promise, but one that is too large already saves the reading.
  if (response.body !== null && Number(response.headers.get("content-length")) > maxBytes) {
    limit.stop();
    discard(response.body);
    return failed("too-large");
  }
  const body = response.body && boundBody(response.body, maxBytes, limit);
  if (body === null) limit.stop();
  return ok({
    status: response.status,
    headers: readableHeaders(response.headers),
    url: hop.url.href,
    body,
    read: () => readBounded(body),
  });
}

function failed(kind: FetchFailureKind): { ok: false; error: FetchFailure } {
  return err(fetchFailure(kind));
}
