import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it, vi } from "vitest";
import { built } from "../directory/edges.ts";
import { capabilities, config, configs, Registry, token } from "../support/registry.ts";
import { separateCache, staleKv } from "../support/stale-kv.ts";

const [tenant, word] = ["own-open", "zqxopen"];
let now = Date.now();
const here = new Registry({ cache: separateCache(), now: () => now });
/** In another data centre, whose KV is five minutes late. */
const there = new Registry({
  cache: separateCache(),
  now: () => now,
  kv: staleKv(env.REGISTRY, () => now, 300_000),
});
let who: string;

const tool = (name: string) => ({ name, description: `Does ${word} things.`, inputSchema: { type: "object" } });
const send = (method: string, path: string, body?: object) => here.send(method, path, { token: who, body });

/** Names found, and how many objects were asked. */
async function search(query = "", headers: Record<string, string> = {}, where = here): Promise<[string[], number]> {
  const before = where.services.usage.objectCalls;
  const { body } = await where.send("GET", `/api/search?task=${word}${query}`, { token: who, headers });
  const names = body.data.items.map(({ name }: { name: string }) => name).sort();
  return [names, where.services.usage.objectCalls - before];
}

beforeAll(async () => {
  who = await token({ sub: "member", tenants: [tenant] });
  await send("POST", configs, { tenant, name: "open", visibility: "public" });
  await send("PUT", capabilities(tenant, "open"), { tools: [tool("one")] });
  await built();
  await vi.waitFor(async () => expect(await here.services.edgeDirectory.current()).toBeDefined());
});

it("a member of tenants that have nothing private is answered from memory, and the tenant asked once in two seconds", async () => {
  now += 3_000;
  expect(await search()).toEqual([["one"], 1]);
  expect(await search("&limit=9")).toEqual([["one"], 0]);
  expect(await search(`&tenant=${tenant}`)).toEqual([["one"], 0]);
  now += 3_000;
  expect(await search("&limit=8")).toEqual([["one"], 1]);
  // The tenant and the directory.
  expect(await search("&limit=7", { "Cache-Control": "no-cache" })).toEqual([["one"], 2]);
});

it("what the member writes is found at once: public, private, and what was narrowed", async () => {
  await send("PUT", capabilities(tenant, "open"), { tools: [tool("one"), tool("two")] });
  expect((await search())[0]).toEqual(["one", "two"]);
  await send("POST", configs, { tenant, name: "closed" });
  await send("PUT", capabilities(tenant, "closed"), { tools: [tool("hidden")] });
  expect((await search())[0]).toEqual(["hidden", "one", "two"]);
  await send("PATCH", config(tenant, "open"), { visibility: "tenant" });
  expect((await search())[0]).toEqual(["hidden", "one", "two"]);
  const { body } = await here.send("GET", `/api/search?task=${word}`);
  expect(body.data.items).toEqual([]);
  await send("PATCH", config(tenant, "open"), { visibility: "public" });
  await send("DELETE", config(tenant, "closed"));
  expect((await search())[0]).toEqual(["one", "two"]);
  expect((await search("&limit=6"))[1]).toBe(0);
});

it("what becomes public elsewhere never leaves the sight of members, and what is published there is found in two seconds", async () => {
  const limited = (limit: number) => search(`&limit=${limit}`, {}, there);
  await vi.waitFor(async () => expect(await there.services.edgeDirectory.current()).toBeDefined());
  await send("POST", configs, { tenant, name: "late" });
  await send("PUT", capabilities(tenant, "late"), { tools: [tool("three")] });
  now += 3_000;
  expect((await limited(9))[0]).toEqual(["one", "three", "two"]);
  await send("PATCH", config(tenant, "late"), { visibility: "public" });
  await built();
  now += 3_000;
  // The tenant, which has nothing private any more, and the directory for what has changed.
  expect(await limited(8)).toEqual([["one", "three", "two"], 2]);
  expect(await limited(7)).toEqual([["one", "three", "two"], 0]);
  await send("PUT", capabilities(tenant, "late"), { tools: [tool("four")] });
  now += 3_000;
  expect(await limited(9)).toEqual([["four", "one", "two"], 2]);
  // A tenant that does not remember what it sent asks the directory, which has not changed for the reader.
  await evictDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)));
  now += 3_000;
  expect(await limited(8)).toEqual([["four", "one", "two"], 1]);
});
