import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { pullBack } from "../../../src/objects/tenant/pull-back.ts";
import type { TenantObject } from "../../../src/objects/tenant/tenant-object.ts";
import { headKey } from "../../../src/registry/cache/keys.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { capabilities, config, configs, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
let round = 0;
let tenant = "";
let bearer = "";

beforeEach(async () => {
  tenant = `fault-${++round}`;
  bearer = await token({ sub: tenant, tenants: [tenant] });
  expect((await publish("a")).status).toBe(201);
});

const publish = (...names: string[]) =>
  registry.send("PUT", capabilities(tenant, "s"), { token: bearer, body: tools(...names) });
const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const inTenant = <T>(work: (storage: DurableObjectStorage, object: TenantObject) => T | Promise<T>) =>
  runInDurableObject(stub(), (object, { storage }) => work(storage, object as unknown as TenantObject));
const told = async () => env.REGISTRY.get<{ generation: number }>(headKey(tenantKey(tenant), "s"), "json");

describe.each([
  ["an hour", 3_600_000],
  ["five days", 432_000_000],
])("a clock that goes back %s", (_, back) => {
  /** What was scheduled by the clock before it went back. */
  const ahead = `due_at = due_at + ${back} + 700000`;

  it("leaves no head behind: what was owed is due at the next wake, and generations go on", async () => {
    await publish("b");
    await inTenant(({ sql }) => {
      sql.exec(
        "INSERT INTO outbox (task, subject, version, due_at) VALUES ('head', 's', 1, ?) ON CONFLICT DO UPDATE SET version = version + 1",
        Date.now(),
      );
      sql.exec(`UPDATE outbox SET ${ahead}`);
    });
    await env.REGISTRY.delete(headKey(tenantKey(tenant), "s"));
    await evictDurableObject(stub());
    await inTenant((_storage, object) => object.alarm());
    await vi.waitFor(async () => expect((await told())?.generation).toBe(2));
    expect((await publish("c")).body.data.generation).toBe(3);
  });

  it("makes nothing due in the far future", async () => {
    const later = Date.now() + back + 110_000_000;
    await inTenant((storage) => {
      const { sql } = storage;
      sql.exec(
        "INSERT INTO source (server, id, position, config, state, since, next_at) VALUES ('s', 'x', 0, '{}', 'live', '', ?)",
        later,
      );
      sql.exec(
        `INSERT INTO subscription (id, url, own_host, filters, secrets, state, since, not_before, created_at, created_by)
         VALUES ('sub', '', '', '{}', '[]', 'disabled', '', ?, '', '')`,
        later,
      );
      sql.exec(
        "INSERT INTO delivery (subscription, generation, server, attempt, due_at) VALUES ('sub', 1, 's', 2, ?)",
        later,
      );
      const now = Date.now();
      expect(pullBack(storage, now)).toBe(true);
      const times = [
        "SELECT next_at AS at FROM source",
        "SELECT due_at AS at FROM delivery",
        "SELECT not_before AS at FROM subscription",
      ];
      expect(times.map((query) => sql.exec(query).one()["at"])).toEqual([now, now, now]);
      expect(pullBack(storage, now)).toBe(false);
      sql.exec("DELETE FROM source; DELETE FROM delivery; DELETE FROM subscription;");
    });
  });

  it("does not let a delivery wait that was tried by the later clock, and leaves one that was not", async () => {
    await inTenant((storage) => {
      const { sql } = storage;
      const now = Date.now();
      const pause = 300_000;
      for (const [id, tried] of [
        ["ahead", now + back],
        ["today", now],
      ] as const) {
        sql.exec(
          `INSERT INTO subscription (id, url, own_host, filters, secrets, state, since, not_before, created_at, created_by)
           VALUES (?, '', '', '{}', '[]', 'disabled', '', ?, '', '')`,
          ...[id, tried + pause],
        );
        sql.exec(
          "INSERT INTO delivery (subscription, generation, server, attempt, due_at) VALUES (?, 1, 's', 2, ?)",
          ...[id, tried + pause],
        );
        sql.exec(
          `INSERT INTO delivery_attempt (subscription, number, message, at, attempt, status, next_at)
           VALUES (?, 1, 'm', ?, 1, 500, ?)`,
          ...[id, tried, tried + pause],
        );
      }
      expect(pullBack(storage, now)).toBe(true);
      const read = (query: string) => [...sql.exec(query).raw()].flat();
      expect(read("SELECT due_at FROM delivery ORDER BY subscription")).toEqual([now, now + pause]);
      expect(read("SELECT not_before FROM subscription ORDER BY id")).toEqual([now, now + pause]);
      sql.exec("DELETE FROM delivery_attempt; DELETE FROM delivery; DELETE FROM subscription;");
    });
  });

  it("does not let a session live on until it has caught up", async () => {
    const { id } = await negotiate(registry, client(), bearer);
    const session = env.SESSIONS.get(env.SESSIONS.idFromString(id));
    await runInDurableObject(session, (_object, { storage }) => storage.kv.put("lastActivity", Date.now() + back));
    const fresh = new Registry();
    expect((await fresh.send("GET", "/mcp/session", { token: bearer, ...inSession(id) })).status).toBe(200);
    const activity = await runInDurableObject(session, (_object, { storage }) =>
      storage.kv.get<number>("lastActivity"),
    );
    expect(activity).toBeLessThanOrEqual(Date.now());
  });
});

describe("data of a newer version", () => {
  beforeEach(async () => {
    await inTenant(async (storage) => {
      storage.sql.exec("UPDATE meta SET value = 1000 WHERE key = 'steps'; ALTER TABLE server ADD COLUMN colour TEXT;");
      await storage.deleteAlarm();
    });
    await evictDurableObject(stub());
  });

  it("is read", async () => {
    const answer = await registry.send("GET", capabilities(tenant, "s"), {
      token: bearer,
      headers: { "Cache-Control": "no-cache" },
    });
    expect([answer.status, answer.body.data.tools[0].name]).toEqual([200, "a"]);
  });

  it("is not written: every write is refused with what to do, and changes nothing", async () => {
    const before = await inTenant(({ sql }) => [
      ...sql.exec("SELECT * FROM server").raw(),
      ...sql.exec("SELECT * FROM hook").raw(),
    ]);
    const hook = { tenant, server: "s" };
    const answers = [
      await publish("b"),
      await registry.send("PUT", configs, { token: bearer, body: { tenant, name: "s", title: "Other" } }),
      await registry.send("DELETE", config(tenant, "s"), { token: bearer }),
      await registry.send("POST", "/api/hooks", { token: bearer, body: hook }),
      await registry.send("POST", "/api/subscriptions", { token: bearer, body: { tenant, url: "https://a.example/" } }),
    ];
    for (const { status, body } of answers) expect([status, body.error.code]).toEqual([503, "ErrorNewerData"]);
    await inTenant((_storage, object) => object.alarm());
    const after = await inTenant(({ sql }) => [
      ...sql.exec("SELECT * FROM server").raw(),
      ...sql.exec("SELECT * FROM hook").raw(),
    ]);
    expect(after).toEqual(before);
  });

  it("is told of by /healthz", async () => {
    await publish("b");
    const { body } = await registry.send("GET", "/healthz");
    expect(body.data).toMatchObject({
      status: "degraded",
      problems: [{ message: expect.stringMatching(/newer version/) }],
    });
  });
});
