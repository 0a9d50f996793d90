import { routePath } from "hono/route";
import { matchesEtag } from "../domain/etag.ts";
import type { Services } from "../services.ts";
import type { KeptAnswer } from "../storage/kept-answers.ts";
import { type AnswerMeta, validators } from "./answer.ts";
import type { RequestContext } from "./context.ts";
import { anonymousSubject } from "./request.ts";

/** How long a caller without a token is nobody in particular: as long as the word of one with a token is taken. */
const anonymousMs = 60_000;

/**
 * The answer to a GET that the same caller asked before, if nothing it was made from has moved since; undefined sends the
 * request the long way. Awaits nothing and touches nothing but memory. What a request tells of itself is looked at once:
 * each look costs as much as everything else here.
 */
export function answerAgain(services: Services, { url, headers }: Request): Response | undefined {
  const kept = findKept(services, headers, url);
  if (kept === undefined) return undefined;
  const { unchanged } = kept;
  const ifNoneMatch = unchanged && headers.get("If-None-Match");
  if (unchanged && ifNoneMatch && matchesEtag(ifNoneMatch, unchanged.etag)) {
    services.metrics.record(kept.route, 304, 0, "memory");
    return unchanged.response;
  }
  if (!(kept.body instanceof Uint8Array)) return undefined;
  services.metrics.record(kept.route, 200, 0, "memory");
  return new Response(kept.body, { headers: kept.headers });
}

/** What is kept for the caller under a question, their turn taken. */
export function findKept(services: Services, headers: Headers, question: string): KeptAnswer | undefined {
  const now = services.now();
  const authorization = headers.get("Authorization");
  const kept = services.kept.find(keyOf(question, authorization), now);
  if (kept === undefined || isParticular(services, headers)) return undefined;
  // Who has no turn left is told so the long way.
  return services.reads.take(kept.subject ?? anonymousSubject(headers), now).ok ? kept : undefined;
}

/** Whether a request wants what is not in every answer: something newer, an id of its own, leave for its page. */
function isParticular({ config }: Services, headers: Headers): boolean {
  return (
    headers.has("Cache-Control") ||
    headers.has("Rollcall-Min-Generation") ||
    headers.has("X-Request-Id") ||
    (config.corsOrigins !== "*" && headers.has("Origin"))
  );
}

interface Keeping {
  question: string;
  body: KeptAnswer["body"];
  contentType: string;
  meta: AnswerMeta;
  holds: () => boolean;
}

/** Keeps what is being answered from memory, to be sent again as long as it holds. */
export function keepAnswer(
  c: RequestContext,
  services: Services,
  { question, body, contentType, meta, holds }: Keeping,
) {
  const { headers: given } = c.req.raw;
  if (isParticular(services, given)) return;
  const authorization = given.get("Authorization");
  const subject = authorization === null ? undefined : c.get("subject");
  const until =
    authorization === null ? services.now() + anonymousMs : services.authenticator.trustedUntil(authorization);
  const common = { ...validators(services, undefined, meta, 0), ...meta.headers };
  const headers = new Headers({ "Content-Type": contentType, "X-Content-Type-Options": "nosniff", ...common });
  const unchanged = new Response(null, { status: 304, headers: common });
  services.kept.keep(keyOf(question, authorization), {
    route: `${c.req.method} ${routePath(c)}`,
    body,
    headers,
    ...(meta.etag === undefined ? {} : { unchanged: { etag: meta.etag, response: unchanged } }),
    ...(subject === undefined ? {} : { subject }),
    until,
    holds,
  });
}

/** A caller is known by what they present: what was answered to one is never answered to another. */
function keyOf(question: string, authorization: string | null): string {
  return authorization === null ? question : `${question} ${authorization}`;
}
