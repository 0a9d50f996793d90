import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, capabilities, config, configs, drained, Registry, token } from "../support/registry.ts";
import { separateCache, staleKv } from "../support/stale-kv.ts";
import { built } from "./edges.ts";

/** What is taken away is gone everywhere by `effectiveBy`, in every list of what is public, with KV five minutes late. */
const tenant = "eff";
const words = "measure%20barometric%20pressure";
let clock = Date.now();
const now = () => clock;
const here = new Registry({ now, cache: separateCache() });
const elsewhere = () => new Registry({ now, cache: separateCache(), kv: staleKv(env.REGISTRY, now, 300_000) });
/** Asked all the time. */
const busy = elsewhere();
/** Asked before, and then at the deadline alone. */
const seldom = elsewhere();
let who: string;

const send = (method: string, path: string, body?: object) => here.send(method, path, { token: who, body });

interface Shown {
  catalogue: string[];
  search: string[];
  official: string[];
  sources: (string | null)[];
}

/** What each list of a data centre shows, to anyone. */
async function shown(where: Registry): Promise<Shown> {
  const [listed, found, official] = await Promise.all([
    where.send("GET", `/api/catalog?tenant=${tenant}`),
    where.send("GET", `/api/search?task=${words}&tenant=${tenant}`),
    where.send("GET", `/v0.1/servers?search=${tenant}`),
  ]);
  return {
    catalogue: listed.body.data.items.map(({ name }: { name: string }) => name),
    search: found.body.data.items.map(({ name }: { name: string }) => name),
    official: official.body.servers.map(({ server }: { server: { name: string } }) => server.name),
    sources: [listed, found, official].map(({ headers }) => headers.get("Rollcall-Source")),
  };
}

beforeAll(async () => {
  who = await token({ tenants: [tenant], sub: "writer" });
});

type Lists = Omit<Shown, "sources">;

describe.sequential("gone everywhere by effectiveBy", () => {
  const nothing: Lists = { catalogue: [], search: [], official: [] };
  const remove = (name: string) => send("DELETE", config(tenant, name));
  const cases: [string, (name: string) => Promise<Answer>, (name: string) => Lists][] = [
    [
      "a server that is private again",
      (name) => send("PATCH", config(tenant, name), { visibility: "tenant" }),
      () => nothing,
    ],
    [
      "an item that was switched off",
      (name) =>
        send("PATCH", capabilities(tenant, name), { items: [{ kind: "tool", name: "barometer", enabled: false }] }),
      (name) => ({ catalogue: [name], search: [], official: [`eff/${name}`] }),
    ],
    ["a server that was deleted", remove, () => nothing],
  ];

  it.each(cases)("%s", async (what, takeAway, left) => {
    const name = what.replaceAll(/\W/g, "-");
    await send("POST", configs, { tenant, name, visibility: "public" });
    await send("PUT", capabilities(tenant, name), {
      tools: [{ name: "barometer", description: "Measures the barometric pressure" }],
    });
    await drained(tenant);
    await built();
    clock += 80_000;
    const before = { catalogue: [name], search: ["barometer"], official: [`eff/${name}`] };
    const fromMemory = (lists: Lists) => ({ ...lists, sources: ["memory", "memory", "memory"] });
    for (const where of [busy, seldom]) {
      await vi.waitFor(async () => expect(await shown(where)).toEqual(fromMemory(before)));
    }

    const { effectiveBy } = (await takeAway(name)).body.data;
    await drained(tenant);
    await built();
    const start = clock;
    const deadline = Date.parse(effectiveBy);
    expect(deadline - start).toBeLessThanOrEqual(80_000);
    const calls = () => busy.services.usage.objectCalls;
    const callsBefore = calls();
    // Nobody told this data centre, and KV shows what was.
    for (; clock <= start + 60_000; clock += 15_000) expect(await shown(busy)).toEqual(fromMemory(before));
    expect(calls()).toBe(callsBefore);
    // One confirmation, which no reader waits for; answers that were kept are sent again for two seconds.
    clock = start + 62_001;
    await vi.waitFor(async () => expect(await shown(busy)).toEqual(fromMemory(left(name))));
    for (; clock < deadline; clock += 5_000) expect(await shown(busy)).toEqual(fromMemory(left(name)));
    // And one more for the root that the object named.
    expect(calls() - callsBefore).toBeLessThanOrEqual(2);
    clock = deadline;
    for (const where of [busy, seldom]) expect(await shown(where)).toMatchObject(left(name));
    await remove(name);
  });
});
