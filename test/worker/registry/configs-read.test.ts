import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { bodyKey, headKey } from "../../../src/registry/cache/keys.ts";
import { clock, type Member, member, registry } from "../support/member.ts";
import { capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";

describe("reading a config", () => {
  let read: Member;
  beforeAll(async () => {
    read = await member("read");
    await read.post({ name: "s", title: "S", visibility: "public", "x-kept": true });
  });

  it("shows the settings, and what the registry knows beside them", async () => {
    const empty = (await read.get("s")).body;
    expect(empty).toMatchObject({ success: true, message: "MCP server information retrieved successfully" });
    expect(empty.data).toMatchObject({ tenant: "read", name: "s", title: "S", visibility: "public", "x-kept": true });
    expect(empty.data.registry).toMatchObject({ generation: 1, disabled: [], flags: [] });
    expect(empty.data.registry.digest).toBeUndefined();

    const published = await read.publish("s", {
      version: "1.2",
      ...tools("read_a", "read_b"),
      prompts: [{ name: "p" }],
    });
    const { data } = (await read.get("s")).body;
    expect(data.registry).toMatchObject({
      generation: published.body.data.generation,
      digest: published.body.data.digest,
      version: "1.2",
      counts: { tool: 2, prompt: 1 },
    });
    expect(data.registry.tokens).toBe((await read.capabilities("s")).body.data.registry.tokens);
    expect(Date.parse(data.registry.lastSynced)).not.toBeNaN();
    expect(data.createdAt).toBe(empty.data.createdAt);
    expect(data.updatedAt >= data.createdAt).toBe(true);
  });

  it("answers 304 until the config, the manifest or a switch changes", async () => {
    await read.post({ name: "tag" });
    await read.publish("tag", tools("read_tag"));
    let etag = "";
    const unchanged = async () => {
      const { status, headers, text } = await read.get("tag", { "If-None-Match": etag });
      etag = headers.get("ETag") ?? "";
      return status === 304 && text === "";
    };
    expect(await unchanged()).toBe(false);
    expect(await unchanged()).toBe(true);
    await read.put({ name: "tag", title: "T" });
    expect([await unchanged(), await unchanged()]).toEqual([false, true]);
    await read.publish("tag", tools("read_tag", "read_tag2"));
    expect([await unchanged(), await unchanged()]).toEqual([false, true]);
    await read.send("PATCH", capabilities("read", "tag"), {
      items: [{ kind: "tool", name: "read_tag", enabled: false }],
    });
    expect([await unchanged(), await unchanged()]).toEqual([false, true]);
  });

  it("answers 404 for what is not there, 412 for a generation ahead, and refuses a query", async () => {
    expect((await read.get("missing")).body.error.code).toBe("ErrorMCPServerNotFound");
    expect((await read.get("s", { "Rollcall-Min-Generation": "9999" })).status).toBe(412);
    const { status, body } = await read.send("GET", `${config("read", "s")}?verbose=1`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('"verbose"')]);
  });
});

describe("deleting a server", () => {
  let gone: Member;
  beforeAll(async () => {
    gone = await member("gone");
  });

  it("answers 200, by when it is gone everywhere, and 404 from then on", async () => {
    const published = await gone.publish("s", tools("gone_s"));
    const { digest, generation } = published.body.data;
    const { status, body, headers } = await gone.remove("s");
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: "MCP server deleted successfully",
      data: { generation: generation + 1, effectiveBy: new Date(clock + 80_000).toISOString() },
    });
    expect(headers.get("Rollcall-Generation")).toBe(String(generation + 1));

    const view = capabilities("gone", "s");
    for (const [method, path, sent] of [
      ["GET", config("gone", "s")],
      ["DELETE", config("gone", "s")],
      ["PUT", configs, { tenant: "gone", name: "s" }],
      ["GET", view],
      ["PATCH", view, { items: [{ kind: "tool", name: "gone_s", enabled: false }] }],
      ["GET", `${view}/revisions`],
      ["GET", `${view}/revisions/${digest}`],
      ["GET", `${view}/diff?from=${digest}`],
    ] as const) {
      const answer = await gone.send(method, path, sent);
      expect([method, path, answer.status, answer.body.error.code]).toEqual([
        method,
        path,
        404,
        "ErrorMCPServerNotFound",
      ]);
    }
    const { items } = (await gone.send("GET", configs)).body.data;
    expect(items.map(({ name }: { name: string }) => name)).not.toContain("s");
  });

  it("takes the manifest out of KV, and leaves a tombstone for the head", async () => {
    const { digest } = (await gone.publish("kv", tools("gone_kv"))).body.data;
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey(tenantKey("gone"), "kv", digest))).not.toBeNull();
    await gone.remove("kv");
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey(tenantKey("gone"), "kv", digest))).toBeNull();
    expect(await env.REGISTRY.get(headKey(tenantKey("gone"), "kv"), "json")).toMatchObject({ deleted: true });
  });

  it("leaves a server that published the same manifest whole", async () => {
    const { digest } = (await gone.publish("twin-a", tools("gone_twin"))).body.data;
    await gone.publish("twin-b", tools("gone_twin"));
    await drained("gone");
    await gone.remove("twin-a");
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey(tenantKey("gone"), "twin-a", digest))).toBeNull();
    expect(await env.REGISTRY.get(bodyKey(tenantKey("gone"), "twin-b", digest))).not.toBeNull();
    const mine = await token({ tenants: ["gone"] });
    for (const isolate of [registry, new Registry()]) {
      const { status, body } = await isolate.send("GET", capabilities("gone", "twin-b"), { token: mine });
      expect([status, body.data.tools.length]).toEqual([200, 1]);
    }
  });

  it("does nothing when If-Match does not", async () => {
    await gone.post({ name: "kept" });
    const refused = await gone.remove("kept", { "If-Match": '"sha256-0"' });
    expect([refused.status, refused.body.error.code]).toEqual([412, "ErrorPreconditionFailed"]);
    const etag = (await gone.get("kept")).headers.get("ETag") ?? "";
    expect((await gone.remove("kept", { "If-Match": etag })).status).toBe(200);
  });

  it("lets the name be registered again, empty", async () => {
    const old = (await gone.publish("again", tools("gone_again"))).body.data;
    await gone.put({ name: "again", visibility: "public", title: "Old" });
    await gone.send("PATCH", capabilities("gone", "again"), {
      items: [{ kind: "tool", name: "gone_again", enabled: false }],
    });
    const etag = (await gone.get("again")).headers.get("ETag");
    await gone.remove("again");

    expect((await gone.post({ name: "again" })).status).toBe(201);
    const { body, headers } = await gone.get("again");
    expect(headers.get("ETag")).not.toBe(etag);
    expect(body.data).toMatchObject({ visibility: "tenant", registry: { disabled: [], flags: [] } });
    expect([body.data.title, body.data.registry.digest, body.data.registry.counts]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect((await gone.capabilities("again")).body.data.tools).toEqual([]);
    expect((await gone.send("GET", `${capabilities("gone", "again")}/revisions`)).body.data.items).toEqual([]);
    expect((await gone.send("GET", `${capabilities("gone", "again")}/revisions/${old.digest}`)).status).toBe(404);

    // The same manifest as before: its body was dropped with the old server and must be there again.
    const back = await gone.publish("again", tools("gone_again"));
    expect([back.body.data.digest, (await gone.capabilities("again")).body.data.tools.length]).toEqual([old.digest, 1]);
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey(tenantKey("gone"), "again", old.digest))).not.toBeNull();
  });

  it("lets the name be published again, to the tenant alone", async () => {
    await gone.post({ name: "republished", visibility: "public" });
    await gone.remove("republished");
    expect((await gone.publish("republished", tools("gone_republished"))).status).toBe(201);
    expect((await gone.get("republished")).body.data.visibility).toBe("tenant");
  });
});

describe("what a path takes", () => {
  it.each([
    ["DELETE", configs, "GET, HEAD, POST, PUT"],
    ["PUT", config("make", "one"), "GET, HEAD, PATCH, DELETE"],
  ])("%s %s is 405 with the methods it takes", async (method, path, allow) => {
    const { status, headers } = await registry.send(method, path, { token: await token({ tenants: ["make"] }) });
    expect([status, headers.get("Allow")]).toEqual([405, allow]);
  });
});
