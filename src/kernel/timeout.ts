/**
 * Waits for work, and rejects with a TimeoutError when the time is up or the signal aborts. The work itself goes on. The
 * timer belongs to the caller: in workerd a promise of a request that was cancelled never settles.
 */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number, signal?: AbortSignal): Promise<T> {
  const given = Promise.withResolvers<never>();
  const giveUp = () => given.reject(new DOMException(`no answer in ${milliseconds} ms`, "TimeoutError"));
  const abort = () => given.reject(new DOMException("given up before an answer", "TimeoutError"));
  // A timer that is left running keeps a Durable Object awake.
  const timer = setTimeout(giveUp, Math.max(0, milliseconds));
  signal?.addEventListener("abort", abort);
  try {
    if (signal?.aborted) abort();
    return await Promise.race([work, given.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // Work that fails after the time is up has no one left to report to.
    work.catch(() => {});
  }
}
