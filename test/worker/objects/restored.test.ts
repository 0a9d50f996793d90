import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { headKey } from "../../../src/registry/cache/keys.ts";
import { capabilities, configs, drained, Registry, token, tools } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

/** An object that was set back to an earlier point in time, while KV, the directory and the caches were not. */

let registry: Registry;
let round = 0;
let tenant = "";
let bearer = "";

const publish = async (server: string, ...names: string[]) =>
  (await registry.send("PUT", capabilities(tenant, server), { token: bearer, body: tools(...names) })).body.data;
const read = (server: string, of = registry, headers: Record<string, string> = {}) =>
  of.send("GET", capabilities(tenant, server), { token: bearer, headers });
const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const stored = (server: string) =>
  env.REGISTRY.get<{ generation: number; deleted?: true }>(headKey(tenantKey(tenant), server), "json");
const noCache = { "Cache-Control": "no-cache" };
/** A data centre that has seen nothing yet. */
const elsewhere = () => new Registry({ cache: separateCache() });

/** As the rows of the object were before: their generations are those of the publishes that the restore undid. */
async function setBack(): Promise<void> {
  await drained(tenant);
  await runInDurableObject(stub(), (_object, { storage }) => {
    storage.sql.exec("UPDATE meta SET value = 2 WHERE key = 'generation'");
    storage.sql.exec("UPDATE server SET generation = 2, overlay = 1 WHERE name = 'shop'");
    storage.sql.exec("DELETE FROM server WHERE name = 'later'");
    storage.sql.exec("DELETE FROM change WHERE generation > 2; DELETE FROM outbox;");
  });
  await evictDurableObject(stub());
}

beforeEach(async () => {
  registry = new Registry({ cache: separateCache() });
  tenant = `restored-${++round}`;
  bearer = await token({ sub: tenant, tenants: [tenant] });
  await publish("other", "a");
  for (const name of ["one", "two", "three", "four"]) await publish("shop", name);
  expect(await publish("later", "b")).toMatchObject({ generation: 6 });
  await setBack();
});

describe("an object that is older than KV", () => {
  it("goes on above everything that was shown, before its next write of any server", async () => {
    expect((await publish("other", "c")).generation).toBe(8);
    await drained(tenant);
    expect((await stored("shop"))?.generation).toBe(7);
  });

  it("has its own state shown again: no head above it is left in KV", async () => {
    await publish("other", "c");
    await drained(tenant);
    const answer = await read("shop", elsewhere());
    expect(answer.status).toBe(200);
    expect(Number(answer.headers.get("Rollcall-Generation"))).toBeGreaterThan(6);
    // What was published after the point it was set back to is gone, as it is in the object.
    expect((await stored("later"))?.deleted).toBe(true);
    expect((await read("later", elsewhere())).status).toBe(404);
  });

  it("is found out by a reader who was shown more", async () => {
    expect((await read("shop")).status).toBe(200);
    const answer = await read("shop", registry, noCache);
    expect(Number(answer.headers.get("Rollcall-Generation"))).toBe(7);
    await vi.waitFor(async () => expect((await stored("shop"))?.generation).toBe(7));
  });

  it("takes a new server under a name that KV still had", async () => {
    const config = { tenant, name: "later" };
    expect((await registry.send("POST", configs, { token: bearer, body: config })).status).toBe(201);
    await drained(tenant);
    expect(await stored("later")).toMatchObject({ generation: 8 });
  });

  describe("and KV knows no later state", () => {
    beforeEach(async () => {
      for (const server of ["shop", "later", "other"]) await env.REGISTRY.delete(headKey(tenantKey(tenant), server));
    });

    it("goes above what a reader was shown, once", async () => {
      const generations = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const answer = await read("shop", registry, noCache);
        generations.push(Number(answer.headers.get("Rollcall-Generation")));
      }
      expect(generations).toEqual([6, 6, 6]);
      await vi.waitFor(async () => expect((await stored("shop"))?.generation).toBe(6));
    });

    it("does so for another server that it had in a later state, too", async () => {
      await read("shop", registry, noCache);
      expect((await read("later", registry, noCache)).status).toBe(404);
      await vi.waitFor(async () => expect(await stored("later")).toMatchObject({ generation: 7, deleted: true }));
    });
  });
});
