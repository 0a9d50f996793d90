import { beforeEach, describe, expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { allowCached } from "../../../src/registry/read.ts";
import { built } from "../directory/edges.ts";
import { member as memberOf } from "../support/member.ts";
import { drained, Registry, tools } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

/** Two isolates of one data centre. */
let clock: number;
let first: Registry;
let second: Registry;
let tenant: string;
let round = 0;
const ref = () => ({ tenant: tenantKey(tenant), name: "s" });
const head = (at: Registry) => at.services.heads.resolve(ref(), allowCached);

beforeEach(async () => {
  clock = Date.now();
  const cache = separateCache();
  const isolate = () => new Registry({ now: () => clock, cache });
  [first, second] = [isolate(), isolate()];
  tenant = `heads-${++round}`;
  const mine = await memberOf(tenant);
  await mine.publish("s", tools("one"));
  await mine.put({ name: "s", visibility: "public" });
  await drained(tenant);
  await built();
  for (const { services } of [first, second]) {
    await vi.waitFor(async () => expect(await services.edgeDirectory.current()).toBeDefined());
    await services.heads.resolve(ref(), allowCached);
  }
});

describe("the head of a public server in memory", () => {
  it("stays while the directory's copy shows the same generation, and nothing is read for it", async () => {
    const before = await head(first);
    clock += 2_001;
    // Once in two seconds the isolate looks what others of its data centre did, whatever it has.
    expect(await head(first)).toBe(before);
    const { cacheReads, kvReads, objectCalls } = first.services.usage;
    for (let look = 1; look <= 10; look += 1) {
      clock += 2_001;
      expect(await head(first)).toBe(before);
    }
    const { usage } = first.services;
    expect({ kvReads: usage.kvReads, objectCalls: usage.objectCalls }).toEqual({ kvReads, objectCalls });
    expect(usage.cacheReads - cacheReads).toBe(2 * 10);
  });

  it("is replaced within 2 s of a write that the directory missed, through another isolate", async () => {
    const { head: known } = await head(second);
    if (known === undefined) throw new Error("there is no head");
    const newer = { ...known, generation: known.generation + 1, asOf: known.asOf + 1 };
    await first.services.heads.confirm(newer);
    clock += 2_001;
    expect((await head(second)).head?.generation).toBe(newer.generation);
  });

  it("is replaced within 2 s of a later confirmation of the same state, through another isolate", async () => {
    const mine = await memberOf(tenant);
    await mine.publish("other", tools("else"));
    await drained(tenant);
    const strong = await first.services.heads.resolve(ref(), { strong: true, minGeneration: 0 });
    expect(strong.asOf).toBeGreaterThan((await head(second)).asOf);
    await vi.waitFor(async () => {
      clock += 2_001;
      expect((await head(second)).asOf).toBe(strong.asOf);
    });
  });

  it("is replaced at once by a write through its isolate, and within 2 s by one through another", async () => {
    const mine = await memberOf(tenant);
    await head(second);
    await mine.publish("s", tools("one", "two"));
    await drained(tenant);
    const written = await first.services.heads.resolve(ref(), { strong: true, minGeneration: 0 });
    if (written.head === undefined) throw new Error("there is no head");
    // As the operation does that wrote it.
    await first.services.heads.confirm(written.head, { epoch: "e", generation: 1 });
    expect((await head(first)).head?.digest).toBe(written.head.digest);
    clock += 2_001;
    expect((await head(second)).head?.digest).toBe(written.head.digest);
  });
});
