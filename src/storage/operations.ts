/**
 * What this isolate has touched since it started. Exact, cheap, and what the tests and the bench count: a hot read
 * moves `memory` and nothing else.
 */
export interface Operations {
  memory: number;
  cacheReads: number;
  cacheWrites: number;
  kvReads: number;
  objectCalls: number;
}

export function createOperations(): Operations {
  return { memory: 0, cacheReads: 0, cacheWrites: 0, kvReads: 0, objectCalls: 0 };
}

/** Where an answer came from, nearest first. */
export type Source = "memory" | "edge" | "kv" | "object";

const order: readonly Source[] = ["memory", "edge", "kv", "object"];

/** An answer is as far away as the farthest thing it needed. */
export function farther(a: Source, b: Source): Source {
  return order.indexOf(a) >= order.indexOf(b) ? a : b;
}
