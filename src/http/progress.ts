import { eventText } from "../domain/event-stream.ts";
import type { Failure } from "../domain/failure.ts";
import type { Result } from "../domain/result.ts";
import type { Progress } from "../mcp/tool.ts";
import { sessionError } from "./answer.ts";

/** Work that tells how far it is. */
export type Reporting = (report: (progress: Progress) => void) => Promise<Result<unknown, Failure>>;

/** Runs work and tells of it as server-sent events: `progress` as it goes, then one `result` or `error`. */
export function progressStream(work: Reporting, onLeft: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let left = false;
  return new ReadableStream({
    async start(controller) {
      const send = (name: string, data: unknown) => {
        if (!left) controller.enqueue(encoder.encode(eventText({ name, data })));
      };
      const outcome = await work((progress) => send("progress", progress));
      if (outcome.ok) send("result", outcome.value);
      else send("error", sessionError(outcome.error));
      if (!left) controller.close();
    },
    cancel() {
      left = true;
      onLeft();
    },
  });
}
