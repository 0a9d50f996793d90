import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { capabilities, drained, Registry, token, tools } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

let clock = Date.now();
const registry = new Registry({ now: () => clock, cache: separateCache() });
let member: string;

beforeAll(async () => {
  member = await token({ tenants: ["hot"] });
  await registry.send("PUT", capabilities("hot", "s"), { token: member, body: tools("a") });
  await drained("hot");
});

/** What one request touches. */
async function touched(headers: Record<string, string> = {}) {
  const before = { ...registry.services.usage };
  const answer = await registry.send("GET", capabilities("hot", "s"), { token: member, headers });
  const after = registry.services.usage;
  const delta = Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - before[name as keyof typeof before]]),
  );
  return { ...delta, source: answer.headers.get("Rollcall-Source"), status: answer.status };
}

describe("what a read touches", () => {
  it("is memory alone when hot", async () => {
    await touched();
    expect(await touched()).toEqual({ ...createUsage(), memory: 2, source: "memory", status: 200 });
  });

  it("is memory alone for a 304", async () => {
    const etag = (await registry.send("GET", capabilities("hot", "s"), { token: member })).headers.get("ETag") ?? "";
    expect(await touched({ "If-None-Match": etag })).toMatchObject({
      memory: 2,
      cacheReads: 0,
      kvReads: 0,
      objectCalls: 0,
      status: 304,
    });
  });

  it("is one cache read once the head is 2 s old, the rendered view staying in memory", async () => {
    // Confirmed by the object, which a write is not.
    await touched({ "Cache-Control": "no-cache" });
    clock += 2_001;
    expect(await touched()).toMatchObject({
      memory: 1,
      cacheReads: 1,
      cacheWrites: 0,
      kvReads: 0,
      objectCalls: 0,
      source: "edge",
    });
  });

  it("is one KV read once the head is 15 s old", async () => {
    clock += 20_000;
    expect(await touched()).toMatchObject({ kvReads: 1, objectCalls: 0, source: "kv" });
  });

  it("is one object call for a strong read", async () => {
    expect(await touched({ "Cache-Control": "no-cache" })).toMatchObject({
      kvReads: 0,
      objectCalls: 1,
      source: "object",
    });
  });

  it("goes as far as the object for the body only when KV has lost it", async () => {
    const { keys } = await env.REGISTRY.list({ prefix: "manifest/hot/" });
    for (const { name } of keys) await env.REGISTRY.delete(name);
    const other = new Registry({ cache: separateCache() });
    const answer = await other.send("GET", capabilities("hot", "s"), { token: member });
    expect([answer.status, answer.headers.get("Rollcall-Source")]).toEqual([200, "object"]);
    expect(answer.body.data.tools).toHaveLength(1);
  });
});
