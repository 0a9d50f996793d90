/** The form that RFC 9110 has senders write. The two obsolete ones are not sent by anyone we would wait for. */
const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * When a `Retry-After` header asks to be called again, in milliseconds like `now`; undefined where it does not say. Never
 * in the past, and never more than `longestMs` ahead, whatever it asks.
 */
export function readRetryAfter(header: string | null, now: number, maxMs: number): number | undefined {
  const text = header?.trim() ?? "";
  const at = /^\d{1,20}$/.test(text) ? now + Number(text) * 1_000 : httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at, now), now + maxMs);
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** What goes before each attempt, counted from the end of the one before. About three days in all. */
const delays = [
  ...[0, 5 * second, 5 * minute, 30 * minute],
  ...[2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
];

export const maxAttempts = delays.length;

/** An attempt comes up to this much later than its delay says, so that what failed together does not return together. */
const jitterShare = 0.2;

/** The longest that a subscriber may put an attempt off. */
export const maxRetryAfterMs = 24 * hour;

/** How an attempt to deliver ended. */
export type AttemptOutcome =
  | { kind: "answered"; status: number; retryAfter: string | null }
  /** No answer in time, or none at all. */
  | { kind: "unanswered" }
  /** Nothing was sent: the address is not one that the registry asks. */
  | { kind: "refused" };

export type NextStep =
  | { kind: "delivered" }
  | { kind: "retry"; at: number; attempt: number }
  /** `gone`: the subscriber said so. `refused`: its address may not be asked. `dead`: no attempt is left. */
  | { kind: "disable"; reason: "gone" | "refused" | "dead" };

/**
 * What follows an attempt. Only 2xx is success: a redirect is a failure like any other, as a subscription is to one
 * address. `attempt` counts from 1 and is the one that just ended, at `now` (milliseconds); `random` is in [0, 1).
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
  // A subscriber may ask for more time, not for less: the schedule also spares the registry.
  return { kind: "retry", at: Math.max(scheduled, asked ?? 0), attempt: attempt + 1 };
}
