import { countedStub } from "../../storage/counted.ts";
import type { Operations } from "../../storage/operations.ts";
import type { StreamObject } from "./stream-object.ts";

/** The verbs of a caller's streams. */
export type StreamStub = Pick<StreamObject, "open" | "endSession" | "notify" | "count">;

/** The streams of one caller live in one object, where they can be counted. */
export function streamOf(env: Pick<Env, "STREAMS">, subject: string, operations: Operations): StreamStub {
  return countedStub(env.STREAMS.get(env.STREAMS.idFromName(subject)), operations) as unknown as StreamStub;
}

/** The object that asked to be told, by the id it gave. */
export function watcherOf(env: Pick<Env, "STREAMS">, id: string, operations: Operations): StreamStub {
  return countedStub(env.STREAMS.get(env.STREAMS.idFromString(id)), operations) as unknown as StreamStub;
}
