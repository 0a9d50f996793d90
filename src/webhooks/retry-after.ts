/** The form that RFC 9110 has senders write. The two obsolete ones are not sent by anyone we would wait for. */
const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * When a `Retry-After` header asks to be called again, in milliseconds like `now`; undefined where it does not say. Never
 * in the past, and never more than `longestMs` ahead, whatever it asks.
 */
export function readRetryAfter(header: string | null, now: number, longestMs: number): number | undefined {
  const text = header?.trim() ?? "";
  const at = /^\d{1,20}$/.test(text) ? now + Number(text) * 1_000 : httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at, now), now + longestMs);
}
