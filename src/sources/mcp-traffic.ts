import { readJson } from "../kernel/read-json.ts";
import { FetchError } from "../outbound/fetch-failure.ts";
import type { SourceBounds } from "./contract.ts";

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** One HTTP request and its outcome so far. */
export interface Exchange {
  status?: number;
  contentType?: string;
  /** The beginning of the body of a refusal, as far as it was read. */
  said?: string;
  /** Error thrown by `fetch` or while the body was read. */
  thrown?: unknown;
}

/**
 * All HTTP traffic with one source, within the bounds. Records each exchange, because the SDK reports the same refusal
 * in many ways, some only as text.
 */
export interface Traffic {
  fetch: Fetch;
  /** Aborts when a bound is exceeded. */
  readonly signal: AbortSignal;
  /** The exceeded bound. */
  readonly stopped: "timeout" | "too-large" | undefined;
  /** The latest exchange, or the latest one with this JSON-RPC method. */
  latest(method?: string): Exchange | undefined;
  /** Clears the deadline timer. */
  end(): void;
}

/** Time limit for ending the session, which happens even after the deadline. */
const sessionCloseMs = 1_000;
/** Handshakes, notifications and replies to pings, in addition to the pages of four lists. */
const maxOtherRequests = 32;

/** `hurry` ends it before its time, as its deadline would. */
export function createTraffic(fetch: Fetch, bounds: SourceBounds, hurry?: AbortSignal): Traffic {
  const controller = new AbortController();
  const byMethod = new Map<string, Exchange>();
  let latest: Exchange | undefined;
  let stopped: Traffic["stopped"];
  let bytes = 0;
  // Limited, because a source may send requests to its client, and each reply is another request.
  let requestsLeft = 4 * bounds.pages + maxOtherRequests;
  let isFirst = true;

  const stop = (bound: NonNullable<Traffic["stopped"]>) => {
    if (stopped !== undefined) return;
    stopped = bound;
    controller.abort(new DOMException("a bound of the source was reached", "AbortError"));
  };
  const clock = setTimeout(() => stop("timeout"), bounds.deadlineMs);
  hurry?.addEventListener("abort", () => stop("timeout"));

  const counted = (response: Response, exchange: Exchange): Response => {
    if (response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(stream) {
          try {
            const { done, value } = await reader.read();
            if (done) return stream.close();
            bytes += value.byteLength;
            if (bytes > bounds.bytes) stop("too-large");
            controller.signal.throwIfAborted();
            listen(exchange, value);
            stream.enqueue(value);
          } catch (error) {
            exchange.thrown = error;
            stream.error(error);
            // Not awaited: a hostile body may delay its cancellation.
            reader.cancel().catch(() => {});
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    const headers = new Headers(response.headers);
    // Both headers describe the encoded bytes; the body is already decoded.
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    const { status, statusText, url } = response;
    return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
  };

  return {
    signal: controller.signal,
    get stopped() {
      return stopped;
    },
    latest: (method) => (method === undefined ? latest : byMethod.get(method)),
    end: () => clearTimeout(clock),
    fetch: async (input, init = {}) => {
      const exchange: Exchange = {};
      latest = exchange;
      const method = methodOf(init.body);
      if (method !== undefined) byMethod.set(method, exchange);
      requestsLeft -= 1;
      if (requestsLeft < 0) stop("too-large");

      const isSessionDelete = init.method === "DELETE";
      const bound = isSessionDelete ? AbortSignal.timeout(sessionCloseMs) : controller.signal;
      const signal = init.signal ? AbortSignal.any([bound, init.signal]) : bound;
      const send = () => fetch(input, { ...init, signal });
      // The runtime may have kept a connection to a process that was restarted since. Only the first request can meet
      // one, and nothing has changed at the source, so it is sent again.
      const sendAgain = isFirst;
      isFirst = false;
      try {
        const response = await send().catch((error) => {
          if (sendAgain && isConnectionFailure(error) && !signal.aborted) return send();
          throw error;
        });
        exchange.status = response.status;
        exchange.contentType = response.headers.get("content-type") ?? "none";
        return counted(response, exchange);
      } catch (error) {
        exchange.thrown = error;
        throw error;
      }
    },
  };
}

function isConnectionFailure(error: unknown): boolean {
  return error instanceof FetchError && error.failure.kind === "unreachable";
}

const maxSaid = 1_024;

/** Keeps the beginning of a refusal: whoever runs the source knows best what is wrong with it. */
function listen(exchange: Exchange, bytes: Uint8Array): void {
  const { status = 0, said = "" } = exchange;
  if (status < 400 || said.length >= maxSaid) return;
  exchange.said = said + new TextDecoder().decode(bytes.subarray(0, maxSaid - said.length));
}

function methodOf(body: unknown): string | undefined {
  if (typeof body !== "string") return undefined;
  const { method } = readJson(body) as { method?: unknown };
  return typeof method === "string" ? method : undefined;
}
