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
  /** Taken from a request that did not give it back until then. */
  until: number;
}

/** A place that was taken: call it to give the place back. */
export interface Leave {
  (): void;
  /** Says that the work goes on: only then is the place kept for longer than it was taken for. */
  renew: () => void;
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
  async enter(
    caller: string,
    pause: (milliseconds: number) => Promise<unknown>,
    keptMs = this.#limits.abandonedAfterMs,
  ): Promise<Leave | undefined> {
    const place = this.#take(caller, keptMs) ?? (await this.#wait(caller, pause, keptMs));
    if (place === undefined) {
      this.counts.refused += 1;
      return undefined;
    }
    this.counts.admitted += 1;
    const renew = () => {
      place.until = this.#now() + keptMs;
    };
    return Object.assign(() => void this.#places.delete(place), { renew });
  }

  /** Whether nobody more may wait: whoever comes now is refused. */
  get isFull(): boolean {
    this.#forgetWaiters();
    return this.#waiting.size >= this.#limits.waiting;
  }

  #forgetWaiters(): void {
    const now = this.#now();
    for (const waiter of this.#waiting) {
      if (waiter.until < now) this.#waiting.delete(waiter);
    }
  }

  async #wait(
    caller: string,
    pause: (milliseconds: number) => Promise<unknown>,
    keptMs: number,
  ): Promise<Place | undefined> {
    if (this.isFull) return undefined;
    const waiter = { until: this.#now() + this.#limits.waitMs };
    this.#waiting.add(waiter);
    this.counts.waited += 1;
    try {
      while (this.#now() < waiter.until) {
        await pause(pollMs);
        const place = this.#take(caller, keptMs);
        if (place !== undefined) return place;
      }
      return undefined;
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  #take(caller: string, keptMs: number): Place | undefined {
    const now = this.#now();
    for (const place of this.#places) {
      if (now > place.until) this.#places.delete(place);
    }
    const own = [...this.#places].some((place) => place.caller === caller);
    if (own || this.#places.size >= this.#limits.atOnce) return undefined;
    const place = { caller, until: now + keptMs };
    this.#places.add(place);
    return place;
  }
}

const pollMs = 25;
