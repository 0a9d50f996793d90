import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
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
    const [one, other] = [budget.cache<number>("one", { share: 1 }), budget.cache<number>("other", { share: 1 })];
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
    const cache = budget.cache<string>("one", { share: 1 });
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
    const cache = budget.cache<string>("one", { share: 1 });
    cache.set("a", "a", 0);
    for (const key of ["b", "c", "d", "e", "f", "g", "h", "i", "j"]) {
      expect(cache.get("a")).toBe("a");
      cache.set(key, key, 0);
    }
    expect([cache.get("a"), cache.get("b")]).toEqual(["a", undefined]);
  });

  it("stores a new entry even if every other entry was read", () => {
    const budget = roomFor(4);
    const cache = budget.cache<number>("one", { share: 1 });
    for (const key of ["a", "b", "c", "d"]) cache.set(key, 1, 0);
    for (const key of ["a", "b", "c", "d"]) cache.get(key);
    cache.set("e", 2, 0);
    expect([cache.get("e"), cache.entries]).toEqual([2, 4]);
  });

  it("stores nothing that would take more than a quarter, and drops the value it would have replaced", () => {
    const budget = new MemoryBudget(10_000);
    const cache = budget.cache<string>("one", { share: 1 });
    cache.set("a", "small", 100);
    cache.set("a", "large", 2_500);
    expect([cache.get("a"), budget.bytes]).toEqual([undefined, 0]);
  });

  it("keeps a cache within its share, at the expense of its own entries", () => {
    const budget = roomFor(8);
    const other = budget.cache<number>("other", { share: 1 });
    const cache = budget.cache<number>("one", { share: 1 / 4 });
    other.set("a", 1, 0);
    for (const [index, key] of ["a", "b", "c", "d"].entries()) cache.set(key, index, 0);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key))).toEqual([undefined, undefined, 2, 3]);
    expect(other.get("a")).toBe(1);
  });

  it("lets no cache push out what is reserved for another", () => {
    const budget = roomFor(8);
    const marks = budget.cache<number>("marks", { reserved: 1 / 4 });
    const cache = budget.cache<number>("one", { share: 1 });
    for (const [index, key] of ["a", "b", "c"].entries()) marks.set(key, index, 0);
    for (let index = 0; index < 30; index += 1) cache.set(String(index % 10), index, 0);
    expect(["a", "b", "c"].map((key) => marks.get(key))).toEqual([undefined, 1, 2]);
    expect(() => budget.cache("more", { reserved: 1 / 3 })).toThrow("more than half of the memory is reserved");
  });

  it.each([Number.NaN, -1_000, Number.POSITIVE_INFINITY])("stores nothing of the size %d", (size) => {
    const budget = new MemoryBudget(10_000);
    const cache = budget.cache<number>("one");
    cache.set("a", 1, size);
    expect([cache.get("a"), budget.bytes]).toEqual([undefined, 0]);
  });

  it("reports what each cache holds", () => {
    const budget = new MemoryBudget(100_000);
    const [one, other] = [budget.cache<number>("one", { share: 1 }), budget.cache<number>("other", { share: 1 })];
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

  it("lets go of entries that were replaced, although nothing was ever evicted", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const cache = new MemoryBudget(1_000_000).cache<object>("one");
    const replaced: WeakRef<object>[] = [];
    for (let round = 0; round < 100; round += 1) {
      for (let key = 0; key < 20; key += 1) {
        const value = { round, key };
        cache.set(String(key), value, 0);
        if (round < 99) replaced.push(new WeakRef(value));
      }
    }
    // A WeakRef keeps its target until the current job ends.
    await new Promise((resolve) => setTimeout(resolve));
    collect();
    expect(replaced.filter((value) => value.deref() !== undefined)).toHaveLength(0);
    expect(cache.entries).toBe(20);
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
