import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { setNextAlarm } from "../../../src/objects/tenant/outbox.ts";
import { recordChanges } from "../../../src/registry/sql/change-log.ts";
import { enqueueDeliveries } from "../../../src/subscriptions/sql/queue.ts";
import { drained } from "../support/registry.ts";
import { Bench, changed, member, newTenant, onBench, publish, registry, stub, tenant } from "./delivery-bench.ts";
import { isSignedWith, Receiver, standInForTheNetwork } from "./receiver.ts";

beforeEach(async () => {
  await newTenant();
  vi.spyOn(console, "error").mockImplementation(() => {});
});

describe("a message", () => {
  it("tells of one generation, signed by Standard Webhooks", () =>
    onBench(async (bench) => {
      const { id, secret } = bench.subscribe();
      const generation = bench.write([changed("add"), changed("sub", { classification: "removed", from: "sha256-1" })]);
      await bench.deliveries.drain();
      expect(bench.receiver.received).toHaveLength(1);
      const { last } = bench.receiver;
      expect(last.id).toBe(`msg_${generation}_${id}`);
      expect(last.url).toBe("https://receiver.example/in");
      expect(last.headers.get("content-type")).toBe("application/json");
      expect(last.headers.get("authorization")).toBeNull();
      expect(last.body).toEqual({
        type: "capabilities.changed",
        timestamp: "2040-01-01T00:00:00.000Z",
        data: {
          tenant,
          generation,
          changes: [
            expect.objectContaining({ generation, server: "s", kind: "tool", name: "add", classification: "additive" }),
            expect.objectContaining({ name: "sub", classification: "removed", breaking: true, from: "sha256-1" }),
          ],
        },
      });
      expect(await isSignedWith(secret, last, bench.now)).toBe(true);
      expect(await isSignedWith(secret, last, bench.now + 301_000)).toBe(false);
      expect(bench.show(id)).toMatchObject({ state: "active", pending: 0, dropped: 0 });
      expect(bench.show(id).attempts).toEqual([
        { message: last.id, at: "2040-01-01T00:00:00.000Z", attempt: 1, status: 200 },
      ]);
    }));

  it("keeps its id and body from attempt to attempt, and is signed anew", () =>
    onBench(async (bench) => {
      bench.receiver.answer = (_, count) => (count < 3 ? 500 : 204);
      const { id, secret } = bench.subscribe();
      bench.write();
      for (let attempt = 1; attempt <= 5 && bench.show(id).pending > 0; attempt += 1) {
        await bench.deliveries.drain();
        bench.now = bench.due(id)[0] ?? bench.now;
      }
      const { received } = bench.receiver;
      expect(received).toHaveLength(3);
      expect(new Set(received.map((message) => message.id)).size).toBe(1);
      expect(new Set(received.map(({ bytes }) => new TextDecoder().decode(bytes))).size).toBe(1);
      expect(new Set(received.map(({ timestamp }) => timestamp)).size).toBe(3);
      for (const message of received) {
        expect(await isSignedWith(secret, message, Number(message.timestamp) * 1_000)).toBe(true);
      }
    }));

  it("stays below 20 kB and says from where to read the rest", () =>
    onBench(async (bench) => {
      bench.subscribe();
      const many = Array.from({ length: 500 }, (_, index) => changed(`tool_${index}_${"ü".repeat(50)}`));
      const generation = bench.write(many);
      await bench.deliveries.drain();
      const { bytes, body } = bench.receiver.last;
      expect(bytes.byteLength).toBeLessThan(20_000);
      expect(bytes.byteLength).toBeGreaterThan(19_000);
      expect(body.data).toMatchObject({ generation, more: true, since: body.data.changes.at(-1).sequence });
      const path = `/api/changes/${tenant}?since=${body.data.since}&limit=1000`;
      const rest = await registry.send("GET", path, { token: member });
      const names = [...body.data.changes, ...rest.body.data.items].map(({ name }: { name: string }) => name);
      expect(names).toEqual(many.map(({ key }) => key));
    }));

  it("says so where even one entry is too long", () =>
    onBench(async (bench) => {
      bench.subscribe();
      const path = `/${"x".repeat(30_000)}`;
      bench.write([changed("long", { reasons: [{ path, classification: "additive", message: "added" }] })]);
      await bench.deliveries.drain();
      const { bytes, body } = bench.receiver.last;
      expect(bytes.byteLength).toBeLessThan(20_000);
      const [entry] = body.data.changes;
      expect(entry).toMatchObject({ name: "long", reasons: [] });
      expect(body.data).toMatchObject({ more: true, since: entry.sequence - 1 });
    }));

  it("has only the entries that were asked for", () =>
    onBench(async (bench) => {
      bench.subscribe("https://receiver.example/in", { kinds: ["prompt"] });
      bench.write([changed("add"), changed("greet", { kind: "prompt" })]);
      bench.write([changed("sub")]);
      await bench.deliveries.drain();
      expect(bench.receiver.received).toHaveLength(1);
      expect(bench.receiver.last.body.data.changes).toEqual([expect.objectContaining({ name: "greet" })]);
      expect(bench.receiver.last.body.data).not.toHaveProperty("more");
    }));
});

describe("deliveries", () => {
  it("have one effect however often the alarm rings", () =>
    onBench(async (bench) => {
      bench.subscribe();
      bench.write();
      await Promise.all([bench.deliveries.drain(), bench.deliveries.drain(), bench.deliveries.drain()]);
      await bench.deliveries.drain();
      expect(bench.receiver.received).toHaveLength(1);
    }));

  it("set the alarm for the next attempt, and beyond the end of those under way", () =>
    onBench(async (bench) => {
      const answered = Promise.withResolvers<Response>();
      bench.receiver.answer = ({ url }) => (url.endsWith("/slow") ? answered.promise : 500);
      bench.subscribe("https://receiver.example/slow");
      const failing = bench.subscribe("https://receiver.example/failing");
      bench.write();
      const drain = bench.another(60_000).drain();
      await vi.waitFor(() => expect(bench.show(failing.id).attempts).toHaveLength(1));
      await vi.waitFor(async () => expect(await bench.storage.getAlarm()).toBe(bench.now + 5_000));
      bench.sql.exec("DELETE FROM delivery WHERE subscription = ?", failing.id);
      await setNextAlarm(bench.storage, bench.now);
      expect(await bench.storage.getAlarm()).toBe(bench.now + 20_000);
      answered.resolve(new Response(null));
      await drain;
      expect(await bench.storage.getAlarm()).toBeNull();
    }));

  it("to one that hangs hold back nobody else", () =>
    onBench(async (bench) => {
      const answered = Promise.withResolvers<Response>();
      bench.receiver.answer = ({ url }) => (url.endsWith("/hanging") ? answered.promise : 200);
      const hanging = bench.subscribe("https://receiver.example/hanging");
      const others = Array.from({ length: 5 }, (_, index) => bench.subscribe(`https://receiver.example/${index}`));
      for (let count = 0; count < 10; count += 1) bench.write();
      const drain = bench.another(60_000).drain();
      await vi.waitFor(() => {
        for (const { id } of others) expect(bench.show(id).pending).toBe(0);
      });
      expect(bench.show(hanging.id).pending).toBe(10);
      expect(bench.receiver.received.filter(({ url }) => url.endsWith("/hanging"))).toHaveLength(1);
      answered.resolve(new Response(null));
      await drain;
      expect(bench.show(hanging.id).pending).toBeLessThan(10);
    }));

  it.each([1, 2, 4, 8])("to %i that hang hold back nobody else for longer than one time-out", (count) =>
    onBench(async (bench) => {
      const hangs = ({ url }: { url: string }) => url.includes("/hanging");
      bench.receiver.answer = (message) => (hangs(message) ? new Promise<Response>(() => {}) : 200);
      for (let index = 0; index < count; index += 1) bench.subscribe(`https://receiver.example/hanging/${index}`);
      const healthy = bench.subscribe("https://receiver.example/healthy");
      const order = () => bench.receiver.received.map(({ url }) => url.includes("healthy"));
      bench.write();
      // A third of its deadline for each first attempt, four at a time: two rounds at most come before.
      await bench.deliveries.drain();
      expect(bench.show(healthy.id).pending).toBe(0);
      expect(order().indexOf(true)).toBeLessThanOrEqual(count);
      // From then on those that hang have two places, and the others go first.
      const before = bench.receiver.received.length;
      bench.write();
      await bench.deliveries.drain();
      expect(order().slice(before).indexOf(true)).toBe(0);
    }),
  );

  it("are under way four at a time, and one at a time to a receiver that fails", () =>
    onBench(async (bench) => {
      for (let index = 0; index < 9; index += 1) bench.subscribe(`https://receiver.example/${index}`);
      const answered = Promise.withResolvers<void>();
      bench.receiver.answer = () => answered.promise.then(() => new Response(null));
      bench.write();
      const drain = bench.another(60_000).drain();
      await vi.waitFor(() => expect(bench.receiver.received).toHaveLength(4));
      answered.resolve();
      await drain;
      expect(bench.receiver.received).toHaveLength(9);
      expect(bench.receiver.mostAtOnce).toBe(4);

      // On a busy machine an attempt must not reach its deadline while its receiver is still answering.
      const failing = new Bench(bench.storage, 30_000);
      failing.now = bench.now;
      bench.sql.exec("DELETE FROM subscription WHERE url <> 'https://receiver.example/0'");
      failing.receiver.answer = async () => {
        await scheduler.wait(5);
        return new Response(null, { status: 500 });
      };
      failing.write();
      await failing.deliveries.drain();
      failing.receiver.mostAtOnce = 0;
      for (let count = 0; count < 5; count += 1) failing.write();
      await failing.deliveries.drain();
      expect(failing.receiver.received).toHaveLength(6);
      expect(failing.receiver.mostAtOnce).toBe(1);
    }));

  it("wait 1,000 deep; beyond that the oldest are dropped, and it shows", () =>
    onBench(async (bench) => {
      const { id } = bench.subscribe();
      const untouched = bench.subscribe("https://receiver.example/other", { kinds: ["prompt"] });
      const first = bench.write();
      for (let count = 1; count < 1_003; count += 1) bench.write();
      expect(bench.show(id)).toMatchObject({ pending: 1_000, dropped: 3 });
      expect(bench.show(untouched.id)).toMatchObject({ pending: 0, dropped: 0 });
      await bench.deliveries.drain();
      const told = bench.receiver.received.map(({ body }) => body.data.generation as number);
      expect([told.length, Math.min(...told)]).toEqual([1_000, first + 3]);
      expect(bench.show(id)).toMatchObject({ pending: 0, dropped: 3 });
    }));

  it("are given up, and counted, where the log no longer reaches back", () =>
    onBench(async (bench) => {
      const { id } = bench.subscribe();
      bench.write();
      bench.sql.exec("DELETE FROM change");
      await bench.deliveries.drain();
      expect(bench.receiver.received).toEqual([]);
      expect(bench.show(id)).toMatchObject({ state: "active", pending: 0, dropped: 1 });
    }));

  it("are remembered, the last 50 of a subscription", () =>
    onBench(async (bench) => {
      const { id } = bench.subscribe();
      for (let count = 0; count < 60; count += 1) bench.write();
      await bench.deliveries.drain();
      const { attempts } = bench.show(id);
      expect(attempts).toHaveLength(50);
      expect(attempts[0]?.message).toBe(bench.receiver.last.id);
    }));

  it("that come back late do not touch a subscription that was mended meanwhile", () =>
    onBench(async (bench) => {
      const answered = Promise.withResolvers<Response>();
      bench.receiver.answer = ({ url }) => (url.endsWith("/old") ? answered.promise : 200);
      const { id } = bench.subscribe("https://receiver.example/old");
      bench.write();
      const drain = bench.deliveries.drain();
      await vi.waitFor(() => expect(bench.receiver.received).toHaveLength(1));
      const change = { url: "https://receiver.example/new" };
      bench.change(id, change);
      answered.resolve(new Response(null, { status: 410 }));
      await drain;
      expect(bench.show(id)).toMatchObject({ state: "active", pending: 0 });
      expect(bench.receiver.last.url).toBe("https://receiver.example/new");
    }));

  it("that come back late leave nothing of a subscription that was deleted meanwhile", () =>
    onBench(async (bench) => {
      const answered = Promise.withResolvers<Response>();
      bench.receiver.answer = () => answered.promise;
      const { id } = bench.subscribe();
      bench.write();
      const drain = bench.deliveries.drain();
      await vi.waitFor(() => expect(bench.receiver.received).toHaveLength(1));
      bench.remove(id);
      answered.resolve(new Response(null, { status: 500 }));
      await drain;
      for (const table of ["subscription", "delivery", "delivery_attempt"]) {
        expect([table, bench.sql.exec(`SELECT count(*) AS n FROM ${table}`).one().n]).toEqual([table, 0]);
      }
    }));
});

describe("a process that dies between the commit and the delivery", () => {
  it("has its messages sent by the alarm of the next", async () => {
    await publish("first");
    await drained(tenant);
    const receiver = new Receiver();
    standInForTheNetwork().set(tenant, receiver);
    const answer = await registry.send("POST", "/api/subscriptions", {
      token: member,
      body: { tenant, url: "https://receiver.example/in" },
    });
    expect(answer.body).toMatchObject({ success: true });
    const { id, secret } = answer.body.data;
    // As a crash leaves it: the rows are committed, nothing was sent, an alarm is set.
    await runInDurableObject(stub(), async (_, { storage }) => {
      storage.transactionSync(() => {
        recordChanges(storage.sql, "s", new Date().toISOString(), [changed()], 100);
        enqueueDeliveries(storage.sql, "s", Date.now());
      });
      await storage.setAlarm(Date.now() + 60_000);
    });
    await evictDurableObject(stub());
    expect(receiver.received).toEqual([]);
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    expect(await isSignedWith(secret, receiver.last, Date.now())).toBe(true);
    const path = `/api/subscriptions/${tenant}/${id}`;
    await vi.waitFor(async () => {
      expect((await registry.send("GET", path, { token: member })).body.data).toMatchObject({ pending: 0 });
    });
    await runDurableObjectAlarm(stub());
    expect(receiver.received).toHaveLength(1);
  });
});
