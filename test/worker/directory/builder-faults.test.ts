import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseRoot, rootKey, segmentKey } from "../../../src/directory/root.ts";
import { SegmentBuilder } from "../../../src/directory/sql/segment-builder.ts";
import { builderUsage } from "../../../src/kernel/platform/usage.ts";
import { publicPlaces, readPlace } from "../../../src/objects/directory/public-places.ts";
import { type Member, member } from "../support/member.ts";
import { drained, tools } from "../support/registry.ts";
import { built, inDirectory, isolate, shown, stub } from "./edges.ts";

let mine: Member;

beforeAll(async () => {
  mine = await member("faults");
  await mine.post({ name: "steady", visibility: "public" });
  await mine.publish("steady", tools("anchor"));
  await drained("faults");
  await built();
});

async function keys(): Promise<string[]> {
  return (await env.REGISTRY.list({ prefix: "directory/" })).keys.map(({ name }) => name);
}

/** Every segment that the root in KV names is there: a root is never shown before what it names. */
async function rootIsWhole(): Promise<boolean> {
  const text = await env.REGISTRY.get(rootKey);
  const root = text === null ? undefined : parseRoot(text);
  if (root === undefined) return text === null;
  const present = new Set(await keys());
  return root.segments.every(({ id }) => present.has(segmentKey(root.epoch, id)));
}

class Killed extends Error {}

const build = SegmentBuilder.prototype.build;
/** Those that this test runs. The object's own stands still meanwhile: there is one builder at a time. */
const ours = new WeakSet<SegmentBuilder>();

function onlyOurs(): void {
  vi.spyOn(SegmentBuilder.prototype, "build").mockImplementation(async function (this: SegmentBuilder) {
    return ours.has(this) ? build.call(this) : true;
  });
}

/** A builder of its own on the object's tables, whose process ends before step `at`; true if it came to its end. */
async function buildUntil(at: number): Promise<boolean> {
  let steps = 0;
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (steps++ >= at) throw new Killed();
    return work();
  };
  return runInDurableObject(stub(), async (_, { storage }) => {
    const builder = new SegmentBuilder({
      storage,
      kv: {
        put: (...args: Parameters<KVNamespace["put"]>) => step(() => env.REGISTRY.put(...args)),
        delete: (key: string) => step(() => env.REGISTRY.delete(key)),
      } as Pick<KVNamespace, "put" | "delete">,
      now: Date.now,
      readPlace: (server) => readPlace(storage.sql, server),
      publicPlaces: () => publicPlaces(storage.sql),
      pause: () => step(async () => {}),
    });
    ours.add(builder);
    try {
      await builder.build();
      await builder.collect();
      return true;
    } catch (error) {
      if (error instanceof Killed) return false;
      throw error;
    }
  });
}

describe.sequential("a builder that is killed", () => {
  beforeAll(onlyOurs);
  afterAll(() => vi.restoreAllMocks());

  it.each([
    ["with a delta", async () => {}],
    [
      "with everything, in a new epoch",
      () => inDirectory((sql) => void sql.exec("UPDATE meta SET value = -1 WHERE key = 'built'")),
    ],
    [
      "with keys to collect",
      () => inDirectory((sql) => void sql.exec("UPDATE segment SET dropped_at = 1 WHERE state = 'dropped'")),
    ],
  ])("before any of its steps leaves KV whole, and the next goes on: %s", async (name, prepare) => {
    let isDone = false;
    for (let at = 0; !isDone; at += 1) {
      expect(at).toBeLessThan(30);
      await mine.publish("steady", tools("anchor", `rope_${at}_of_${name.length}`));
      await drained("faults");
      await prepare();
      isDone = await buildUntil(at);
      expect(await rootIsWhole()).toBe(true);
      // What a reader sees does not depend on how far the builder came.
      expect(shown(await isolate().view())).toEqual([`faults/steady: anchor rope_${at}_of_${name.length}`]);
      if (!isDone) expect(await buildUntil(Number.POSITIVE_INFINITY)).toBe(true);
      expect(await rootIsWhole()).toBe(true);
      expect(shown(await isolate().view())).toEqual([`faults/steady: anchor rope_${at}_of_${name.length}`]);
      const left = await inDirectory((sql) => sql.exec("SELECT 1 FROM segment WHERE state = 'writing'").toArray());
      expect(left).toEqual([]);
    }
    // The object has its own builder, which knows nothing of these.
    await evictDurableObject(stub());
  });
});

it("is waited for by nobody: a publish is answered, and seen, while it hangs", async () => {
  const hanging = Promise.withResolvers<boolean>();
  const build = vi.spyOn(SegmentBuilder.prototype, "build").mockReturnValue(hanging.promise);
  try {
    await mine.publish("steady", tools("anchor", "sail"));
    const running = built();
    await vi.waitFor(() => expect(build).toHaveBeenCalled());
    const { status, headers } = await mine.publish("steady", tools("anchor", "sail", "keel"));
    expect([status, headers.get("Rollcall-Directory")]).toEqual([200, expect.stringMatching(/^[0-9a-z]+\.\d+$/)]);
    expect(shown(await isolate().view())).toEqual(["faults/steady: anchor keel sail"]);
    hanging.resolve(true);
    await running;
  } finally {
    build.mockRestore();
  }
});

describe.sequential("a tenant that publishes and unpublishes in a loop", () => {
  it("has its writes put into one root, and leaves nothing in KV but what the root names", async () => {
    const written = builderUsage.kvWrites;
    const start = Date.now();
    for (let round = 0; round < 20; round += 1) {
      await mine.put({ name: "steady", visibility: round % 2 === 0 ? "tenant" : "public" });
      await drained("faults");
    }
    await built();
    // A segment, a chunk of documents and a root, however many writes there were in each second.
    const seconds = Math.floor((Date.now() - start) / 1_000);
    expect(builderUsage.kvWrites - written).toBeLessThanOrEqual(3 * (1 + seconds));

    for (let round = 0; round < 20; round += 1) {
      await mine.put({ name: "steady", visibility: round % 2 === 0 ? "tenant" : "public" });
      await drained("faults");
      await built();
    }
    const live = async () =>
      inDirectory((sql) =>
        sql.exec<{ id: number; chunks: number }>("SELECT id, chunks FROM segment WHERE state = 'live'").toArray(),
      );
    expect((await live()).length).toBeLessThanOrEqual(2);
    await inDirectory((sql) => void sql.exec("UPDATE segment SET dropped_at = 1 WHERE state = 'dropped'"));
    for (let pass = 0; pass < 5; pass += 1) expect(await buildUntil(Number.POSITIVE_INFINITY)).toBe(true);
    const named = await live();
    const values = named.reduce((sum, { chunks }) => sum + 1 + chunks, 0);
    expect(await keys()).toHaveLength(values + 1);
    expect(shown(await isolate().view())).toEqual([expect.stringMatching(/^faults\/steady: anchor/)]);
  });
});
