import { ok, type Result } from "../kernel/result.ts";
import { FetchError, type FetchFailure, failureFrom } from "./fetch-failure.ts";
import type { TimeLimit } from "./time-limit.ts";

type Bytes = ReadableStream<Uint8Array>;

/**
 * The body of an answer, as far as its bounds reach. Bytes are counted after decompression, as 50 kB on the wire can be
 * 50 MB here. Past a bound the stream fails with a FetchError, and the connection is let go at once, not only when
 * somebody reads on: a body that nobody reads still ends with its time.
 */
export function boundBody(source: Bytes, maxBytes: number, limit: TimeLimit): Bytes {
  const reader = source.getReader();
  let size = 0;
  const letGo = () => {
    limit.stop();
    limit.signal.removeEventListener("abort", timeIsUp);
    // Not awaited: a hostile body may take its time to be cancelled, too.
    reader.cancel().catch(() => {});
  };
  let fail: (error: unknown) => void = () => {};
  const timeIsUp = () => {
    letGo();
    fail(limit.signal.reason);
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        fail = (error) => controller.error(error);
        if (limit.signal.aborted) timeIsUp();
        else limit.signal.addEventListener("abort", timeIsUp);
      },
      async pull(controller) {
        limit.progress();
        try {
          const { done, value } = await reader.read();
          if (done) {
            letGo();
            controller.close();
            return;
          }
          limit.progress();
          size += value.byteLength;
          if (size > maxBytes) throw new FetchError("too-large");
          controller.enqueue(value);
        } catch (error) {
          letGo();
          // Changes nothing where time was up while this read waited: the stream has failed by then.
          controller.error(error instanceof FetchError ? error : new FetchError("unreachable"));
        }
      },
      cancel: letGo,
    },
    // Nothing is read ahead of who reads.
    { highWaterMark: 0 },
  );
}

/** All the bytes of a bounded body. */
export async function readBounded(body: Bytes | null): Promise<Result<Uint8Array, FetchFailure>> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch (error) {
    return { ok: false, error: failureFrom(error) };
  }
  return ok(new Uint8Array(await new Blob(chunks).arrayBuffer()));
}

/** Frees the connection of an answer that nobody will read. */
export function discard(body: Bytes | null | undefined): void {
  body?.cancel().catch(() => {});
}
