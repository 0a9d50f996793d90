/** IMF-fixdate, the only format that RFC 9110 lets senders generate. The two obsolete formats are ignored. */
const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Time that a `Retry-After` header asks for, in milliseconds like `now`; undefined if it is missing or invalid. Never
 * in the past, and at most `maxMs` ahead.
 */
export function readRetryAfter(header: string | null, now: number, maxMs: number): number | undefined {
  const text = header?.trim() ?? "";
  const at = /^\d{1,20}$/.test(text) ? now + Number(text) * 1_000 : httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at, now), now + maxMs);
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delay before each attempt, counted from the end of the previous one. About three days in total. */
const delays = [
  ...[0, 5 * second, 5 * minute, 30 * minute],
  ...[2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
];

export const maxAttempts = delays.length;

/** Attempts are delayed by up to this share more, so that messages that failed together are not retried together. */
const jitterShare = 0.2;

/** Longest Retry-After that is honoured. */
export const maxRetryAfterMs = 24 * hour;

/** Outcome of a delivery attempt. */
export type AttemptOutcome =
  | { kind: "answered"; status: number; retryAfter: string | null }
  /** No response, or none in time. */
  | { kind: "unanswered" }
  /** Nothing was sent: the address policy refuses the address. */
  | { kind: "refused" };

type NextStep =
  | { kind: "delivered" }
  | { kind: "retry"; at: number; attempt: number }
  /**
   * `gone`: the receiver responded 410. `refused`: the address policy refuses its address. `dead`: no attempt is left.
   */
  | { kind: "disable"; reason: "gone" | "refused" | "dead" };

/**
 * The step after an attempt. Only 2xx is success: a redirect is a failure like any other, as a subscription is to one
 * address. `attempt` is the number, from 1, of the attempt that just ended, at `now` (milliseconds); `random` is in [0,
 * 1).
 */
export function nextAttempt(outcome: AttemptOutcome, attempt: number, now: number, random: number): NextStep {
  if (outcome.kind === "refused") return { kind: "disable", reason: "refused" };
  if (outcome.kind === "answered") {
    if (outcome.status >= 200 && outcome.status < 300) return { kind: "delivered" };
    if (outcome.status === 410) return { kind: "disable", reason: "gone" };
  }
  const delay = delays[attempt];
  if (delay === undefined) return { kind: "disable", reason: "dead" };
  const scheduled = now + Math.round(delay * (1 + jitterShare * random));
  const asked = outcome.kind === "answered" ? readRetryAfter(outcome.retryAfter, now, maxRetryAfterMs) : undefined;
  // Retry-After can lengthen the delay but not shorten it: the schedule also protects the registry.
  return { kind: "retry", at: Math.max(scheduled, asked ?? 0), attempt: attempt + 1 };
}
