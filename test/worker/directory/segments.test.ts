import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { directoryOf } from "../../../src/objects/stubs.ts";
import { member } from "../support/member.ts";
import { drained, tools } from "../support/registry.ts";
import { staleKv } from "../support/stale-kv.ts";
import { built, inDirectory, isolate, shown, stub } from "./edges.ts";

const directory = directoryOf(env, createUsage());
const state = async () => (await directory.sync(undefined)) as { epoch: string; generation: number };
const segmentKeys = async () =>
  (await env.REGISTRY.list({ prefix: "directory/segment/" })).keys.map(({ name }) => name);

/** What this file has published, as a view shows it: other files share nothing with it. */
describe.sequential("what is public", () => {
  it("is in KV after the builder ran, and private servers are not", async () => {
    const mine = await member("seg");
    await mine.post({ name: "open", visibility: "public", description: "For all." });
    await mine.publish("open", tools("pear", "apple"));
    await mine.publish("closed", tools("secret"));
    await drained("seg");
    await built();
    const { directory: copy, settled } = isolate();
    expect(await copy.current()).toBeUndefined();
    await settled();
    const view = await copy.current();
    expect(shown(view)).toEqual(["seg/open: apple pear"]);
    expect(view).toMatchObject(await stateOnly());
    for (const key of await segmentKeys()) {
      const text = new TextDecoder().decode(
        await env.REGISTRY.get(key, "arrayBuffer").then((value) => value ?? undefined),
      );
      expect(text).not.toContain("secret");
    }
  });

  it("raises the public generation, and nothing private does", async () => {
    const mine = await member("seg");
    const before = await state();
    await mine.publish("closed", tools("secret", "another"));
    await drained("seg");
    expect((await state()).generation).toBe(before.generation);
    await mine.publish("open", tools("pear", "apple", "plum"));
    await drained("seg");
    expect((await state()).generation).toBe(before.generation + 1);
    await drained("seg");
    expect((await state()).generation).toBe(before.generation + 1);
  });

  it("is seen at once where it was written, and within the minute elsewhere, whatever KV shows", async () => {
    let time = Date.now();
    const now = () => time;
    const late = staleKv(env.REGISTRY, now, 300_000);
    const here = isolate({ now });
    const there = isolate({ now, kv: late });
    await built();
    await here.view();
    await there.view();
    const mine = await member("seg");
    await mine.publish("open", tools("pear"));
    await drained("seg");
    here.directory.noteWrite();
    expect(shown(await here.directory.current())).toEqual(["seg/open: pear"]);
    expect(shown(await there.directory.current())).toEqual(["seg/open: apple pear plum"]);
    await built();
    time += 61_000;
    expect(shown(await there.directory.current())).toEqual(["seg/open: apple pear plum"]);
    await there.settled();
    expect(shown(await there.directory.current())).toEqual(["seg/open: pear"]);
  });

  it("is not shown by an isolate that nobody confirmed for 75 s", async () => {
    let time = Date.now();
    const { directory: copy, view, usage } = isolate({ now: () => time });
    expect(await view()).toBeDefined();
    const calls = usage.objectCalls;
    time += 59_000;
    expect(await copy.current()).toBeDefined();
    expect(usage.objectCalls).toBe(calls);
    time += 17_000;
    expect(await copy.current()).toBeUndefined();
  });

  it("is hidden within the minute once it is private, with KV five minutes late", async () => {
    let time = Date.now();
    const now = () => time;
    const there = isolate({ now, kv: staleKv(env.REGISTRY, now, 300_000) });
    await there.view();
    const mine = await member("seg");
    await mine.put({ name: "open", visibility: "tenant" });
    await drained("seg");
    await built();
    time += 61_000;
    await there.directory.current();
    await there.settled();
    expect(shown(await there.directory.current())).toEqual([]);
    await mine.put({ name: "open", visibility: "public" });
    await drained("seg");
  });
});

async function stateOnly() {
  const { epoch, generation } = await state();
  return { epoch, generation };
}

describe.sequential("the builder", () => {
  it("merges what a tenant publishes and unpublishes in a loop", async () => {
    const mine = await member("loop");
    await mine.publish("s", tools("one"));
    for (let round = 0; round < 6; round += 1) {
      await mine.put({ name: "s", visibility: round % 2 === 0 ? "public" : "tenant" });
      await drained("loop");
      await built();
    }
    const rows = await inDirectory((sql) => sql.exec("SELECT state, bytes FROM segment").toArray());
    expect(rows.filter(({ state: is }) => is === "live").length).toBeLessThanOrEqual(2);
    expect(shown(await isolate().view())).toEqual(["seg/open: pear"]);
  });

  it("goes on after it was killed at any step", async () => {
    const mine = await member("killed");
    await mine.publish("s", tools("one"));
    await mine.put({ name: "s", visibility: "public" });
    await drained("killed");
    // Killed after it wrote a segment and before it said so.
    await inDirectory((sql) => {
      sql.exec("INSERT INTO segment (epoch, state, bytes) SELECT value, 'writing', 10 FROM meta WHERE key = 'epoch'");
    });
    await evictDurableObject(stub());
    await directory.sync(undefined);
    await built();
    expect(shown(await isolate().view())).toEqual(["killed/s: one", "seg/open: pear"]);
    // Killed before it wrote the root.
    await env.REGISTRY.delete("directory/root");
    await inDirectory((sql) => sql.exec("UPDATE meta SET value = -1 WHERE key = 'root'").toArray());
    await evictDurableObject(stub());
    expect(await env.REGISTRY.get("directory/root")).toBeNull();
    await directory.sync(undefined);
    await built();
    expect(await env.REGISTRY.get("directory/root")).not.toBeNull();
    const states = await inDirectory((sql) => sql.exec("SELECT DISTINCT state FROM segment ORDER BY 1").toArray());
    expect(states.map(({ state: is }) => is)).toEqual(["dropped", "live"]);
  });

  it("collects what no root names, but not before KV may have forgotten it", async () => {
    const before = await segmentKeys();
    await inDirectory((sql) => sql.exec("UPDATE segment SET dropped_at = dropped_at - 16 * 60000").toArray());
    await evictDurableObject(stub());
    await directory.sync(undefined);
    await built();
    await vi.waitFor(async () => {
      const live = await inDirectory((sql) => sql.exec("SELECT id FROM segment").toArray());
      const left = await segmentKeys();
      expect(left.map((key) => Number(key.split("/").at(-1))).sort()).toEqual(live.map(({ id }) => id).sort());
      expect(left.length).toBeLessThan(before.length);
    });
    expect(shown(await isolate().view())).toEqual(["killed/s: one", "seg/open: pear"]);
  });
});

describe.sequential("an isolate", () => {
  /** KV that shows something else under some keys. */
  const kvWith = (change: (key: string, value: ArrayBuffer | null) => ArrayBuffer | null): KVNamespace =>
    ({
      get: async (key: string, options?: unknown) => {
        const value = await env.REGISTRY.get(key, options as "arrayBuffer");
        return key.includes("/segment/") ? change(key, value) : value;
      },
    }) as unknown as KVNamespace;

  it.each([
    ["missing", () => null],
    ["truncated", (_: string, value: ArrayBuffer | null) => value?.slice(0, -8) ?? null],
    ["empty", () => new ArrayBuffer(0)],
    [
      "of a later format",
      (_: string, value: ArrayBuffer | null) => {
        const copy = new Uint8Array(value?.slice(0) ?? new ArrayBuffer(8));
        copy[4] = 9;
        return copy.buffer;
      },
    ],
  ])("asks the object while a segment is %s", async (_, change) => {
    const { view, directory: copy } = isolate({ kv: kvWith(change) });
    expect(await view()).toBeUndefined();
    expect(copy.status().fallbacks).toMatchObject({ loading: 2 });
  });

  it("asks the object if the directory does not fit its memory, and if it is told to", async () => {
    expect(await isolate({ capacity: 100 }).view()).toBeUndefined();
    expect(await isolate({ capacity: 0 }).view()).toBeUndefined();
    const { directory: copy, view } = isolate();
    await view();
    expect(await copy.current({ strong: true })).toBeUndefined();
  });

  it("keeps what it has until it has all of a new root", async () => {
    let isBroken = false;
    let time = Date.now();
    const copy = isolate({ now: () => time, kv: kvWith((_, value) => (isBroken ? null : value)) });
    await copy.view();
    isBroken = true;
    const mine = await member("killed");
    await mine.publish("s", tools("one", "two"));
    await drained("killed");
    await built();
    time += 61_000;
    await copy.directory.current();
    await copy.settled();
    expect(shown(await copy.directory.current())).toEqual(["killed/s: one two", "seg/open: pear"]);
  });

  it("loads everything anew in another epoch", async () => {
    let time = Date.now();
    const copy = isolate({ now: () => time });
    const before = await copy.view();
    await inDirectory((sql) => sql.exec("UPDATE meta SET value = 0 WHERE key = 'epoch'").toArray());
    await evictDurableObject(stub());
    await directory.sync(undefined);
    await built();
    time += 61_000;
    await copy.directory.current();
    await copy.settled();
    const after = await copy.view();
    expect(after?.epoch).not.toBe(before?.epoch);
    expect(shown(after)).toEqual(shown(before));
  });

  it("waits for a generation that it was asked for, and says if there is none", async () => {
    const copy = isolate();
    const view = await copy.view();
    if (view === undefined) throw new Error("nothing was loaded");
    const { epoch, generation } = view;
    const mine = await member("killed");
    await mine.publish("s", tools("one"));
    await drained("killed");
    const newer = await copy.directory.current({ min: { epoch, generation: generation + 1 } });
    expect(newer?.generation).toBe(generation + 1);
    expect(await copy.directory.current({ min: { epoch, generation: generation + 2 } })).toBeUndefined();
    expect(await copy.directory.current({ min: { epoch: "other", generation: 0 } })).toBeUndefined();
  });
});
