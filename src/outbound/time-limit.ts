import { FetchError, type FetchFailureKind } from "./fetch-failure.ts";

/**
 * Time limits of an exchange: in total, per idle period, or both. A stream that stays open has an idle limit only; in
 * total it is limited by its number of bytes.
 */
export type TimeLimits = { deadlineMs: number; idleMs?: number } | { idleMs: number };

/** Timers of one exchange, including its redirects and the body. */
export interface TimeLimit {
  /** Aborts with a FetchError at a time limit or when the caller aborts. */
  readonly signal: AbortSignal;
  /**
   * Restarts the idle timer: data arrived or was requested. A reader that requests nothing counts as idle, too; this
   * releases the connection of an abandoned body.
   */
  progress(): void;
  /** Ends the exchange: clears all timers and listeners. */
  stop(): void;
}

export function startTimeLimit(patience: TimeLimits, caller?: AbortSignal | null): TimeLimit {
  const controller = new AbortController();
  let running = true;
  const end = (kind: FetchFailureKind) => {
    stop();
    controller.abort(new FetchError(kind));
  };
  const onTimeout = () => end("timeout");
  const giveUp = () => end("cancelled");
  /** Starts a timer, if a time is given, and returns the function that stops it. */
  const endAfter = (milliseconds: number | undefined): (() => void) => {
    if (milliseconds === undefined) return () => {};
    const timer = setTimeout(onTimeout, milliseconds);
    return () => clearTimeout(timer);
  };

  const stopDeadline = endAfter("deadlineMs" in patience ? patience.deadlineMs : undefined);
  let stopIdleTimer = endAfter(patience.idleMs);
  const stop = () => {
    running = false;
    stopDeadline();
    stopIdleTimer();
    caller?.removeEventListener("abort", giveUp);
  };
  const progress = () => {
    if (!running) return;
    stopIdleTimer();
    stopIdleTimer = endAfter(patience.idleMs);
  };

  if (caller?.aborted) giveUp();
  else caller?.addEventListener("abort", giveUp);
  return { signal: controller.signal, progress, stop };
}
