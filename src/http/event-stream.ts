import type { Principal } from "../auth/principal.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { send } from "./respond.ts";

/** A stream is ended after this and taken up again by its client, so that none outlives a deploy or a token for long. */
const maxMs = 600_000;

/** How long a stream of this caller may stay open: never past their token. */
export function streamLifetimeMs(principal: Principal, now: number): number {
  return Math.min(maxMs, principal.expiresAt * 1_000 - now);
}

/** Whether the caller would have events rather than a document. */
export function wantsEvents(c: RequestContext): boolean {
  return /\btext\/event-stream\b/i.test(c.req.header("Accept") ?? "");
}

export function sendEvents(
  c: RequestContext,
  services: HttpDeps,
  stream: ReadableStream<Uint8Array> | null,
  headers: Record<string, string> = {},
): Response {
  return send(c, services, stream, "text/event-stream; charset=utf-8", {
    headers: { "Cache-Control": "no-store", "X-Accel-Buffering": "no", ...headers },
  });
}
