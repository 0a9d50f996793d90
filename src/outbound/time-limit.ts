import { FetchError, type FetchFailureKind } from "./fetch-failure.ts";

/**
 * How long an exchange may take: all of it, or each silence within it, or both. A stream that stays open has silences
 * only; what bounds it as a whole is then the number of its bytes.
 */
export type TimeLimits = { deadlineMs: number; idleMs?: number } | { idleMs: number };

/** The clock of one exchange, over all its redirects and the body. */
export interface TimeLimit {
  /** Aborts with a FetchError when time is up or the caller gives up. */
  readonly signal: AbortSignal;
  /**
   * Something arrived or was asked for: a silence is counted anew. A reader who asks for nothing is silent, too; the
   * connection of a body that was forgotten is freed by this.
   */
  progress(): void;
  /** The exchange is over: nothing is left behind that would run later. */
  stop(): void;
}

export function startTimeLimit(patience: TimeLimits, caller?: AbortSignal | null): TimeLimit {
  const controller = new AbortController();
  let running = true;
  const end = (kind: FetchFailureKind) => {
    stop();
    controller.abort(new FetchError(kind));
  };
  const timeIsUp = () => end("timeout");
  const giveUp = () => end("cancelled");
  /** Starts a timer, if there is a time for it, and says how to stop it. */
  const endAfter = (milliseconds: number | undefined): (() => void) => {
    if (milliseconds === undefined) return () => {};
    const timer = setTimeout(timeIsUp, milliseconds);
    return () => clearTimeout(timer);
  };

  const stopDeadline = endAfter("deadlineMs" in patience ? patience.deadlineMs : undefined);
  let stopSilence = endAfter(patience.idleMs);
  const stop = () => {
    running = false;
    stopDeadline();
    stopSilence();
    caller?.removeEventListener("abort", giveUp);
  };
  const progress = () => {
    if (!running) return;
    stopSilence();
    stopSilence = endAfter(patience.idleMs);
  };

  if (caller?.aborted) giveUp();
  else caller?.addEventListener("abort", giveUp);
  return { signal: controller.signal, progress, stop };
}
