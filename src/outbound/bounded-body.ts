import { ok, type Result } from "../kernel/result.ts";
import { FetchError, type FetchFailure, failureFrom } from "./fetch-failure.ts";
import type { TimeLimit } from "./time-limit.ts";

type Bytes = ReadableStream<Uint8Array>;

/**
 * Limits bytes and time of a response body. Bytes are counted after decompression, as 50 kB on the wire can be 50 MB
 * decoded. At a limit the stream fails with a FetchError and the connection is released at once, not at the next read:
 * the time limit also ends a body that nobody reads.
 */
export function boundBody(source: Bytes, maxBytes: number, limit: TimeLimit): Bytes {
  const reader = source.getReader();
  let size = 0;
  const release = () => {
    limit.stop();
    limit.signal.removeEventListener("abort", onTimeout);
    // Not awaited: a hostile server may delay the cancellation, too.
    reader.cancel().catch(() => {});
  };
  let fail: (error: unknown) => void = () => {};
  const onTimeout = () => {
    release();
    fail(limit.signal.reason);
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        fail = (error) => controller.error(error);
        if (limit.signal.aborted) onTimeout();
        else limit.signal.addEventListener("abort", onTimeout);
      },
      async pull(controller) {
        limit.progress();
        try {
          const { done, value } = await reader.read();
          if (done) {
            release();
            controller.close();
            return;
          }
          limit.progress();
          size += value.byteLength;
          if (size > maxBytes) throw new FetchError("too-large");
          controller.enqueue(value);
        } catch (error) {
          release();
          // No effect if the time limit ended the stream during this read: the stream has already failed.
          controller.error(error instanceof FetchError ? error : new FetchError("unreachable"));
        }
      },
      cancel: release,
    },
    // No read-ahead.
    { highWaterMark: 0 },
  );
}

/** Reads all bytes of a bounded body. */
export async function readBounded(body: Bytes | null): Promise<Result<Uint8Array, FetchFailure>> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch (error) {
    return { ok: false, error: failureFrom(error) };
  }
  return ok(new Uint8Array(await new Blob(chunks).arrayBuffer()));
}

/** Releases the connection of a response that nobody will read. */
export function discard(body: Bytes | null | undefined): void {
  body?.cancel().catch(() => {});
}
