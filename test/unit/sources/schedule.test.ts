import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextRefreshMs } from "../../../src/sources/schedule.ts";

const random = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

describe("the next reading of a source", () => {
  it("comes before what was read is five minutes old, and not at once", () => {
    fc.assert(
      fc.property(fc.option(fc.nat(10_000_000), { nil: undefined }), random, (ttlMs, chance) => {
        const next = nextRefreshMs({ ok: true, ttlMs }, chance);
        expect(next).toBeGreaterThanOrEqual(42_000);
        expect(next).toBeLessThan(300_000);
      }),
    );
  });

  it.each([
    [undefined, 210_000],
    [120_000, 84_000],
    [1_000, 42_000],
    [3_600_000, 210_000],
  ])("follows the source's own ttl of %s ms: %d ms", (ttlMs, expected) => {
    expect(nextRefreshMs({ ok: true, ttlMs }, 0)).toBe(expected);
  });

  it.each([
    [1, 30_000],
    [2, 60_000],
    [5, 480_000],
    [8, 3_600_000],
    [1_000, 3_600_000],
  ])("after %d failures waits %d ms", (failures, expected) => {
    expect(nextRefreshMs({ ok: false, failures }, 0)).toBe(expected);
  });

  it("is spread by chance", () => {
    expect(nextRefreshMs({ ok: true, ttlMs: undefined }, 0.5)).toBe(240_000);
    expect(nextRefreshMs({ ok: false, failures: 1 }, 0.5)).toBe(33_000);
  });
});
