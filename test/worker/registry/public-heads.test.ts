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
let cache: ReturnType<typeof separateCache>;
const isolate = () =>
  new Registry({
    now: () => clock,
    cache: { match: (key) => cache.match(key), put: (key, response) => cache.put(key, response) },
  });
/** As the data centre's cache is without reads of the server for longer than it keeps entries. */
const forgetCached = () => {
  cache = separateCache();
};
const ref = () => ({ tenant: tenantKey(tenant), name: "s" });
const head = (at: Registry) => at.services.heads.resolve(ref(), allowCached);

beforeEach(async () => {
  clock = Date.now();
  cache = separateCache();
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
    expect(usage.cacheReads - cacheReads).toBe(3 * 10);
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

  it("never goes back: what one isolate has learned from the directory, the others show within 2 s", async () => {
    const { head: before } = await head(second);
    clock += 40_000;
    // The second isolate has just asked the directory when another data centre writes.
    await second.services.edgeDirectory.current({ min: { epoch: "another", generation: 0 } });
    await head(second);
    await changeElsewhere();
    clock += 25_000;
    const shown = await vi.waitFor(async () => {
      clock += 2_001;
      const { head: newer } = await head(first);
      expect(newer?.digest).not.toBe(before?.digest);
      return newer;
    });
    clock += 2_001;
    expect((await head(second)).head?.digest).toBe(shown?.digest);
  });

  it("never goes back: what one isolate has read from KV, the others show within 2 s", async () => {
    const { head: before } = await head(second);
    forgetCached();
    await changeElsewhere();
    const third = isolate();
    const copy = first.services.edgeDirectory.confirmed();
    vi.spyOn(third.services.edgeDirectory, "confirmed").mockReturnValue(copy);
    const { head: shown, source } = await head(third);
    expect(source).toBe("kv");
    expect(shown?.digest).not.toBe(before?.digest);
    // Others are told in the background.
    const until = clock + 20_000;
    await vi.waitFor(async () => {
      if (clock < until) clock += 2_001;
      expect((await head(second)).head?.digest).toBe(shown?.digest);
    });
  });

  it("is replaced within 2 s of a write that the directory missed, also if another isolate has stored it before", async () => {
    const { head: known } = await head(second);
    if (known === undefined) throw new Error("there is no head");
    const newer = { ...known, generation: known.generation + 1, asOf: known.asOf + 1 };
    await first.services.heads.confirm(newer, { epoch: "e", generation: 1 });
    await first.services.heads.confirm(newer);
    clock += 2_001;
    expect((await head(second)).head?.generation).toBe(newer.generation);
  });

  it("is replaced within 2 s of a write that was stored while the head was on its way from the cache", async () => {
    const { head: known } = await head(first);
    if (known === undefined) throw new Error("there is no head");
    const third = isolate();
    await vi.waitFor(async () => expect(await third.services.edgeDirectory.current()).toBeDefined());
    const { match } = cache;
    const written = Promise.withResolvers<void>();
    cache.match = async (key) => {
      const found = await match(key);
      if (String(key).endsWith("/s")) await written.promise;
      return found;
    };
    const late = head(third);
    await vi.waitFor(() => expect(third.services.usage.cacheReads).toBeGreaterThan(2));
    cache.match = match;
    await first.services.heads.confirm({ ...known, generation: known.generation + 1, asOf: known.asOf + 1 });
    clock += 5;
    written.resolve();
    expect((await late).head?.generation).toBe(known.generation);
    clock += 2_001;
    expect((await head(third)).head?.generation).toBe(known.generation + 1);
  });

  it("is read again once in a minute, in case the directory never learns of a write", async () => {
    const { kvReads } = second.services.usage;
    forgetCached();
    for (let passed = 0; passed <= 62_000; passed += 2_001) {
      clock += 2_001;
      await head(second);
    }
    expect(second.services.usage.kvReads).toBe(kvReads + 1);
  });
});

/** A write that no isolate of this data centre takes part in. */
async function changeElsewhere(): Promise<void> {
  const mine = await memberOf(tenant);
  await mine.publish("s", tools("one", "two"));
  await drained(tenant);
  await built();
}
