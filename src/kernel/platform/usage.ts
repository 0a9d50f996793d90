/**
 * Operations since the isolate started. Exact and cheap; tests and the bench compare these counts: a hot read adds to
 * `memory` only. The wrapped bindings do the counting (`counted-bindings.ts`, `counted-storage.ts`, `cache-api.ts`), so
 * that no caller can forget it.
 */
export interface Usage {
  memory: number;
  cacheReads: number;
  cacheWrites: number;
  kvReads: number;
  /** Puts and deletes. */
  kvWrites: number;
  /** Calls of a Durable Object, by the Worker or by another object. */
  objectCalls: number;
  /** Rows read and written in the objects' databases, as SQLite counts them. */
  rowsRead: number;
  rowsWritten: number;
}

export function createUsage(): Usage {
  return {
    memory: 0,
    cacheReads: 0,
    cacheWrites: 0,
    kvReads: 0,
    kvWrites: 0,
    objectCalls: 0,
    rowsRead: 0,
    rowsWritten: 0,
  };
}

/**
 * Usage of the Durable Objects in this isolate. Locally all objects run in it, so the sum with the Worker's usage is
 * the full cost of a request. Deployed, objects run in other isolates, and these counts cover this isolate only.
 */
export const objectUsage: Usage = createUsage();

/** The same of the builder of segments, which runs behind the requests and for many of them at once. */
export const builderUsage: Usage = createUsage();

export function sumOfUsage(a: Usage, b: Usage): Usage {
  return {
    memory: a.memory + b.memory,
    cacheReads: a.cacheReads + b.cacheReads,
    cacheWrites: a.cacheWrites + b.cacheWrites,
    kvReads: a.kvReads + b.kvReads,
    kvWrites: a.kvWrites + b.kvWrites,
    objectCalls: a.objectCalls + b.objectCalls,
    rowsRead: a.rowsRead + b.rowsRead,
    rowsWritten: a.rowsWritten + b.rowsWritten,
  };
}

/** The layer that a response came from, nearest first. */
export type AnswerSource = "memory" | "edge" | "kv" | "object";

const order: readonly AnswerSource[] = ["memory", "edge", "kv", "object"];

/** The source of a response made from two parts is the farther of the two. */
export function farthestSource(a: AnswerSource, b: AnswerSource): AnswerSource {
  return order.indexOf(a) >= order.indexOf(b) ? a : b;
}
