import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import { member } from "../support/member.ts";
import { drained, Registry, token, tools } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";
import { built, isolate, shown, stub } from "./edges.ts";

const registry = new Registry({ cache: separateCache(), vars: { DIRECTORY_MB: "0" } });
const rebuild = async (body: unknown, who: string) =>
  registry.send("POST", "/api/directory/rebuild", { token: who, body });

it("a directory that lost everything is rebuilt from the tenants, in a new epoch, and is equal afterwards", async () => {
  const admin = await token({ admin: true });
  for (const tenant of ["whole-a", "Whole-B"]) {
    const mine = await member(tenant);
    await mine.post({ name: "open", visibility: "public" });
    await mine.publish("open", tools("apple", "pear"));
    await mine.publish("closed", tools("secret"));
    await mine.post({ name: "gone", visibility: "public" });
    await mine.remove("gone");
    await drained(tenant.toLowerCase());
  }
  await built();
  const catalogue = async () =>
    (await registry.send("GET", "/api/catalog?limit=100", { token: admin, headers: { "Cache-Control": "no-cache" } }))
      .body.data;
  const listed = async () =>
    (await registry.send("GET", "/v0.1/servers", {})).body.servers.map(({ server }: { server: unknown }) => server);
  const before = { ...(await catalogue()), generation: 0 };
  const versions = await listed();
  const view = await isolate().view();
  expect(shown(view)).toEqual(["whole-a/open: apple pear", "whole-b/open: apple pear"]);

  await runInDurableObject(stub(), (_, { storage }) => {
    for (const table of ["card", "indexed_server", "server_version", "version_remote", "server"]) {
      storage.sql.exec(`DELETE FROM ${table}`);
    }
    // Whoever kept an answer must not have it confirmed.
    storage.sql.exec("UPDATE meta SET value = value + 1 WHERE key = 'generation'");
  });
  await evictDurableObject(stub());
  expect((await catalogue()).items).toEqual([]);
  expect((await rebuild({}, await token({ tenants: ["whole-a"] }))).status).toBe(403);
  expect((await rebuild({ cursor: 7 }, admin)).status).toBe(422);
  const { status, body } = await rebuild({}, admin);
  expect([status, body.data.asked, body.data.failed, body.data.nextCursor]).toEqual([200, 2, [], undefined]);
  expect(body.data.directory.split(".")[0]).not.toBe(view?.epoch);
  await vi.waitFor(async () => expect({ ...(await catalogue()), generation: 0 }).toEqual(before), { timeout: 10_000 });
  await vi.waitFor(async () => expect(await listed()).toEqual(versions), { timeout: 10_000 });
  await vi.waitFor(async () => {
    await built();
    const after = await isolate().view();
    expect([after?.epoch, shown(after)]).toEqual([body.data.directory.split(".")[0], shown(view)]);
  });
});

it("a directory that says something else believes its tenants again", async () => {
  const admin = await token({ admin: true });
  const row = () =>
    runInDurableObject(stub(), (_, { storage }) =>
      storage.sql
        .exec("SELECT public, generation, entry FROM server WHERE tenant = 'whole-a' AND name = 'closed'")
        .one(),
    );
  const before = await row();
  // Damaged: a private server is public here, at a generation that its tenant has not reached.
  await runInDurableObject(stub(), (_, { storage }) => {
    storage.sql.exec(
      `UPDATE server SET public = 1, generation = 1000000, entry = json_set(entry, '$.visibility', 'public')
       WHERE tenant = 'whole-a' AND name = 'closed'`,
    );
  });
  await evictDurableObject(stub());
  await rebuild({}, admin);
  await vi.waitFor(async () => expect(await row()).toEqual(before), { timeout: 10_000 });
});
