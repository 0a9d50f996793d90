/** A stream of which the beginning was read already, as one from the beginning. */
export function resumed(
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
