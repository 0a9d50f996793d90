import { discard } from "./bounded-body.ts";
import { FetchError } from "./fetch-failure.ts";
import type { GuardedFetch, GuardedRequest } from "./guarded-fetch.ts";

export type StandardFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Statuses that a Response has no body with, not even an empty one. */
const bodiless = new Set([204, 205, 304]);

/**
 * A guarded fetch in the shape of the standard one, for code that brings its own idea of requests. A failure rejects
 * with a FetchError; a caller's abort rejects with the caller's own reason, which such code looks for.
 */
export function toStandardFetch(
  guardedFetch: GuardedFetch,
  bounds: Pick<GuardedRequest, "patience" | "maxBytes"> = {},
): StandardFetch {
  return async (input, init) => {
    const request = readRequest(input, init);
    const body = request.body === null ? {} : { body: new Uint8Array(await request.arrayBuffer()) };
    // As it was written, where it was: the parser behind Request would smooth over what is to be judged.
    const result = await guardedFetch(typeof input === "string" ? input : request.url, {
      ...bounds,
      ...body,
      method: request.method,
      headers: request.headers,
      redirect: request.redirect === "follow" ? "follow" : "manual",
      signal: request.signal,
    });
    if (!result.ok) {
      request.signal.throwIfAborted();
      throw new FetchError(result.error.kind);
    }
    const { status, headers, url, body: stream } = result.value;
    const isBodiless = bodiless.has(status);
    // Some servers answer 999, which no Response can have as its status.
    const isStandard = status >= 200 && status <= 599;
    if (isBodiless || !isStandard) discard(stream);
    if (!isStandard) throw new FetchError("unreachable");
    const response = new Response(isBodiless ? null : stream, { status, headers });
    // A Response made by hand has no address, and relative links in it would lead nowhere.
    return Object.defineProperty(response, "url", { value: url });
  };
}

/** The runtime's own error would repeat the address or header that it does not like, and with it a password. */
function readRequest(input: string | URL | Request, init: RequestInit | undefined): Request {
  try {
    return new Request(input, init);
  } catch {
    throw new FetchError("refused");
  }
}
