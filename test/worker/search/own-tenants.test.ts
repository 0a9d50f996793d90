import { beforeAll, expect, it, vi } from "vitest";
import { built } from "../directory/edges.ts";
import { capabilities, config, configs, Registry, token } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

const [tenant, word] = ["own-open", "zqxopen"];
let now = Date.now();
const here = new Registry({ cache: separateCache(), now: () => now });
let who: string;

const tool = (name: string) => ({ name, description: `Does ${word} things.`, inputSchema: { type: "object" } });
const send = (method: string, path: string, body?: object) => here.send(method, path, { token: who, body });

/** Names found, and how many objects were asked. */
async function search(query = "", headers: Record<string, string> = {}): Promise<[string[], number]> {
  const before = here.services.usage.objectCalls;
  const { body } = await here.send("GET", `/api/search?task=${word}${query}`, { token: who, headers });
  const names = body.data.items.map(({ name }: { name: string }) => name).sort();
  return [names, here.services.usage.objectCalls - before];
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
