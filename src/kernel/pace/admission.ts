/** Costly requests: two at once in an isolate, one of a caller; a few wait for a short time. Others never wait here. */
interface AdmissionLimits {
  atOnce: number;
  waiting: number;
  waitMs: number;
  /** A request that was cancelled cannot give its place back, and loses it after this time. */
  abandonedAfterMs: number;
}

const limits: AdmissionLimits = { atOnce: 2, waiting: 8, waitMs: 5_000, abandonedAfterMs: 60_000 };

interface Place {
  caller: string;
  since: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #now: () => number;
  readonly #places = new Set<Place>();
  /** Until when each of those who wait does so: a request that was cancelled meanwhile does not say that it left. */
  readonly #waiting = new Set<{ until: number }>();
  /** Requests that were let in, that waited before, and that were sent away, since the isolate started. */
  readonly counts = { admitted: 0, waited: 0, refused: 0 };

  constructor(now: () => number, changed: Partial<AdmissionLimits> = {}) {
    this.#now = now;
    this.#limits = { ...limits, ...changed };
  }

  /**
   * Takes a place for a caller. Returns a function that gives it back, or undefined if there was none in time. Who waits
   * asks again and again: in workerd a request cannot wake another, whose wait would then never end.
   */
  async enter(caller: string, pause: (milliseconds: number) => Promise<unknown>): Promise<(() => void) | undefined> {
    const place = this.#take(caller) ?? (await this.#wait(caller, pause));
    if (place === undefined) {
      this.counts.refused += 1;
      return undefined;
    }
    this.counts.admitted += 1;
    return () => void this.#places.delete(place);
  }

  async #wait(caller: string, pause: (milliseconds: number) => Promise<unknown>): Promise<Place | undefined> {
    const { waiting, waitMs } = this.#limits;
    const now = this.#now();
    for (const waiter of this.#waiting) {
      if (waiter.until < now) this.#waiting.delete(waiter);
    }
    if (this.#waiting.size >= waiting) return undefined;
    const waiter = { until: now + waitMs };
    this.#waiting.add(waiter);
    this.counts.waited += 1;
    try {
      while (this.#now() < waiter.until) {
        await pause(pollMs);
        const place = this.#take(caller);
        if (place !== undefined) return place;
      }
      return undefined;
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  #take(caller: string): Place | undefined {
    const now = this.#now();
    for (const place of this.#places) {
      if (now - place.since > this.#limits.abandonedAfterMs) this.#places.delete(place);
    }
    const own = [...this.#places].some((place) => place.caller === caller);
    if (own || this.#places.size >= this.#limits.atOnce) return undefined;
    const place = { caller, since: now };
    this.#places.add(place);
    return place;
  }
}

const pollMs = 25;
