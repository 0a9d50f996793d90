import { describe, expect, it } from "vitest";
import { HeldPlaces, heldPlace, keptSegments } from "../../../src/directory/held-places.ts";
import { card, place, tombstone, version } from "./places.ts";

describe("what the builder knows of its segments", () => {
  it("counts what is live, and how much of each segment is", () => {
    const held = new HeldPlaces();
    held.add(1, [
      heldPlace(place("a", "1", { cards: [card("x"), card("y")] })),
      heldPlace(place("a", "2", { versions: [version("1.0.0")] })),
    ]);
    expect(held.frequencies).toEqual({ servers: 2, cards: 3, versions: 1, tokens: 21 });
    expect(held.liveShare(1)).toBe(1);
    held.add(2, [heldPlace(tombstone("a", "1"))]);
    expect(held.frequencies).toEqual({ servers: 1, cards: 1, versions: 1, tokens: 7 });
    expect(held.liveShare(1)).toBe(0.5);
    held.add(3, [heldPlace(place("a", "2"))]);
    expect(held.frequencies).toEqual({ servers: 1, cards: 1, versions: 0, tokens: 7 });
    expect([1, 2, 3].map((id) => held.liveShare(id))).toEqual([0, 1, 1]);
  });

  it("adds the parts of a place, and forgets them together", () => {
    const held = new HeldPlaces();
    held.add(1, [heldPlace(place("a", "1"))]);
    held.add(2, [heldPlace({ ...tombstone("a", "1"), part: 1, cards: [card("z")] })]);
    expect(held.frequencies).toEqual({ servers: 1, cards: 2, versions: 0, tokens: 14 });
    held.add(3, [heldPlace(tombstone("a", "1"))]);
    expect(held.frequencies).toEqual({ servers: 0, cards: 0, versions: 0, tokens: 0 });
    expect([1, 2].map((id) => held.liveShare(id))).toEqual([0, 0]);
  });
});

describe("a merge", () => {
  const whole = (...sizes: number[]) => sizes.map((bytes) => ({ bytes, liveShare: 1 }));

  it.each([
    ["leaves much larger segments alone", whole(100_000, 10_000), 2_000, 2],
    ["takes segments that are not much larger", whole(100_000, 3_000), 2_000, 1],
    ["goes on while the sum grows with it", whole(100_000, 8_000, 3_500), 2_000, 1],
    ["takes everything that is small", whole(1_000, 1_000), 2_000, 0],
    ["stops at what is large", whole(3 * 2 ** 20, 2 * 2 ** 20), 2 ** 20, 1],
    ["writes nothing else without segments", [], 2_000, 0],
    [
      "starts at a segment that is mostly replaced",
      [...whole(9e6), { bytes: 9e6, liveShare: 0.4 }, ...whole(9e6)],
      1,
      1,
    ],
  ])("%s", (_, segments, added, kept) => {
    expect(keptSegments(segments, added)).toBe(kept);
  });

  it("keeps the number of segments small, however many changes come", () => {
    let sizes: number[] = [];
    for (let change = 0; change < 5_000; change += 1) {
      const kept = keptSegments(whole(...sizes), 2_000);
      sizes = [...sizes.slice(0, kept), sizes.slice(kept).reduce((sum, size) => sum + size, 2_000)];
      expect(sizes.length).toBeLessThan(18);
    }
  });
});
