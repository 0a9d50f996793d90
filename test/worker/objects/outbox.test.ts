import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Outbox, type OutboxTargets } from "../../../src/objects/tenant/outbox.ts";
import type { Head } from "../../../src/registry/contract.ts";
import { enqueueTask } from "../../../src/registry/sql/outbox-table.ts";
import { capabilities, drained, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
let tenant: string;
let member: string;
let round = 0;

beforeEach(async () => {
  tenant = `owing-${++round}`;
  member = await token({ tenants: [tenant] });
});

const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const publish = (...names: string[]) =>
  registry.send("PUT", capabilities(tenant, "s"), { token: member, body: tools(...names) });
const storedHead = () => env.REGISTRY.get<Head>(`head/${tenant}/s`, "json");

/** An outbox of its own on the tenant's storage, with projections that count and fail as told, and a clock passed in. */
async function withOutbox(
  run: (outbox: Outbox, sql: SqlStorage, calls: string[], time: { now: number }) => Promise<void>,
  fails: (call: string, count: number) => boolean = () => false,
  directory?: () => Promise<void>,
) {
  await publish("a");
  await drained(tenant);
  await runInDurableObject(stub(), async (_, state) => {
    state.storage.sql.exec("DELETE FROM outbox");
    const calls: string[] = [];
    const act = (verb: string) => async (subject: string | string[]) => {
      const call = `${verb} ${subject}`;
      calls.push(call);
      if (fails(call, calls.filter((earlier) => earlier === call).length)) throw new Error("KV is down");
    };
    const projections: OutboxTargets = {
      putBody: act("body"),
      dropBody: act("drop"),
      putHead: act("head"),
      repairHead: act("settle"),
      updateDirectory: async (names) => {
        await (directory ?? act("directory"))(names);
        return [];
      },
      directoryState: async () => ({ epoch: "e", generation: calls.length }),
      directoryWith: () => ({ epoch: "e", generation: calls.length }),
      watchers: () => [],
      notifyWatcher: async () => {},
      removeSent: () => {},
      enqueueForSubscribers: () => {},
      sendToSubscribers: () => {},
    };
    const time = { now: 1_000_000 };
    await run(new Outbox(state.storage, projections, () => time.now), state.storage.sql, calls, time);
  });
}

describe("the outbox", () => {
  it("writes body and head to KV after a publish, and lists the server", async () => {
    const { body } = await publish("a");
    await drained(tenant);
    expect(await storedHead()).toMatchObject({ digest: body.data.digest, generation: 1 });
    const stored = await env.REGISTRY.get<{ digest: string }>(`manifest/${tenant}/s/${body.data.digest}`, "json");
    expect(stored?.digest).toBe(body.data.digest);
  });

  it("is finished by the alarm when the process died after the transaction", async () => {
    await publish("a");
    await drained(tenant);
    // As a crash leaves it: the rows are committed, nothing is done, an alarm is set.
    await runInDurableObject(stub(), async (_, state) => {
      enqueueTask(state.storage.sql, "head", "s");
      await state.storage.setAlarm(Date.now() + 60_000);
    });
    await env.REGISTRY.delete(`head/${tenant}/s`);
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    expect(await storedHead()).toMatchObject({ generation: 1 });
  });

  it("does a task once however often the alarm fires", async () => {
    await withOutbox(async (outbox, sql, calls) => {
      enqueueTask(sql, "body", "sha256-x");
      await Promise.all([outbox.drain(), outbox.drain()]);
      await outbox.drain();
      expect(calls.filter((call) => call.startsWith("body"))).toEqual(["body sha256-x"]);
    });
  });

  it("keeps what fails, waits longer each time, and never gives up", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    await withOutbox(
      async (outbox, sql, calls, time) => {
        enqueueTask(sql, "head", "s");
        const waits: number[] = [];
        for (let attempt = 0; attempt < 9; attempt += 1) {
          await outbox.drain();
          const due = Number(sql.exec("SELECT due_at FROM outbox WHERE task = 'head'").one().due_at);
          waits.push((due - time.now) / 1_000);
          time.now = due;
        }
        expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
        await outbox.drain();
        expect(calls.filter((call) => call === "head s")).toHaveLength(10);
        expect(sql.exec("SELECT 1 FROM outbox WHERE task = 'head'").toArray()).toEqual([]);
      },
      (call, count) => call === "head s" && count <= 9,
    );
  });

  it("puts bodies before heads, and spaces the writes of one head by a second", async () => {
    await withOutbox(async (outbox, sql, calls, time) => {
      outbox.enqueueServer("s");
      enqueueTask(sql, "body", "sha256-x");
      await outbox.drain();
      expect(calls.filter((call) => call !== "directory s")).toEqual(["body sha256-x", "head s"]);
      expect(calls).toContain("directory s");
      for (let write = 0; write < 5; write += 1) outbox.enqueueServer("s");
      await outbox.drain();
      expect(calls.filter((call) => call === "head s")).toHaveLength(1);
      time.now += 1_000;
      await outbox.drain();
      expect(calls.filter((call) => call === "head s")).toHaveLength(2);
    });
  });

  it("confirms a write only when the directory has taken it", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    await withOutbox(
      async (outbox, _, calls, time) => {
        outbox.enqueueServer("s");
        expect(outbox.confirmedDirectory("s")).toBeUndefined();
        await outbox.flushDirectory();
        expect([calls, outbox.confirmedDirectory("s")]).toEqual([["directory s"], undefined]);
        time.now += 60_000;
        await outbox.flushDirectory();
        expect(outbox.confirmedDirectory("s")).toEqual({ epoch: "e", generation: 2 });
        // A later write is confirmed by itself.
        outbox.enqueueServer("s");
        expect(outbox.confirmedDirectory("s")).toBeUndefined();
      },
      (call, count) => call === "directory s" && count === 1,
    );
  });

  it("does not let a directory that hangs hold heads back", async () => {
    await withOutbox(
      async (outbox, _, calls) => {
        outbox.enqueueServer("s");
        void outbox.drain();
        await vi.waitFor(() => expect(calls).toContain("head s"));
      },
      undefined,
      () => new Promise(() => {}),
    );
  });

  it("settles 90 s after the last head write", async () => {
    await withOutbox(async (outbox, _, calls, time) => {
      outbox.enqueueServer("s");
      await outbox.drain();
      time.now += 89_999;
      await outbox.drain();
      expect(calls).not.toContain("settle s");
      time.now += 1;
      await outbox.drain();
      expect(calls).toContain("settle s");
    });
  });

  it("rewrites a head that KV lost, or shows older than the object knows", async () => {
    await publish("a");
    const { body } = await publish("b");
    await drained(tenant);
    const settle = () =>
      runInDurableObject(stub(), async (object, state) => {
        state.storage.sql.exec("UPDATE outbox SET due_at = 0");
        await object.alarm?.();
      });
    const current = await storedHead();
    await env.REGISTRY.put(`head/${tenant}/s`, JSON.stringify({ ...current, generation: 1, digest: "old" }));
    await settle();
    expect(await storedHead()).toMatchObject({ generation: 2, digest: body.data.digest });
    await runInDurableObject(stub(), async (_, state) => enqueueTask(state.storage.sql, "settle", "s"));
    await env.REGISTRY.delete(`head/${tenant}/s`);
    await settle();
    expect(await storedHead()).toMatchObject({ generation: 2 });
  });

  it("leaves a tombstone in KV for a deleted server, and takes its bodies out", async () => {
    const { body } = await publish("a");
    await drained(tenant);
    await registry.send("DELETE", `/api/mcp/configs/${tenant}/s`, { token: member });
    await drained(tenant);
    expect(await storedHead()).toMatchObject({ deleted: true, generation: 2 });
    expect(await env.REGISTRY.get(`manifest/${tenant}/s/${body.data.digest}`)).toBeNull();
  });

  it("writes two KV values and a bounded number of rows for one changed tool in 1,000", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `tool_${index}`);
    await publish(...many);
    await drained(tenant);
    const rows = async () => {
      const tables = ["server", "capability", "revision", "change"];
      return runInDurableObject(stub(), async (_, state) =>
        tables.map((table) => Number(state.storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).one().n)),
      );
    };
    const before = await rows();
    const keys = async () =>
      (await env.REGISTRY.list({ prefix: "" })).keys.filter(({ name }) => name.includes(`/${tenant}/`)).length;
    const values = await keys();
    await publish("renamed", ...many.slice(1));
    await drained(tenant);
    expect((await rows()).map((count, index) => count - (before[index] ?? 0))).toEqual([0, 1, 1, 1]);
    expect((await keys()) - values).toBe(1);
  });

  it("stores nothing for a tenant that is only asked about", async () => {
    const { status } = await registry.send("GET", capabilities(tenant, "s"), { token: member });
    expect(status).toBe(404);
    const tables = await runInDurableObject(stub(), async (_, state) =>
      state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
    );
    expect(tables).toEqual([]);
  });
});
