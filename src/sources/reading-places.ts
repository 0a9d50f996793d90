/** Sources of a tenant read at once; each needs several connections, and a Worker may have six. */
const atOnce = 4;
/** How long a place is safe from those who wait. Two rounds of it are shorter than the time-out of one request. */
const safeMs = 4_000;

/** What a reading in a place may do: `hurry` is aborted once another source needs the place. */
type Reading<T> = (hurry: AbortSignal) => Promise<T>;

interface Held {
  readonly controller: AbortController;
  isSafe: boolean;
}

/**
 * Places to read a source in. Nobody knows that a source will hang before it does: so who holds a place for longer than
 * four seconds gives it up as soon as another source waits, those who hold one longest first.
 */
export class ReadingPlaces {
  readonly #held = new Set<Held>();
  readonly #waiting: (() => void)[] = [];
  #free = atOnce;

  /** The result of `read`, or "gave-up" if it was told to hurry. */
  async run<T>(read: Reading<T>): Promise<T | "gave-up"> {
    if (this.#free > 0) this.#free -= 1;
    else {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        this.#makeRoom();
      });
    }
    const held: Held = { controller: new AbortController(), isSafe: true };
    const { signal } = held.controller;
    this.#held.add(held);
    const timer = setTimeout(() => {
      held.isSafe = false;
      this.#makeRoom();
    }, safeMs);
    try {
      const result = await read(signal);
      return signal.aborted ? "gave-up" : result;
    } finally {
      clearTimeout(timer);
      this.#held.delete(held);
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #makeRoom(): void {
    const leaving = [...this.#held].filter(({ controller }) => controller.signal.aborted).length;
    const slow = [...this.#held].filter(({ controller, isSafe }) => !isSafe && !controller.signal.aborted);
    for (const { controller } of slow.slice(0, Math.max(0, this.#waiting.length - leaving))) controller.abort();
  }
}
