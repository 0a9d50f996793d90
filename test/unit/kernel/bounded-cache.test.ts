import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BoundedCache } from "../../../src/kernel/bounded-cache.ts";

describe("what is kept in memory", () => {
  it("is let go of in the order it came, but for what was asked for", () => {
    const kept = new BoundedCache<number>(3);
    for (const [index, key] of ["a", "b", "c"].entries()) kept.set(key, index);
    kept.get("a");
    kept.set("d", 3);
    expect(["a", "b", "c", "d"].map((key) => kept.get(key))).toEqual([0, undefined, 2, 3]);
  });

  it("passes over what was asked for once, not for ever", () => {
    const kept = new BoundedCache<string>(2);
    kept.set("a", "a");
    kept.get("a");
    for (const key of ["b", "c", "d", "e"]) kept.set(key, key);
    expect(kept.get("a")).toBeUndefined();
    expect(kept.get("e")).toBe("e");
  });

  it("makes room for what is new even where everything was asked for", () => {
    const kept = new BoundedCache<number>(3);
    for (const key of ["a", "b", "c"]) kept.set(key, 1);
    for (const key of ["a", "b", "c"]) kept.get(key);
    kept.set("d", 2);
    expect(kept.get("d")).toBe(2);
    expect(kept.size).toBe(3);
  });

  it("does not keep what is larger than all there is, nor what it replaces", () => {
    const kept = new BoundedCache<string>(10);
    kept.set("a", "small", 5);
    kept.set("a", "large", 11);
    expect([kept.get("a"), kept.size]).toEqual([undefined, 0]);
  });

  it("never grows past its capacity, and has what was put there last", () => {
    const step = fc.record({ key: fc.constantFrom("a", "b", "c", "d", "e"), size: fc.integer({ min: 1, max: 12 }) });
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 60 }), (steps) => {
        const kept = new BoundedCache<number>(10);
        for (const [index, [{ key, size }, asks]] of steps.entries()) {
          if (asks) kept.get(key);
          else {
            kept.set(key, index, size);
            expect(kept.get(key)).toBe(size <= 10 ? index : undefined);
          }
          expect(kept.size).toBeLessThanOrEqual(10);
          expect(kept.size).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});
