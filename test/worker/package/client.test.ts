import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createClient } from "../../../packages/rollcall/src/client/index.ts";
import { currentServer, lockServer, verifyLock } from "../../../packages/rollcall/src/lock/index.ts";
import { createSender, verifyWebhook } from "../../../packages/rollcall/src/webhooks/index.ts";
import { createFetch } from "../../../src/app.ts";
import { createServices } from "../../../src/services.ts";
import { token, tools } from "../support/registry.ts";

/** The client library in workerd: nothing in it is Node's. */

const answer = createFetch(createServices(env));
const fetch = async (url: string, init: RequestInit) => answer(new Request(url, init), env, createExecutionContext());
const mine = await token({ tenants: ["edge"] });
const client = createClient({ url: "https://registry.test", token: mine, fetch });

describe("the client in a Worker", () => {
  it("publishes, finds and reads", async () => {
    expect(await client.publish("edge/s", tools("edge_forecast"))).toMatchObject({ outcome: "created" });
    expect((await client.search("edge forecast", { tenants: ["edge"] })).items[0]).toMatchObject({ server: "s" });
    const first = await client.read("edge/s");
    expect(await client.read("edge/s")).toBe(first);
    expect((await client.capability("edge", "mcp.s.edge_forecast")).registry.tokens).toBeGreaterThan(0);
    expect((await client.view("edge/s", "tools")) as object).toBeTypeOf("object");
    expect((await client.catalog({ tenant: "edge" })).items).toHaveLength(1);
    expect((await client.whoami()).tenants).toEqual(["edge"]);
  });

  it("verifies a lock by digests that it works out itself", async () => {
    const lock = {
      lockfileVersion: 1,
      registry: "https://registry.test",
      servers: { "edge/s": lockServer(await currentServer(client.connection, "edge/s")) },
    };
    expect(await verifyLock(client.connection, lock, { recompute: true })).toMatchObject({ ok: true });
    await client.publish("edge/s", tools("edge_forecast", "edge_more"));
    expect((await verifyLock(client.connection, lock)).servers[0]?.findings).toMatchObject([
      { item: "tool:edge_more", finding: "added", level: "warn" },
    ]);
  });

  it("negotiates and follows the log", async () => {
    const session = await client.negotiate({ task: "forecast", budget: 500 });
    expect(session.items.length).toBeGreaterThan(0);
    await session.end();
    for await (const change of client.changes("edge", { since: 0, verify: true })) {
      expect(change).toMatchObject({ sequence: 1 });
      break;
    }
  });

  it("sends hook events that the registry takes, and verifies what it sends", async () => {
    const hook = await client.hooks.add({ tenant: "edge", server: "s" });
    const sender = await createSender({ url: hook.url, secret: hook.secret ?? "", fetch });
    const sent = await sender.send("manifest.published", { manifest: tools("edge_forecast") }, { sequence: 1 });
    expect(sent).toMatchObject({ status: 202, answer: { outcome: "applied" } });
    const copy: Request[] = [];
    const looped = await createSender({
      url: "https://receiver.test/",
      secret: hook.secret ?? "",
      fetch: async (url, init) => {
        copy.push(new Request(url, init));
        return new Response("{}");
      },
    });
    await looped.send("server.removed", {}, { sequence: 2 });
    expect(await verifyWebhook(copy[0] as Request, [hook.secret ?? ""])).toMatchObject({ ok: true });
  });
});
