/**
 * What was touched since the isolate started. Exact, cheap, and what the tests and the bench count: a hot read moves
 * `memory` and nothing else. Counted where a binding is handed out (`counted.ts`), so no caller has to remember to.
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
  /** Rows that objects read and wrote in their databases, as the database counts them. */
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
 * What the objects that live in this isolate did. Locally that is all of them, so with the Worker's own counts it is
 * what a request cost. Deployed, objects have isolates of their own, and these stay what happened in this one.
 */
export const objectUsage: Usage = createUsage();

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

/** Where an answer came from, nearest first. */
export type AnswerSource = "memory" | "edge" | "kv" | "object";

const order: readonly AnswerSource[] = ["memory", "edge", "kv", "object"];

/** An answer is as far away as the farthest thing it needed. */
export function farthestSource(a: AnswerSource, b: AnswerSource): AnswerSource {
  return order.indexOf(a) >= order.indexOf(b) ? a : b;
}
