import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { backToFirstTables } from "../support/first-tables.ts";
import { config, configs, Registry, token } from "../support/registry.ts";

it("sources that settings named before anything read them are taken up, the first of each id", async () => {
  const registry = new Registry();
  const bearer = await token({ tenants: ["aged"] });
  const body = { tenant: "aged", name: "s" };
  expect((await registry.send("POST", configs, { token: bearer, body })).status).toBe(201);
  // An address that is refused: nothing leaves the test.
  const source = { id: "twin", type: "streamable-http", url: "http://127.0.0.1:9/mcp" };
  await runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName("aged")), (_, { storage }) => {
    const old = JSON.stringify({ ...body, visibility: "tenant", sources: [source, source] });
    storage.sql.exec("UPDATE server SET config = ?", old);
  });
  await backToFirstTables("aged");
  const refreshed = await registry.send("POST", "/api/mcp/capabilities/aged/s/refresh", { token: bearer });
  expect(refreshed.body.data.sources).toMatchObject([{ id: "twin", status: "unreachable", error: "refused" }]);
  const shown = await registry.send("GET", config("aged", "s"), { token: bearer });
  expect(shown.body.data.registry.sources).toHaveLength(1);
});
