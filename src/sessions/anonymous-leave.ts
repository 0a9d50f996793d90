import type { SessionLease } from "./contract.ts";

/** Sessions that an isolate gets leave for at once. */
export const sessionsPerLease = 100;

interface Options {
  /** Asks the one object that counts the sessions of the deployment. */
  lease: () => Promise<SessionLease>;
  now: () => number;
  pause: (milliseconds: number) => Promise<unknown>;
}

/** How long others wait for a request that asks the object; it may have been cancelled. */
const askingMs = 2_000;
const pollMs = 10;

/**
 * Each session is an object, so those of callers without a token are counted for the whole deployment: an isolate gets
 * leave for many at a time, and asks again when they are used up. What it did not use by the end of the hour is lost.
 */
export class AnonymousLeave {
  readonly #options: Options;
  #left = 0;
  #until = 0;
  /** The deployment has had its sessions until then. */
  #isRefused = false;
  #askedAt: number | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Leave for one session. Returns the seconds until there may be some again if the deployment has none left. */
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
    this.#askedAt = this.#options.now();
    try {
      const { sessions, until } = await this.#options.lease();
      this.#left = sessions;
      this.#until = until;
      this.#isRefused = sessions === 0;
    } finally {
      this.#askedAt = undefined;
    }
  }
}
