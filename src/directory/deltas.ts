import type { LoadedSegment } from "./view.ts";

/** Everything that changed after generation `since`, as it was when the isolate asked. */
export interface Delta {
  since: number;
  segment: LoadedSegment;
}

/** As many deltas of about one size are replaced by one. */
const mergedAtOnce = 8;

/**
 * The generation from which the next delta should start. Usually the present one, so that a write costs what it changed. When
 * seven deltas of one size have come together, the next one replaces them: a change is then sent once for each
 * size, and there are never many deltas.
 */
export function nextSince(deltas: readonly Delta[], generation: number): number {
  let start = deltas.length;
  for (let size = 0; ; size += 1) {
    let first = start;
    while (first > 0 && sizeOf(deltas[first - 1]) <= size) first -= 1;
    if (start - first < mergedAtOnce - 1) break;
    start = first;
  }
  return deltas[start]?.since ?? generation;
}

/** A delta replaces those that it includes. One whose start is no longer among them includes only a part: it is added. */
export function withDelta(deltas: readonly Delta[], { since, segment }: Delta): Delta[] {
  const start = deltas.findIndex((delta) => delta.since === since);
  return [...(start < 0 ? deltas : deltas.slice(0, start)), { since, segment }];
}

/** 0 for fewer than eight servers, 1 for fewer than 64 … */
function sizeOf(delta: Delta | undefined): number {
  return Math.floor(Math.log2(Math.max(1, delta?.segment.segment.places ?? 0)) / Math.log2(mergedAtOnce));
}
