import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { configs, drained, Registry, token, tools } from "../support/registry.ts";
import { serveUpstreams } from "../support/upstreams.ts";

/** How long others wait when more hang than there are places: reading-places.test.ts; measured: `npm run drill:hanging`. */

const registry = new Registry();
const tenant = "hanging";

it("new sources that hang keep no new source waiting while there are places", async () => {
  const offers = serveUpstreams();
  const mine = await token({ tenants: [tenant] });
  const add = async (name: string) => {
    const sources = [{ id: "main", type: "streamable-http", url: `https://${name}.example/mcp` }];
    const { status } = await registry.send("POST", configs, { token: mine, body: { tenant, name, sources } });
    expect(status).toBe(201);
  };
  const stateOf = (name: string) =>
    runInDurableObject(
      env.TENANTS.get(env.TENANTS.idFromName(tenant)),
      (_, { storage }) => storage.sql.exec("SELECT state FROM source WHERE server = ?", name).one()["state"],
    );
  const over = Promise.withResolvers<void>();
  const hanging = ["hangs-1", "hangs-2", "hangs-3"];
  for (const name of hanging) {
    offers.set(`${name}.example`, { tools: tools("one").tools, hangsUntil: over.promise });
    await add(name);
  }
  offers.set("healthy.example", { tools: tools("one").tools });
  await add("healthy");
  await vi.waitFor(async () => expect(await stateOf("healthy")).toBe("live"), 3_000);
  expect(await Promise.all(hanging.map(stateOf))).toEqual(["pending", "pending", "pending"]);
  over.resolve();
  await vi.waitFor(
    async () => expect(await Promise.all(hanging.map(stateOf))).toEqual(["live", "live", "live"]),
    3_000,
  );
  await drained(tenant);
});
