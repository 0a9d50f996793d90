/** Questions that are cached are short. A longer body bypasses the cache; the route reads it within its own limits. */
export const maxQuestionBytes = 4_096;

/** The bytes of a short body, or a stream of the whole body if it is longer. Content-Length is not trusted. */
export async function readShortBody(
  body: ReadableStream<Uint8Array>,
): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const reader = body.getReader({ mode: "byob" });
  try {
    const { value } = await reader.readAtLeast(maxQuestionBytes + 1, new Uint8Array(maxQuestionBytes + 1));
    if (value === undefined || value.byteLength <= maxQuestionBytes) return value ?? new Uint8Array();
    reader.releaseLock();
    return prependChunk(value, body.getReader());
  } catch (cause) {
    // The route that reads this stream gets the same error.
    return new ReadableStream({ start: (controller) => controller.error(cause) });
  }
}

/** A stream of a chunk that was already read, followed by the rest. */
export function prependChunk(
  first: Uint8Array | undefined,
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (first === undefined) controller.close();
      else controller.enqueue(first);
    },
    async pull(controller) {
      const { done, value } = await rest.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => rest.cancel(reason),
  });
}
