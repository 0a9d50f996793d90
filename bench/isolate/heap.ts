interface Reply {
  id?: number;
  result?: Record<string, number>;
  error?: { message: string };
}

/** Memory behind typed arrays is freed after what held it was collected. */
const rounds = 5;

/** What an isolate holds, as V8's inspector tells after garbage was collected. */
export async function heldBytes(inspectorUrl: string): Promise<number> {
  const socket = new WebSocket(inspectorUrl);
  const waiting = new Map<number, PromiseWithResolvers<Record<string, number>>>();
  socket.addEventListener("message", ({ data }) => {
    const { id = 0, result = {}, error } = JSON.parse(String(data)) as Reply;
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error.message));
  });
  await new Promise((open, fail) => {
    socket.addEventListener("open", open);
    socket.addEventListener("error", () => fail(new Error(`The inspector at ${inspectorUrl} does not answer`)));
  });
  const ask = (method: string) => {
    const id = waiting.size + 1;
    const answer = Promise.withResolvers<Record<string, number>>();
    waiting.set(id, answer);
    socket.send(JSON.stringify({ id, method }));
    return answer.promise;
  };
  try {
    await ask("HeapProfiler.enable");
    let held = 0;
    for (let round = 0; round < rounds; round += 1) {
      // Collects when the next question arrives, and answers after that one: so nobody waits for the answer.
      void ask("HeapProfiler.collectGarbage");
      const { usedSize = 0, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await ask("Runtime.getHeapUsage");
      held = usedSize + embedderHeapUsedSize + backingStorageSize;
    }
    return held;
  } finally {
    socket.close();
  }
}
