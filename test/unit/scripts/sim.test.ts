import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type BillInputs, billOf, prices, type Scenario, usualScenario } from "../../../scripts/sim/model.ts";

const inputs = JSON.parse(readFileSync("scripts/sim/inputs.json", "utf8")) as BillInputs;
const scenario = (changed: Partial<Scenario> = {}): Scenario => ({
  ...usualScenario,
  ...{ readsPerDay: 1e8, servers: 1e5, platformCache: true },
  ...changed,
});

describe("the measured inputs", () => {
  it("say when, how and on what they were measured", () => {
    expect(inputs.measured.at).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(inputs.measured.command).toContain("npm run bench:bill");
  });

  it("have every kind of request that the model reckons with", () => {
    const kinds = [
      "hotRead",
      "readAfter2s",
      "readAfter15s",
      "readCold",
      "search",
      "cataloguePage",
      "publish",
      "webhook",
    ];
    for (const kind of kinds) expect(inputs.requests[kind], kind).toBeDefined();
    expect(Object.values(inputs.bytes).every((bytes) => bytes > 0)).toBe(true);
  });
});

describe("the bill", () => {
  it("is the sum of its items, at the platform's prices", () => {
    const { perDay, dollars } = billOf(inputs, scenario());
    const { all, ...items } = dollars;
    expect(Object.values(items).reduce((a, b) => a + b, 0)).toBeCloseTo(all, 6);
    expect(dollars.kvWrites).toBeCloseTo((perDay.kvWrites * 30 * prices.kvWrites) / 1e6, 6);
  });

  it("finds every head and body somewhere", () => {
    for (const readsPerDay of [1e6, 1e9]) {
      const { heads, bodies } = billOf(inputs, scenario({ readsPerDay }));
      expect(heads.memory + heads.edge + heads.kv).toBeCloseTo(1, 6);
      expect(bodies.memory + bodies.cache + bodies.kv).toBeCloseTo(1, 6);
      for (const share of [...Object.values(heads), ...Object.values(bodies)]) expect(share).toBeGreaterThanOrEqual(0);
    }
  });

  it("has fewer KV reads and less rendering with the platform's cache, and a request for each", () => {
    const [bare, cached] = [billOf(inputs, scenario({ platformCache: false })), billOf(inputs, scenario())];
    expect(cached.perDay.kvReads).toBeLessThan(bare.perDay.kvReads);
    expect(cached.perDay.cpuMs).toBeLessThanOrEqual(bare.perDay.cpuMs);
    expect(cached.perDay.requests).toBeGreaterThan(bare.perDay.requests);
  });

  it("grows with reads, and less than they do: more of them are in memory", () => {
    const [few, many] = [
      billOf(inputs, scenario({ readsPerDay: 1e7 })),
      billOf(inputs, scenario({ readsPerDay: 1e8 })),
    ];
    expect(many.dollars.all).toBeGreaterThan(few.dollars.all);
    expect(many.heads.memory).toBeGreaterThan(few.heads.memory);
    expect(many.perDay.kvReads).toBeLessThan(10 * few.perDay.kvReads);
  });

  it("comes to the memory of an isolate first where there are many servers", () => {
    const [wall] = billOf(inputs, scenario({ servers: 1e6, readsPerDay: 1e6 })).walls;
    expect(wall?.name).toBe("memory for the directory in an isolate");
    expect(wall?.use).toBeGreaterThan(1);
  });
});
