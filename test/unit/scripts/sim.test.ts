import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type BillInputs, billOf, cachedSearches, type Scenario, usualScenario } from "../../../scripts/sim/model.ts";
import { limits, priceList } from "../../../scripts/sim/platform.ts";

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

  it.each(Object.keys(inputs.requests))("of %s are all reckoned with", (kind) => {
    const { [kind]: one, ...others } = inputs.requests;
    expect(() => billOf({ ...inputs, requests: others }, scenario())).toThrow(`The measured inputs lack ${kind}.`);
    expect(one?.cpuMs).toBeGreaterThan(0);
  });

  it("are of discovery in two sizes of directory, from the isolate's copy and by the object", () => {
    const [few, many] = inputs.discovery;
    expect(many.cards).toBeGreaterThan(5 * few.cards);
    for (const { search, cataloguePage, searchByObject, pageByObject } of [few, many]) {
      expect([search, cataloguePage].map(({ operations }) => operations["objectCalls"])).toEqual([0, 0]);
      expect([searchByObject, pageByObject].map(({ operations }) => operations["objectCalls"])).toEqual([1, 1]);
    }
    expect(Object.values(inputs.bytes).every((bytes) => bytes > 0)).toBe(true);
  });
});

describe("prices and limits", () => {
  it.each([...Object.entries(priceList), ...Object.entries(limits)])("%s has a source", (_, { source }) => {
    expect(source).toMatch(/^https:\/\/developers\.cloudflare\.com\/|^docs\/|^wrangler\.toml$/);
  });

  it("are those of this project's own settings", () => {
    const toml = readFileSync("wrangler.toml", "utf8");
    expect(toml).toContain(`DIRECTORY_MB = "${limits.directoryBytes.value / 1024 ** 2}"`);
    expect(toml).toContain(`cpu_ms = ${limits.requestCpuMs.value / 1_000}_000`);
  });
});

describe("the bill", () => {
  it("is the sum of its items, at the platform's prices", () => {
    const { perDay, dollars } = billOf(inputs, scenario());
    const { all, ...items } = dollars;
    expect(Object.values(items).reduce((a, b) => a + b, 0)).toBeCloseTo(all, 6);
    expect(dollars.kvWrites).toBeCloseTo((perDay.kvWrites * 30 * priceList.kvWrites.dollars) / 1e6, 6);
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

  it("has an object call for what only a tenant's object can confirm, at most one a minute in a data centre", () => {
    const calls = (publicShare: number) => billOf(inputs, scenario({ publicShare, servers: 1e3 })).perDay.objectCalls;
    expect(calls(0.1)).toBeGreaterThan(calls(0.9));
    const all = scenario({ publicShare: 0, servers: 1, readsPerDay: 1e9, searchShare: 0, catalogueShare: 0 });
    const aDay = usualScenario.dataCentres * 24 * 60;
    const { objectCalls } = billOf(inputs, { ...all, writesPerServer: 0 }).perDay;
    expect(objectCalls / aDay).toBeGreaterThan(0.9);
    expect(objectCalls / aDay).toBeLessThanOrEqual(1);
  });

  it("asks the directory's object where isolates cannot have a copy, and then comes to a wall", () => {
    const use = (servers: number) => {
      const { walls } = billOf(inputs, scenario({ servers }));
      return Object.fromEntries(walls.map((wall) => [wall.short, wall.use]));
    };
    expect(use(1e3)).toMatchObject({ memory: expect.closeTo(0.1, 0), "object CPU": 0 });
    expect(use(1e5)["memory"]).toBeGreaterThan(1);
    expect(use(1e5)["object CPU"]).toBeGreaterThan(1);
    // Searches and pages each for themselves.
    for (const shares of [
      { searchShare: 1, catalogueShare: 0 },
      { searchShare: 0, catalogueShare: 1 },
    ]) {
      const calls = (servers: number) => billOf(inputs, scenario({ ...shares, servers })).perDay.objectCalls;
      expect(calls(1e5) - calls(1e3)).toBeGreaterThan(0.9e8);
    }
  });
});

describe("searches behind the platform's cache", () => {
  const at = (changed: Partial<Scenario>) => cachedSearches(inputs, scenario(changed));

  it("are found there less often the more is published, because each change makes another key", () => {
    expect(at({ servers: 1e4 }).hits).toBeGreaterThan(at({ servers: 1e5 }).hits);
    expect(at({ servers: 1e4, readsPerDay: 1e6 }).hits).toBeLessThan(at({ servers: 1e4 }).hits);
  });

  it("cost more than they save where isolates rank by themselves and are asked little", () => {
    const { with: cached, without } = at({ servers: 1e4, readsPerDay: 1e6 });
    expect(cached).toBeGreaterThan(without);
  });
});
