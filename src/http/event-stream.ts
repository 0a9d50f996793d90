import type { Principal } from "../auth/principal.ts";
import type { RequestContext } from "./context.ts";

/** Streams end after this time and clients reconnect, so that no stream outlives a deploy or a token for long. */
const maxMs = 600_000;

/** Maximum time a stream of this caller stays open: never past the expiry of the token. */
export function streamLifetimeMs(principal: Principal, now: number): number {
  return Math.min(maxMs, principal.expiresAt * 1_000 - now);
}

export function wantsEvents(c: RequestContext): boolean {
  return /\btext\/event-stream\b/i.test(c.req.header("Accept") ?? "");
}

/** Media type and headers of a stream. */
export function streamMeta(headers: Record<string, string> = {}) {
  return {
    type: "text/event-stream; charset=utf-8",
    headers: { "Cache-Control": "no-store", "X-Accel-Buffering": "no", ...headers },
  };
}
