/** Rate limit per caller: `rate` units a second on average, `burst` at once. A unit is a request, a byte or an item. */
export interface Limit {
  rate: number;
  burst: number;
}

/**
 * A token bucket per caller, in memory. A new bucket starts full, so buckets that have refilled can be deleted, which
 * keeps the table small.
 */
export class RateLimiter {
  readonly #limit: Limit;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();
  readonly #capacity: number;

  constructor(limit: Limit, capacity = 10_000) {
    this.#limit = limit;
    this.#capacity = capacity;
  }

  /**
   * Takes one token or several, or returns the seconds until there are enough. More than a full bucket may be taken from a
   * full one: the next has to wait until the debt is paid.
   */
  consume(caller: string, now: number, amount = 1): { ok: true } | { ok: false; retryAfterSeconds: number } {
    const { rate, burst } = this.#limit;
    const bucket = this.#bucketOf(caller, now);
    const missing = Math.min(amount, burst) - bucket.tokens;
    if (missing > 0) return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(missing / rate)) };
    bucket.tokens -= amount;
    return { ok: true };
  }

  /** Takes tokens for work that has begun and will be finished, whether or not they are there. */
  charge(caller: string, now: number, amount: number): void {
    this.#bucketOf(caller, now).tokens -= amount;
  }

  #bucketOf(caller: string, now: number): { tokens: number; at: number } {
    const { rate, burst } = this.#limit;
    let bucket = this.#buckets.get(caller);
    if (bucket === undefined) {
      if (this.#buckets.size >= this.#capacity) this.#forgetIdle(now);
      bucket = { tokens: burst, at: now };
      this.#buckets.set(caller, bucket);
    }
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1_000) * rate);
    // If the clock steps back, the same time must not refill the bucket twice.
    bucket.at = Math.max(bucket.at, now);
    return bucket;
  }

  #forgetIdle(now: number): void {
    const { rate, burst } = this.#limit;
    for (const [caller, { tokens, at }] of this.#buckets) {
      if (tokens + ((now - at) / 1_000) * rate >= burst) this.#buckets.delete(caller);
    }
    if (this.#buckets.size < this.#capacity) return;
    // Too many callers are active at once. Those that have been silent longest go, so that one caller who keeps asking
    // under new names cannot refill the bucket of another.
    const oldest = [...this.#buckets].sort(([, a], [, b]) => a.at - b.at).slice(0, Math.ceil(this.#capacity / 4));
    for (const [caller] of oldest) this.#buckets.delete(caller);
  }
}
