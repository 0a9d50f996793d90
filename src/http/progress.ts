import { eventText } from "../domain/event-stream.ts";
import type { Failure } from "../domain/failure.ts";
import type { Result } from "../domain/result.ts";
import type { Progress } from "../mcp/tool.ts";
import { sessionError } from "./answer.ts";

/** Work that tells how far it is. It never throws: the answer has begun by then. */
export type Reporting = (report: (progress: Progress) => void) => Promise<Result<unknown, Failure>>;

/** Runs work and tells of it as server-sent events: `progress` as it goes, then one `result` or `error`. */
export function progressStream(
  work: Reporting,
  onLeft: () => void,
): { stream: ReadableStream<Uint8Array>; working: Promise<void> } {
  const encoder = new TextEncoder();
  const finished = Promise.withResolvers<void>();
  let left = false;
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (name: string, data: unknown) => {
        if (!left) controller.enqueue(encoder.encode(eventText({ name, data })));
      };
      const outcome = await work((progress) => send("progress", progress));
      if (outcome.ok) send("result", outcome.value);
      else send("error", sessionError(outcome.error));
      if (!left) controller.close();
      finished.resolve();
    },
    cancel() {
      left = true;
      onLeft();
    },
  });
  return { stream, working: finished.promise };
}
