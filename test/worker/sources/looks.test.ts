import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import type { TenantObject } from "../../../src/objects/tenant/tenant-object.ts";
import { headKey } from "../../../src/registry/cache/keys.ts";
import { capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";
import { type Offer, serveUpstreams } from "../support/upstreams.ts";

/** Looks at sources that find nothing new: they move a time, and tell nobody. operation-budget.test.ts has the price. */

const registry = new Registry();
const tenant = "looks";
let mine: string;
let offers: Map<string, Offer>;

beforeAll(async () => {
  mine = await token({ tenants: [tenant] });
  offers = serveUpstreams();
});

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const query = (text: string) => runInDurableObject(stub(), (_, { storage }) => storage.sql.exec(text).toArray());

/** A server with one source, read, told to everyone, and some minutes old. */
async function read(name: string, minutesAgo: number): Promise<void> {
  offers.set(`${name}.example`, { tools: tools("one").tools });
  const sources = [{ id: "main", type: "streamable-http", url: `https://${name}.example/mcp` }];
  expect((await send("POST", configs, { tenant, name, sources })).status).toBe(201);
  await vi.waitFor(async () =>
    expect(await query(`SELECT 1 FROM source WHERE server = '${name}' AND state = 'live'`)).toHaveLength(1),
  );
  await drained(tenant);
  const then = new Date(Date.now() - minutesAgo * 60_000).toISOString();
  await query(`UPDATE server SET last_synced = '${then}', updated_at = '${then}' WHERE name = '${name}'`);
  await query(`UPDATE source SET last_synced = '${then}' WHERE server = '${name}'`);
  await query(`INSERT INTO outbox (task, subject, version, due_at) VALUES ('head', '${name}', 1, 0)`);
  await drained(tenant);
}

const told = async (name: string) =>
  (await env.REGISTRY.get<{ lastSynced: string }>(headKey(tenantKey(tenant), name), "json"))?.lastSynced ?? "";
const known = async (name: string): Promise<string> => {
  const { data } = (await send("GET", capabilities(tenant, name), undefined, { "Cache-Control": "no-cache" })).body;
  return { ...data, ...data.registry }.lastSynced;
};

/** Everything that is due happens. */
async function look(name: string): Promise<void> {
  await query(`UPDATE source SET next_at = 1 WHERE server = '${name}'`);
  await runInDurableObject(stub(), (object) => (object as unknown as TenantObject).alarm());
  await vi.waitFor(async () => {
    const due = await query(`SELECT 1 FROM source WHERE server = '${name}' AND next_at < 2`);
    expect(due).toEqual([]);
  });
  await drained(tenant);
}

describe("a look that finds nothing new", () => {
  it("moves `lastSynced` in the object, which no-cache shows, and leaves the edge as it was", async () => {
    await read("quiet", 4);
    const before = await told("quiet");
    await look("quiet");
    expect(await told("quiet")).toBe(before);
    expect(Date.parse(await known("quiet"))).toBeGreaterThan(Date.now() - 60_000);
  });

  it("tells the edge before that is 15 minutes behind", async () => {
    await read("told", 11);
    await look("told");
    expect(Date.parse(await told("told"))).toBeGreaterThan(Date.now() - 60_000);
  });

  it("is followed by another, also when the object was evicted meanwhile", async () => {
    await read("again", 4);
    await look("again");
    const [{ next_at: next } = {}] = await query("SELECT next_at FROM source WHERE server = 'again'");
    expect(Number(next)).toBeGreaterThan(Date.now() + 30_000);
    await evictDurableObject(stub());
    const alarm = await runInDurableObject(stub(), (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeLessThanOrEqual(Number(next));
  });
});

describe("a look that is not the whole story", () => {
  it("publishes what changed", async () => {
    await read("changed", 1);
    (offers.get("changed.example") as Offer).tools = tools("two").tools;
    await look("changed");
    const { tools: shown } = (
      await send("GET", capabilities(tenant, "changed"), undefined, { "Cache-Control": "no-cache" })
    ).body.data;
    expect(shown.map(({ name }: { name: string }) => name)).toEqual(["two"]);
    expect(Date.parse(await told("changed"))).toBeGreaterThan(Date.now() - 30_000);
  });

  it("takes the place that a push gave up", async () => {
    await read("room", 1);
    await send("PUT", capabilities(tenant, "room"), tools("pushed"));
    (offers.get("room.example") as Offer).tools = tools("one", "pushed").tools;
    await look("room");
    await send("PUT", capabilities(tenant, "room"), { tools: [] });
    await look("room");
    const { tools: shown } = (
      await send("GET", capabilities(tenant, "room"), undefined, { "Cache-Control": "no-cache" })
    ).body.data;
    expect(shown.map(({ name }: { name: string }) => name).sort()).toEqual(["one", "pushed"]);
  });

  it("ends with the server's withdrawal, and starts with its return", async () => {
    await read("off", 1);
    await send("PATCH", config(tenant, "off"), { status: "withdrawn", statusMessage: "Use another" });
    expect(await query("SELECT 1 FROM source WHERE server = 'off' AND next_at IS NOT NULL")).toEqual([]);
    await send("PATCH", config(tenant, "off"), { status: "active", statusMessage: null });
    await vi.waitFor(async () =>
      expect(await query("SELECT 1 FROM source WHERE server = 'off' AND next_at IS NOT NULL")).toHaveLength(1),
    );
  });
});
