import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { StreamAttachment } from "../../../src/changes/contract.ts";
import type { StreamObject } from "../../../src/objects/stream-object.ts";
import { askForClients, EventReader } from "../support/event-reader.ts";
import { capabilities, Registry, token, tools } from "../support/registry.ts";

/** The stream object sleeps between changes: nothing that matters may be in its memory. */

const registry = new Registry();
let turn = 0;
let tenant = "";
let bearer = "";

beforeEach(async () => {
  turn += 1;
  tenant = `sleeping-${turn}`;
  bearer = await token({ sub: tenant, tenants: [tenant] });
});

async function publish(...names: string[]): Promise<void> {
  const { status } = await registry.send("PUT", capabilities(tenant, "s"), { token: bearer, body: tools(...names) });
  expect(status).toBeLessThan(300);
}

async function open(since = 0): Promise<EventReader> {
  const headers = { Accept: "text/event-stream" };
  const response = await registry.fetch("GET", `/api/changes/${tenant}?since=${since}`, { token: bearer, headers });
  expect(response.status).toBe(200);
  return new EventReader(response);
}

const streamObject = () => env.STREAMS.get(env.STREAMS.idFromName(`subject ${tenant}`));

const inTenant = <T>(work: (state: DurableObjectState) => T) =>
  runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)), (_, state) => work(state));

const watchers = () => inTenant(({ storage }) => storage.sql.exec("SELECT id FROM watcher").toArray().length);

describe("a stream whose object slept", () => {
  it("is told of the next change by an object that was constructed again", async () => {
    await publish("a");
    const reader = await open();
    expect((await reader.named("change")).id).toBe("1");
    // The instance itself is compared here, inside the object: it cannot leave it.
    await runInDurableObject(streamObject(), (object) => Object.assign(object, { seen: true }));
    await evictDurableObject(streamObject());
    await publish("a", "b");
    expect((await reader.named("change")).id).toBe("2");
    const again = await runInDurableObject(streamObject(), (object) => !("seen" in object));
    expect(again).toBe(true);
    await reader.leave();
  });

  it("keeps what it follows, where it began, its end and its session on the socket", async () => {
    await publish("a");
    const reader = await open(1);
    const before = Date.now();
    await evictDurableObject(streamObject());
    const attached = await runInDurableObject(streamObject(), (_, state) =>
      state.getWebSockets().map((socket) => socket.deserializeAttachment() as StreamAttachment),
    );
    expect(attached).toEqual([{ tenants: [tenant], position: "1", endsAt: expect.any(Number) }]);
    expect(attached[0]?.endsAt).toBeGreaterThan(before + 590_000);
    await reader.leave();
  });

  it("loses nothing of a burst during which the object goes to sleep again and again", async () => {
    const reader = await open();
    const total = 40;
    const writing = (async () => {
      for (let count = 1; count <= total; count += 1) {
        await publish(`t${count}`);
        if (count % 5 === 0) await evictDurableObject(streamObject()).catch(() => {});
      }
    })();
    const seen: string[] = [];
    // The first publish adds a tool; each of the others adds one and removes one.
    while (seen.length < 2 * total - 1) seen.push((await reader.named("change")).id ?? "");
    await writing;
    expect(seen).toEqual(Array.from({ length: 2 * total - 1 }, (_, index) => String(index + 1)));
    await reader.leave();
  });

  it("is let go after the sleep when its client has left, and its tenant stops telling", async () => {
    await publish("a");
    const reader = await open();
    await reader.named("change");
    await reader.leave();
    await evictDurableObject(streamObject());
    await askForClients(streamObject());
    await vi.waitFor(async () => {
      const open = await runInDurableObject(streamObject(), (object) => (object as unknown as StreamObject).count());
      expect([open, await watchers()]).toEqual([0, 0]);
    }, 2_000);
  });

  it("ends when the object's process ends, for the client to come back", async () => {
    await publish("a");
    const reader = await open();
    await reader.named("change");
    await evictDurableObject(streamObject(), { webSockets: "close" });
    expect([await reader.next(), await reader.next()]).toEqual([{ retry: 2_000 }, undefined]);
  });
});

describe("a tenant without a first write", () => {
  const early = () => inTenant(({ storage }) => Object.keys(storage.kv.get<object>("watchers") ?? {}).length);

  it("tells its streams of that write, also when it was evicted before", async () => {
    const reader = await open();
    expect(await reader.next()).toEqual({ id: "0", retry: 2_000 });
    expect(await early()).toBe(1);
    await evictDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)));
    await publish("a");
    expect((await reader.named("change")).id).toBe("1");
    expect([await early(), await watchers()]).toEqual([0, 1]);
    await reader.leave();
  });

  it("keeps nothing of a stream that has ended", async () => {
    const reader = await open();
    await reader.next();
    await reader.leave();
    await askForClients(streamObject());
    await vi.waitFor(async () => expect(await early()).toBe(0), 2_000);
    const stored = await inTenant(({ storage }) => storage.sql.exec("SELECT name FROM sqlite_master").toArray());
    expect(stored.filter(({ name }) => !String(name).startsWith("_cf_"))).toEqual([]);
  });

  it("does not count a rehearsal as the first write", async () => {
    const reader = await open();
    await reader.next();
    const options = { token: bearer, body: tools("a") };
    await registry.send("PUT", `${capabilities(tenant, "s")}?dryRun=true`, options);
    expect(await early()).toBe(1);
    await publish("a");
    expect((await reader.named("change")).id).toBe("1");
    await reader.leave();
  });
});
