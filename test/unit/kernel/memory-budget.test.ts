import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryBudget } from "../../../src/kernel/memory-budget.ts";

/** Bytes of an entry with a key of one character and a value of no size. */
const smallest = (() => {
  const budget = new MemoryBudget(1_000_000);
  budget.cache("one").set("a", 1, 0);
  return budget.bytes;
})();

/** Room for this many of the smallest entries. */
const roomFor = (entries: number) => new MemoryBudget(entries * smallest);

describe("a memory budget", () => {
  it("evicts the oldest entry first, whichever cache holds it", () => {
    const budget = roomFor(4);
    const [one, other] = [budget.cache<number>("one"), budget.cache<number>("other")];
    one.set("a", 1, 0);
    other.set("a", 2, 0);
    one.set("b", 3, 0);
    other.set("b", 4, 0);
    other.set("c", 5, 0);
    expect([one.get("a"), other.get("a"), one.get("b"), other.get("b"), other.get("c")]).toEqual([
      undefined,
      2,
      3,
      4,
      5,
    ]);
  });

  it("gives an entry that was read a second chance, but not a third", () => {
    const budget = roomFor(4);
    const cache = budget.cache<string>("one");
    for (const key of ["a", "b", "c", "d"]) cache.set(key, key, 0);
    cache.get("a");
    cache.set("e", "e", 0);
    expect(cache.entries).toBe(4);
    // The second chance of a is used up: entries that are added later push it out with the rest.
    for (const key of ["f", "g", "h", "i"]) cache.set(key, key, 0);
    expect(["a", "b", "c", "d", "e"].map((key) => cache.get(key))).toEqual(Array(5).fill(undefined));
    expect(cache.get("i")).toBe("i");
  });

  it("keeps an entry that is read all the time", () => {
    const budget = roomFor(4);
    const cache = budget.cache<string>("one");
    cache.set("a", "a", 0);
    for (const key of ["b", "c", "d", "e", "f", "g", "h", "i", "j"]) {
      expect(cache.get("a")).toBe("a");
      cache.set(key, key, 0);
    }
    expect([cache.get("a"), cache.get("b")]).toEqual(["a", undefined]);
  });

  it("stores a new entry even if every other entry was read", () => {
    const budget = roomFor(4);
    const cache = budget.cache<number>("one");
    for (const key of ["a", "b", "c", "d"]) cache.set(key, 1, 0);
    for (const key of ["a", "b", "c", "d"]) cache.get(key);
    cache.set("e", 2, 0);
    expect([cache.get("e"), cache.entries]).toEqual([2, 4]);
  });

  it("stores nothing that would take more than a quarter, and drops the value it would have replaced", () => {
    const budget = new MemoryBudget(10_000);
    const cache = budget.cache<string>("one");
    cache.set("a", "small", 100);
    cache.set("a", "large", 2_500);
    expect([cache.get("a"), budget.bytes]).toEqual([undefined, 0]);
  });

  it("reports what each cache holds", () => {
    const budget = new MemoryBudget(100_000);
    const [one, other] = [budget.cache<number>("one"), budget.cache<number>("other")];
    budget.cache("empty");
    one.set("a", 1, 50);
    one.set("b", 1, 50);
    other.set("a", 1, 500);
    other.clear();
    other.set("b", 1, 0);
    expect(budget.usage()).toEqual({
      one: { entries: 2, bytes: 2 * (smallest + 50) },
      other: { entries: 1, bytes: smallest },
      empty: { entries: 0, bytes: 0 },
    });
    expect(() => budget.cache("one")).toThrow("there is a cache one already");
  });

  it("never exceeds its capacity, knows what it holds, and has the value that was stored last", () => {
    const step = fc.record({
      cache: fc.constantFrom("one", "two", "three"),
      key: fc.constantFrom("a", "b", "c", "d", "e"),
      size: fc.integer({ min: 0, max: 700 }),
      action: fc.constantFrom("set", "set", "get", "delete", "clear"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const budget = new MemoryBudget(3_200);
        const caches = new Map(["one", "two", "three"].map((name) => [name, budget.cache<number>(name)]));
        for (const [index, { cache: name, key, size, action }] of steps.entries()) {
          const cache = caches.get(name);
          if (action === "get") cache?.get(key);
          if (action === "delete") cache?.delete(key);
          if (action === "clear") cache?.clear();
          if (action === "set") {
            cache?.set(key, index, size);
            expect(cache?.get(key)).toBe(size + smallest <= 800 ? index : undefined);
          }
          const held = Object.values(budget.usage());
          expect(held.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(budget.bytes);
          expect(budget.bytes).toBeLessThanOrEqual(3_200);
        }
      }),
    );
  });
});
