import { describe, expect, it } from "vitest";
import { slopeOf } from "../../bench/harness/statistics.ts";

describe("the slope of measured points", () => {
  it("is that of the line they lie on", () => {
    expect(slopeOf([0, 1, 2, 5].map((x) => ({ x, y: 7 - 2 * x })))).toBeCloseTo(-2);
  });

  it("is 0 where noise goes up and down alike", () => {
    expect(slopeOf([3, 9, 9, 3].map((y, x) => ({ x, y })))).toBeCloseTo(0);
  });

  it("is 0 for one point, and for none", () => {
    expect([slopeOf([{ x: 1, y: 5 }]), slopeOf([])]).toEqual([0, 0]);
  });
});
