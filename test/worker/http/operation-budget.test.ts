import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { createUsage, type Usage } from "../../../src/kernel/platform/usage.ts";
import { createMcpHandler, Server } from "../../../src/mcp/server/sdk.ts";
import { hooked, published, sendEvent } from "../support/hooking.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { type Answer, capabilities, configs, Registry, token, tools } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

/**
 * What each kind of request touches, exactly. Change a number here when the cost was meant to change, and say in the
 * commit what it buys. Writes are counted up to the last thing they leave to be done after their answer: KV, the
 * directory, the rows that remember what is owed; not the second look at KV a minute and a half later. The one read of KV
 * of a write is the list that a tenant's object makes once, before its first write since it woke.
 */
const budget = `
case                          memory  cacheReads  cacheWrites  kvReads  kvWrites  objectCalls  rowsRead  rowsWritten
hot authenticated read             2           0            0        0         0            0         0            0
304                                2           0            0        0         0            0         0            0
public read                        2           0            0        0         0            0         0            0
view                               2           0            0        0         0            0         0            0
capability                         2           0            0        0         0            0         0            0
catalogue page                     1           0            0        0         0            0         0            0
session-checked call               3           0            0        0         0            0         0            0
MCP tools/list                     1           0            0        0         0            0         0            0
MCP resources/read                 2           0            0        0         0            0         0            0
read after 2 s                     1           1            0        0         0            0         0            0
read after 15 s                    1           2            1        1         0            0         0            0
read after 76 s                    1           3            1        1         0            1         5            0
strong read                        1           1            1        0         0            1         5            0
catalogue page, first              0           0            0        0         0            1         3            0
catalogue page, after 2 s          0           0            0        0         0            1         1            0
search                             0           0            0        0         0            2        15            0
budgeted index                     0           0            0        0         0            4        46            0
negotiate                          0           0            0        0         0            1         0            2
negotiate for a task               0           0            0        0         0            3        15            2
session-checked call, first        2           0            0        0         0            1         2            0
session-checked tool               1           0            0        0         0            2         7            0
publish, new                       0           1            1        1         2            2        67           30
publish, one tool of 1,000         0           1            1        1         2            2      1076           30
publish, unchanged                 0           1            2        1         1            1        29            6
webhook                            0           1            2        1         2            4        80           33
introspection, changed             0           1            2        1         2            2       106           33
introspection, unchanged           0           1            1        0         0            1        24            2
publish, new, twelve tools         0           1            1        1         2            2       164           96
`;

/** These never leave the isolate. */
const hot = [
  ...["hot authenticated read", "304", "public read", "view", "capability", "catalogue page"],
  ...["session-checked call", "MCP tools/list", "MCP resources/read"],
];

/** The table as the cases in its order, each with what it may touch. */
function rowsOf(table: string): [name: string, counts: Record<string, number>][] {
  const [head = "", ...lines] = table.trim().split("\n");
  const [, ...names] = head.trim().split(/\s{2,}/);
  return lines.map((line) => {
    const [name = "", ...counts] = line.trim().split(/\s{2,}/);
    return [name, Object.fromEntries(names.map((counted, at) => [counted, Number(counts[at])]))];
  });
}

/** A clock that stands still: what is in memory stays good until a case says otherwise. */
let clock = Date.now();
/** Without a copy of the directory: which of two ways an answer takes would depend on when the copy is there. */
const registry = new Registry({ now: () => clock, cache: separateCache(), vars: { DIRECTORY_MB: "0" } });
const tenant = "budget";
let mine: string;
let outsider: string;
let admin: string;

const get = (path: string, who: string, headers: Record<string, string> = {}) =>
  registry.send("GET", path, { token: who, headers });
const post = (path: string, body: unknown) => registry.send("POST", path, { token: mine, body });
const put = (name: string, body: unknown, of = tenant, who = mine) =>
  registry.send("PUT", capabilities(of, name), { token: who, body });
const read = (headers: Record<string, string> = {}) => get(capabilities(tenant, "closed"), mine, headers);

async function operations(): Promise<Usage> {
  return (await get("/api/metrics", admin)).body.data.operations;
}

const stub = (name: string) => env.TENANTS.get(env.TENANTS.idFromName(name));

/** The tenant owes nobody anything, and nothing is under way. */
async function settled(name: string): Promise<void> {
  let seen = "";
  await vi.waitFor(
    async () => {
      const owed = await runInDurableObject(stub(name), (_, { storage }) =>
        storage.sql.exec("SELECT task FROM outbox WHERE task NOT IN ('settle', 'refresh')").toArray(),
      );
      const now = JSON.stringify([owed, await operations()]);
      const isStill = owed.length === 0 && now === seen;
      seen = now;
      if (!isStill) throw new Error(`still at work: ${now}`);
    },
    { timeout: 10_000, interval: 60 },
  );
}

/** Awake, and with no write behind it that would put the next one off: KV takes one a second to a key. */
async function rested(name: string): Promise<void> {
  await settled(name);
  await evictDurableObject(stub(name));
  await registry.services.tenant(tenantKey(name)).head("");
}

/** What some work touches; with a tenant that it writes to, all of it. */
async function cost(work: () => Promise<Answer>, writesTo?: string): Promise<Usage> {
  if (writesTo !== undefined) await rested(writesTo);
  const before = await operations();
  const { status, text } = await work();
  expect(status, text).toBeLessThan(400);
  if (writesTo !== undefined) await settled(writesTo);
  const after = await operations();
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - before[name as keyof Usage]]),
  ) as unknown as Usage;
}

/** What it touches when it was done before: what it needs is in memory then, and at last the whole answer. */
async function again(work: () => Promise<Answer>): Promise<Usage> {
  for (let done = 0; done < 3; done += 1) await work();
  return cost(work);
}

function mcp(method: string, params: Record<string, unknown> = {}): Promise<Answer> {
  const version = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
  const headers = {
    "Content-Type": "application/json",
    // As it comes over the wire.
    "Content-Length": String(body.length),
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": version,
    "Mcp-Method": method,
    ...(typeof params.uri === "string" ? { "Mcp-Name": params.uri } : {}),
  };
  return registry.send("POST", "/mcp", { token: mine, headers, body });
}

/** A manifest of many tools, of which one says something else. */
function many(count: number, said = "what it did"): ReturnType<typeof tools> {
  const manifest = tools(...Array.from({ length: count }, (_, index) => `tool_${index}`));
  const [first] = manifest.tools;
  if (first !== undefined) first.description = `Does ${said}.`;
  return manifest;
}

const context = "dev.rollcall/context";
const toolsView = `capabilities://${tenant}/open/tools`;
const catalog = () => get("/api/catalog?limit=30", mine);

/** Tools of the MCP server that stands where the network is. */
let offered = ["a"];

/** A look at the sources of a server, which then offer something. */
async function introspect(...names: string[]): Promise<Usage> {
  const sources = [{ id: "main", type: "streamable-http", url: "https://upstream.example/mcp" }];
  await post(configs, { tenant, name: "sourced" });
  await registry.send("PUT", configs, { token: mine, body: { tenant, name: "sourced", sources } });
  await get(capabilities(tenant, "sourced"), mine);
  await settled(tenant);
  offered = names;
  return cost(() => post(`${capabilities(tenant, "sourced")}/refresh`, undefined), tenant);
}

async function sessionCall(path: string, method = "GET"): Promise<() => Promise<Answer>> {
  const { id } = await negotiate(registry, client("sampling"), mine);
  return () => registry.send(method, path, { token: mine, ...inSession(id) });
}

const cases: Record<string, () => Promise<Usage>> = {
  "hot authenticated read": () => again(read),
  "304": async () => {
    const etag = (await read()).headers.get("ETag") ?? "";
    return again(() => read({ "If-None-Match": etag }));
  },
  "public read": () => again(() => get(capabilities(tenant, "open"), outsider)),
  view: () => again(() => get(`${capabilities(tenant, "open")}/tools`, mine)),
  capability: () => again(() => get(`/api/capabilities/${tenant}/mcp.open.lend_book`, outsider)),
  "catalogue page": () => again(catalog),
  "session-checked call": async () => again(await sessionCall(`/mcp/resource?uri=${toolsView}`)),
  "MCP tools/list": () => again(() => mcp("tools/list")),
  "MCP resources/read": () => again(() => mcp("resources/read", { uri: toolsView })),
  "read after 2 s": async () => {
    await read({ "Cache-Control": "no-cache" });
    clock += 2_001;
    return cost(read);
  },
  "read after 15 s": async () => {
    await read();
    clock += 15_001;
    return cost(read);
  },
  "read after 76 s": async () => {
    await read();
    clock += 76_000;
    return cost(read);
  },
  "strong read": () => again(() => read({ "Cache-Control": "no-cache" })),
  "catalogue page, first": () => cost(() => get("/api/catalog?limit=29", mine)),
  "catalogue page, after 2 s": async () => {
    await catalog();
    clock += 2_001;
    return cost(catalog);
  },
  // What is public is not in memory here, so the directory's object ranks it.
  search: () => again(() => get("/api/search?q=lend+a+book", mine)),
  "budgeted index": () => again(() => post(`/api/index/${tenant}/budget`, { budget: 500, task: "lend a book" })),
  negotiate: () => cost(async () => (await negotiate(registry, client("sampling"), mine)).answer),
  "negotiate for a task": () => {
    const extensions = { [context]: { task: "lend a book", budget: 500 } };
    return cost(async () => (await negotiate(registry, { ...client("sampling", context), extensions }, mine)).answer);
  },
  "session-checked call, first": async () => {
    const call = await sessionCall(`/mcp/resource?uri=${toolsView}`);
    await get(`${capabilities(tenant, "open")}/tools`, mine);
    // That read leaves its head in the cache after its answer.
    await settled(tenant);
    return cost(call);
  },
  "session-checked tool": async () => again(await sessionCall("/mcp/tool/list_servers", "POST")),
  "publish, new": () => cost(() => put("new", tools("a")), tenant),
  "publish, one tool of 1,000": async () => {
    await put("large", many(1_000));
    return cost(() => put("large", many(1_000, "something else")), tenant);
  },
  "publish, unchanged": () => cost(() => put("closed", tools("count_money")), tenant),
  webhook: async () => {
    const hook = await hooked("budget-hook");
    return cost(() => sendEvent(hook, published(1, tools("a")), { registry }), hook.tenant);
  },
  "introspection, changed": () => introspect("a", "b"),
  "introspection, unchanged": () => introspect(...offered),
  "publish, new, twelve tools": () => cost(() => put("twelve", many(12)), tenant),
};

/** All that leaves the Worker ends here. */
function standInForUpstream(): void {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "upstream", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", async () => tools(...offered) as never);
    return server;
  });
  vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => handler.fetch(request as Request));
}

beforeAll(async () => {
  standInForUpstream();
  mine = await token({ tenants: [tenant] });
  outsider = await token({ tenants: ["elsewhere"], sub: "outsider" });
  admin = await token({ admin: true, sub: "operator" });
  await post(configs, { tenant, name: "open", visibility: "public" });
  await put("open", tools("lend_book", "find_book"));
  await put("closed", tools("count_money"));
  await settled(tenant);
});

describe("what a request touches", () => {
  it.each(rowsOf(budget))("%s", async (name, counts) => {
    const touched = await cases[name]?.();
    expect(touched).toEqual(counts);
  });

  it("is written down for every case", () => {
    expect(
      rowsOf(budget)
        .map(([name]) => name)
        .sort(),
    ).toEqual(Object.keys(cases).sort());
  });
});

describe("a hot path", () => {
  it.each(hot)("touches neither cache nor KV nor object: %s", async (name) => {
    expect({ ...(await cases[name]?.()), memory: 0 }).toEqual(createUsage());
  });
});

describe("a publish", () => {
  it("of one changed tool writes the same rows and at most two values whatever there is", async () => {
    const costs: Usage[] = [];
    for (const count of [100, 1_000]) {
      await put(`of-${count}`, many(count));
      costs.push(await cost(() => put(`of-${count}`, many(count, "something else")), tenant));
    }
    const [few, lots] = costs;
    expect(lots?.rowsWritten).toBe(few?.rowsWritten);
    expect(lots?.kvWrites).toBeLessThanOrEqual(2);
    // Its body goes to KV whole, and is read for that alone, once.
    expect((lots?.rowsRead ?? 0) - (few?.rowsRead ?? 0)).toBe(900);
  });

  it("costs the same however many servers there are beside it, with the same tools", async () => {
    const crowd = "budget-crowd";
    const theirs = await token({ tenants: [crowd], sub: "crowd" });
    const publish = (server: number, version = "1") => {
      const items = tools("a", "b").tools.map((tool) => ({ ...tool, id: `s${server}.${tool.name}` }));
      return put(`s${server}`, { version, tools: items }, crowd, theirs);
    };
    const open = async (server: number) => {
      const body = { tenant: crowd, name: `s${server}`, visibility: "public" };
      await registry.send("POST", configs, { token: theirs, body });
      expect((await publish(server)).status).toBe(201);
    };
    await open(0);
    const costs: Usage[] = [];
    let others = 0;
    for (const wanted of [1, 60]) {
      while (others < wanted) await open(++others);
      costs.push(await cost(() => publish(0, String(wanted + 1)), crowd));
    }
    const [few, lots] = costs;
    expect(lots).toEqual(few);
  });
});
