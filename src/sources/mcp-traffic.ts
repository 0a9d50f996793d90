import type { SourceBounds } from "./contract.ts";

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** One request and what came of it, so far. */
export interface Exchange {
  status?: number;
  contentType?: string;
  /** What `fetch` or the reading of the body failed with. */
  thrown?: unknown;
}

/**
 * Everything that goes to one source and comes back, within its bounds. It also remembers what was seen on the wire:
 * the SDK reports the same refusal in many ways, some only as text.
 */
export interface Traffic {
  fetch: Fetch;
  /** Aborts when a bound is reached. */
  readonly signal: AbortSignal;
  /** The bound that was reached. */
  readonly stopped: "timeout" | "too-large" | undefined;
  /** The latest exchange, or the latest that carried this JSON-RPC method. */
  latest(method?: string): Exchange | undefined;
  /** Nothing more is coming: lets the clock go. */
  end(): void;
}

/** A session is ended also when the time for reading it is over. */
const sessionCloseMs = 1_000;
/** Handshakes, notifications and answers to pings, beside the pages of four lists. */
const maxOtherRequests = 32;

export function createTraffic(fetch: Fetch, bounds: SourceBounds): Traffic {
  const controller = new AbortController();
  const byMethod = new Map<string, Exchange>();
  let latest: Exchange | undefined;
  let stopped: Traffic["stopped"];
  let bytes = 0;
  // A source may put questions to its client, each of which would be answered by a request.
  let requestsLeft = 4 * bounds.pages + maxOtherRequests;

  const stop = (bound: NonNullable<Traffic["stopped"]>) => {
    if (stopped !== undefined) return;
    stopped = bound;
    controller.abort(new DOMException("a bound of the source was reached", "AbortError"));
  };
  const clock = setTimeout(() => stop("timeout"), bounds.deadlineMs);

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
            stream.enqueue(value);
          } catch (error) {
            exchange.thrown = error;
            stream.error(error);
            // Not awaited: a hostile body may take its time to be cancelled, too.
            reader.cancel().catch(() => {});
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    const headers = new Headers(response.headers);
    // They are about the bytes on the wire, which are decoded by now.
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

      const isGoodbye = init.method === "DELETE";
      const bound = isGoodbye ? AbortSignal.timeout(sessionCloseMs) : controller.signal;
      const signal = init.signal ? AbortSignal.any([bound, init.signal]) : bound;
      try {
        const response = await fetch(input, { ...init, signal });
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

function methodOf(body: unknown): string | undefined {
  if (typeof body !== "string") return undefined;
  const { method } = JSON.parse(body) as { method?: unknown };
  return typeof method === "string" ? method : undefined;
}
