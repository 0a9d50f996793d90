import { describe, expect, it } from "vitest";
import { type Delta, nextSince, withDelta } from "../../../src/directory/deltas.ts";
import { encodeSegment } from "../../../src/directory/encode-segment.ts";
import { decodeSegment } from "../../../src/directory/segment.ts";
import { place } from "./places.ts";

/** A delta of so many servers. */
function delta(since: number, servers: number): Delta {
  const names = Array.from({ length: servers }, (_, at) => String(at).padStart(4, "0"));
  const decoded = decodeSegment(
    encodeSegment(
      names.map((name) => place("a", name, { cards: [] })),
      "inline",
    ).bytes,
  );
  if (!decoded.ok) throw new Error(decoded.error);
  return { since, segment: { segment: decoded.value, forms: new Map(), bytes: 0 } };
}

/** Deltas of an isolate that asks after each of some writes to different servers, and how many servers it was sent. */
function afterWrites(writes: number): { deltas: readonly Delta[]; sent: number } {
  let deltas: readonly Delta[] = [];
  let sent = 0;
  for (let generation = 1; generation <= writes; generation += 1) {
    const since = nextSince(deltas, generation - 1);
    deltas = withDelta(deltas, delta(since, generation - since));
    sent += generation - since;
  }
  return { deltas, sent };
}

describe("what has changed since a root", () => {
  it("is sent from the present state on, so that a write costs what it changed", () => {
    expect(nextSince([], 7)).toBe(7);
    expect(nextSince([delta(3, 1), delta(4, 2)], 7)).toBe(7);
  });

  it("comes together where there are seven deltas of one size", () => {
    const small = [4, 5, 6, 7, 8, 9, 10].map((since) => delta(since, 1));
    expect(nextSince([delta(3, 8), ...small], 11)).toBe(4);
    const large = [1, 2, 3, 4, 5, 6, 7].map((since) => delta(since, 8));
    expect(nextSince([...large, ...small], 11)).toBe(1);
    expect(nextSince([delta(0, 100), ...large, ...small], 11)).toBe(1);
  });

  it("is in few deltas, and each change was sent once for each size", () => {
    const { deltas, sent } = afterWrites(400);
    expect(deltas.length).toBeLessThanOrEqual(21);
    expect(sent).toBeLessThan(3.2 * 400);
    expect(deltas.map(({ since }) => since)).toEqual(deltas.map(({ since }) => since).toSorted((a, b) => a - b));
  });

  it("keeps what a delta does not include", () => {
    const [first, second, third] = [delta(1, 1), delta(2, 1), delta(3, 1)];
    expect(withDelta([first, second], third)).toEqual([first, second, third]);
    expect(withDelta([first, second, third], delta(2, 2)).map(({ since }) => since)).toEqual([1, 2]);
    // What it should have replaced was replaced by another meanwhile.
    expect(withDelta([first], delta(2, 2)).map(({ since }) => since)).toEqual([1, 2]);
  });
});
