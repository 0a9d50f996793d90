/**
 * Waits for work; rejects with a TimeoutError at the timeout or when the signal aborts. The work itself continues. The
 * timer belongs to the caller's own request, because in workerd a promise of another request that was cancelled never
 * settles.
 */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number, signal?: AbortSignal): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const rejectTimeout = () => timeout.reject(new DOMException(`no answer in ${milliseconds} ms`, "TimeoutError"));
  const abort = () => timeout.reject(new DOMException("given up before an answer", "TimeoutError"));
  // A timer that is not cleared keeps a Durable Object awake.
  const timer = setTimeout(rejectTimeout, Math.max(0, milliseconds));
  signal?.addEventListener("abort", abort);
  try {
    if (signal?.aborted) abort();
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // Nobody handles a rejection of the work after the timeout.
    work.catch(() => {});
  }
}
