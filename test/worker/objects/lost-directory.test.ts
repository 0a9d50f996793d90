import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { directoryOf } from "../../../src/objects/stubs.ts";
import { serverJsonSchemaUri } from "../../../src/official/schema.ts";
import { member } from "../support/member.ts";
import { capabilities, drained, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const directory = directoryOf(env, createUsage());
const stub = () => env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));
const tenantStub = (tenant: string) => env.TENANTS.get(env.TENANTS.idFromName(tenant));

/** Takes everything from the directory but its list of servers, and lets its object go. */
async function lose(): Promise<void> {
  await runInDurableObject(stub(), async (_, { storage }) => {
    for (const table of ["card", "indexed_server", "server_version", "version_remote"]) {
      storage.sql.exec(`DELETE FROM ${table}`);
    }
    await storage.deleteAlarm();
  });
  await evictDurableObject(stub());
}

const versions = async () =>
  (await directory.listVersions({ includeDeleted: true, after: { name: "", version: "" }, limit: 1_000 })).versions;
const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 15_000, interval: 100 });
const tenantsWithVersions = async () => new Set((await versions()).map(({ name }) => name.split("/")[0])).size;

it("the directory asks tenants for the items and versions that it lost", async () => {
  const admin = await token({ admin: true, tenants: [] });
  const mine = await member("robbed");
  await mine.post({ name: "s", visibility: "public" });
  await mine.publish("s", tools("apple", "pear"));
  await mine.send("PATCH", capabilities("robbed", "s"), { items: [{ kind: "tool", name: "pear", enabled: false }] });
  await mine.publish("closed", tools("plum"));
  for (const version of ["1.0.0", "2.0.0"]) {
    const document = { $schema: serverJsonSchemaUri, name: "robbed/official", description: "Does things.", version };
    expect((await registry.send("POST", "/v0.1/publish", { token: admin, body: document })).status).toBe(200);
  }
  await drained("robbed");
  const state = async () => ({
    cards: (await directory.find({ text: "", limit: 100, tenants: [tenantKey("robbed")] })).cards,
    // Since when a version that was worked out has its status, only the directory knew.
    versions: (await versions()).map(({ statusChangedAt: _, ...version }) => version),
  });
  const before = await state();
  expect(before.cards.map(({ key }) => key)).toEqual(["apple"]);
  expect(before.versions).toHaveLength(3);

  await lose();
  expect(await state()).toEqual({ cards: [], versions: [] });
  expect(await runDurableObjectAlarm(stub())).toBe(true);
  await soon(async () => expect(await state()).toEqual(before));

  // Nothing is missing, so a directory that starts asks nobody: all it has left to do is to collect old segments.
  await soon(async () => {
    await runDurableObjectAlarm(stub());
    await evictDurableObject(stub());
    await directory.list({ tenants: "all", onlyPublic: true, after: { tenant: "", name: "" }, limit: 1 });
    const alarm = await runInDurableObject(stub(), (_, { storage }) => storage.getAlarm());
    expect(alarm ?? Number.POSITIVE_INFINITY).toBeGreaterThan(Date.now() + 60_000);
  });
});

it("tenants are asked twenty at a time, and one that cannot answer keeps nobody waiting", async () => {
  const names = Array.from({ length: 24 }, (_, index) => `slice-${String(index).padStart(2, "0")}`);
  await Promise.all(
    names.map(async (tenant) => {
      expect((await (await member(tenant)).post({ name: "s", visibility: "public" })).status).toBe(201);
      await drained(tenant);
    }),
  );
  const all = await tenantsWithVersions();
  await lose();
  // The first of them is a tenant whose object cannot read what it has.
  await runInDurableObject(tenantStub("slice-00"), (_, { storage }) => {
    storage.sql.exec("ALTER TABLE server RENAME TO damaged_server");
  });
  await evictDurableObject(tenantStub("slice-00"));

  expect(await tenantsWithVersions()).toBe(0);
  expect(await runDurableObjectAlarm(stub())).toBe(true);
  await soon(async () => expect(await tenantsWithVersions()).toBe(19));
  expect(await runDurableObjectAlarm(stub())).toBe(true);
  await soon(async () => expect(await tenantsWithVersions()).toBe(all - 1));
  // The tenant that failed is asked again, some minutes later.
  const next = await runInDurableObject(stub(), (_, { storage }) => storage.getAlarm());
  expect(next).toBeGreaterThan(Date.now() + 60_000);
});
