import { createPace, type Pace } from "../pace/pace.ts";

/** The pace of one request: other requests of the isolate run in its pauses. */
export function createWorkerPace(): Pace {
  return createPace({ pause: () => scheduler.wait(0) });
}
