/**
 * A long computation holds every other request of the isolate, and deployed the clock does not move during it. So work
 * is counted instead of timed: in units of about a microsecond here, as many as a visited value of a document costs.
 */

/** A computation in steps: each yield states the units of work done since the one before. */
export type Steps<T> = Generator<number, T, void>;

/** Units between two pauses: about 10 ms. */
export const unitsPerPause = 10_000;

/** Units for a number of characters that are read one by one. */
export function readingUnits(characters: number): number {
  return characters / 100;
}

/** Units for checking or analysing a value whose JSON text has so many characters. */
export function analysisUnits(characters: number): number {
  return 20 + characters / 5;
}

export interface Pace {
  /** Counts work that was done. Resolves at once, or after a pause if enough was done since the last one. */
  spend: (units: number) => Promise<void>;
  /** Runs a computation to its end, with a pause wherever enough was done. */
  run: <T>(steps: Steps<T>) => Promise<T>;
}

interface PaceOptions {
  /** Lets other requests run. */
  pause: () => Promise<unknown>;
  unitsPerPause?: number;
}

/** One for each request: small documents never pause. */
export function createPace({ pause, unitsPerPause: perPause = unitsPerPause }: PaceOptions): Pace {
  let done = 0;
  async function spend(units: number): Promise<void> {
    done += units;
    if (done < perPause) return;
    done = 0;
    await pause();
  }
  return {
    spend,
    async run(steps) {
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
        done += step.value;
        if (done >= perPause) await spend(0);
      }
    },
  };
}

/** Never pauses: for scripts, tests, and documents of the registry itself. */
export const withoutPauses: Pace = createPace({ pause: async () => {}, unitsPerPause: Number.POSITIVE_INFINITY });

/** Runs a computation without pauses. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
