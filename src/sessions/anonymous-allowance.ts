import type { LeaseRequest, SessionLease } from "./contract.ts";

/** Sessions that an isolate is allowed at once, at most. */
const mostPerLease = 100;

/** What an isolate has not used by then is given back when it asks again. */
const leaseMs = 60_000;

interface Options {
  /** Asks the one object that counts the sessions of the deployment. */
  lease: (request: LeaseRequest) => Promise<SessionLease>;
  now: () => number;
  pause: (milliseconds: number) => Promise<unknown>;
}

/** How long others wait for a request that asks the object; it may have been cancelled. */
const askingMs = 2_000;
const pollMs = 10;

/**
 * Each session is an object, so those of callers without a token are counted for the whole deployment: an isolate leases
 * some, and asks again when they are used up or a minute old. The first lease is of one session; one that was used up
 * doubles the next. So an isolate that nobody comes back to holds at most one session more than it opened, and at most
 * half of the deployment's are held by such isolates.
 */
export class AnonymousAllowance {
  readonly #options: Options;
  #leased = 0;
  #left = 0;
  /** End of the lease, and of the hour that it was counted in. */
  #until = 0;
  #hourEnds = 0;
  /** The deployment has had its sessions until then. */
  #isRefused = false;
  #askedAt: number | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Takes one session of the allowance. Returns the seconds until there may be some again if the deployment has none left. */
  async take(): Promise<{ ok: true } | { ok: false; retryAfterSeconds: number }> {
    const { now, pause } = this.#options;
    for (;;) {
      if (now() < this.#until && (this.#isRefused || this.#left > 0)) return this.#takeOne();
      // One request asks for all: a request cannot wait for the promise of another.
      if (this.#askedAt === undefined || now() - this.#askedAt > askingMs) {
        await this.#ask();
        // Whatever the time is here: the object's clock may be behind.
        return this.#takeOne();
      }
      await pause(pollMs);
    }
  }

  #takeOne(): { ok: true } | { ok: false; retryAfterSeconds: number } {
    if (this.#isRefused) {
      return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil((this.#until - this.#options.now()) / 1_000)) };
    }
    this.#left -= 1;
    return { ok: true };
  }

  async #ask(): Promise<void> {
    const { now, lease } = this.#options;
    this.#askedAt = now();
    const unused = this.#left;
    const used = this.#leased - unused;
    // Given back once: an answer that is lost loses these too.
    this.#left = 0;
    this.#leased = 0;
    const wanted = Math.min(mostPerLease, Math.max(1, unused === 0 ? 2 * used : used));
    try {
      const { sessions, until } = await lease({ wanted, unused, hourEnds: this.#hourEnds });
      this.#leased = sessions;
      this.#left = sessions;
      this.#hourEnds = until;
      this.#isRefused = sessions === 0;
      this.#until = this.#isRefused ? until : Math.min(until, now() + leaseMs);
    } finally {
      this.#askedAt = undefined;
    }
  }
}
