import type { StreamObject } from "./stream-object.ts";

/** The verbs of a caller's streams. */
export type StreamStub = Pick<StreamObject, "open" | "endSession" | "notify" | "count">;

/** The streams of one caller live in one object, where they can be counted. */
export function streamOf(env: Pick<Env, "STREAMS">, subject: string): StreamStub {
  return env.STREAMS.get(env.STREAMS.idFromName(subject)) as unknown as StreamStub;
}

/** The object that asked to be told, by the id it gave. */
export function watcherOf(env: Pick<Env, "STREAMS">, id: string): StreamStub {
  return env.STREAMS.get(env.STREAMS.idFromString(id)) as unknown as StreamStub;
}
