import { discard } from "./bounded-body.ts";
import { FetchError } from "./fetch-failure.ts";
import type { GuardedFetch, GuardedRequest } from "./guarded-fetch.ts";

type StandardFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Statuses with which a Response may not have a body, not even an empty one. */
const bodiless = new Set([204, 205, 304]);

/**
 * A guarded fetch with the interface of the standard `fetch`, for libraries that make their own requests. A failure
 * rejects with a FetchError; a caller's abort rejects with the caller's own reason, which such libraries check.
 */
export function toStandardFetch(
  guardedFetch: GuardedFetch,
  bounds: Pick<GuardedRequest, "patience" | "maxBytes"> = {},
): StandardFetch {
  return async (input, init) => {
    const request = readRequest(input, init);
    const body = request.body === null ? {} : { body: new Uint8Array(await request.arrayBuffer()) };
    // A string is passed as written: parsing it to a Request would normalise what the address check must see.
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
    // Some servers answer 999; a Response accepts only 200 to 599.
    const isStandard = status >= 200 && status <= 599;
    if (isBodiless || !isStandard) discard(stream);
    if (!isStandard) throw new FetchError("unreachable");
    const response = new Response(isBodiless ? null : stream, { status, headers });
    // A constructed Response has no URL, so relative links in it could not be resolved.
    return Object.defineProperty(response, "url", { value: url });
  };
}

/** Hides the runtime's error, which repeats the invalid address or header and with it possibly a password. */
function readRequest(input: string | URL | Request, init: RequestInit | undefined): Request {
  try {
    return new Request(input, init);
  } catch {
    throw new FetchError("refused");
  }
}
