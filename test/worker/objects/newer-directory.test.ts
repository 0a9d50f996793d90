import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { serverJsonSchemaUri } from "../../../src/official/schema.ts";
import { capabilities, configs, drained, Registry, token, tools } from "../support/registry.ts";

/** The directory has run steps that this version does not know. */

const registry = new Registry({ vars: { DIRECTORY_MB: "0" } });
const stub = () => env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));
const rows = () =>
  runInDurableObject(stub(), (_, { storage }) => [...storage.sql.exec("SELECT * FROM server ORDER BY name").raw()]);
let mine: string;
let admin: string;

beforeAll(async () => {
  mine = await token({ tenants: ["elder"] });
  admin = await token({ admin: true, tenants: [] });
  const config = { tenant: "elder", name: "s", visibility: "public" };
  expect((await registry.send("POST", configs, { token: mine, body: config })).status).toBe(201);
  await registry.send("PUT", capabilities("elder", "s"), { token: mine, body: tools("a") });
  await drained("elder");
  await runInDurableObject(stub(), async (_, { storage }) => {
    storage.sql.exec("UPDATE meta SET value = 1000 WHERE key = 'steps'; ALTER TABLE server ADD COLUMN colour TEXT;");
    await storage.deleteAlarm();
  });
  await evictDurableObject(stub());
});

it("is listed from", async () => {
  const { status, body } = await registry.send("GET", "/api/catalog?tenant=elder");
  expect([status, body.data.items.map(({ name }: { name: string }) => name)]).toEqual([200, ["s"]]);
});

it("is not written: a publish is taken by its tenant, and what needs the directory is refused with what to do", async () => {
  const before = await rows();
  const published = await registry.send("PUT", capabilities("elder", "s"), { token: mine, body: tools("b") });
  expect(published.status).toBe(200);
  const remotes = [{ type: "streamable-http", url: "https://mcp.elder.example.com/mcp" }];
  const document = { name: "elder/remote", description: "Does things.", version: "1.0.0", remotes };
  const refused = [
    await registry.send("POST", "/v0.1/publish", { token: admin, body: { $schema: serverJsonSchemaUri, ...document } }),
    await registry.send("POST", "/api/directory/rebuild", { token: admin, body: {} }),
  ];
  expect(refused.map(({ status, body }) => [status, body.code ?? body.error.code])).toEqual([
    [503, "ErrorNewerData"],
    [503, "ErrorNewerData"],
  ]);
  expect(await rows()).toEqual(before);
});

it("is told of by /healthz", async () => {
  const { body } = await registry.send("GET", "/healthz");
  expect(body.data).toMatchObject({
    status: "degraded",
    problems: [{ message: expect.stringMatching(/newer version/) }],
  });
});
