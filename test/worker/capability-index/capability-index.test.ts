import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Principal } from "../../../src/auth/principal.ts";
import { estimateTokens, sizeOfText } from "../../../src/capability-index/token-estimate.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { type CountTokens, hasLongRun, loadTokenizer } from "../../../src/manifest/tokens.ts";
import { listResources, ownResources, readResource } from "../../../src/mcp/resources/resources.ts";
import { callTool } from "../../../src/mcp/tools/tools.ts";
import { inSession, negotiate } from "../support/negotiating.ts";
import { capabilities, configs, drained, Registry, token } from "../support/registry.ts";

let time = Date.now();
const registry = new Registry({ now: () => time });

function principal(claims: Partial<Principal>): Principal {
  return { subject: "i", tenants: [], scopes: ["registry:read"], admin: false, expiresAt: 9e15, ...claims };
}
const member = principal({ tenants: [tenantKey("atlas")] });
const outsider = principal({ tenants: [tenantKey("elsewhere")] });
const anonymous = principal({ anonymous: true });

let mine: string;
let theirs: string;
let count: CountTokens;

const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}. And more of it.`,
  inputSchema: { type: "object", properties: { a: { type: "number" } } },
  ...more,
});
const publish = (name: string, manifest: object, tenant = "atlas") =>
  registry.send("PUT", capabilities(tenant, name), { token: mine, body: manifest });
const advertise = (settings: object, tenant = "atlas") =>
  registry.send("PUT", `/api/index/${tenant}/advertise`, { token: mine, body: settings });
const everything = { advertiseResources: true, variants: { summary: true, full: true } };
const get = (path: string, who?: string, headers: Record<string, string> = {}) =>
  registry.send("GET", `/api/index/${path}`, { ...(who === undefined ? {} : { token: who }), headers });
const settings = (name: string, more: object) =>
  registry.send("PUT", configs, { token: mine, body: { tenant: "atlas", name, ...more } });

beforeAll(async () => {
  count = await loadTokenizer();
  mine = await token({ tenants: ["atlas", "bare", "void"] });
  theirs = await token({ tenants: [tenantKey("elsewhere")], sub: "other" });
  await publish("maps", {
    title: "Maps",
    version: "2.5",
    actionTriggers: { navigate: ["route", "hidden"], create: ["route"] },
    relationships: { route: ["tile"] },
    tools: [
      tool("create_map"),
      tool("route", { category: "query" }),
      tool("hidden"),
      tool("get_tile", { actionTriggers: ["zoom"] }),
    ],
    prompts: [{ name: "summarize_trip" }],
    resources: [{ uri: "map://world" }],
  });
  await registry.send("PATCH", capabilities("atlas", "maps"), {
    token: mine,
    body: { items: [{ kind: "tool", name: "hidden", enabled: false }] },
  });
  await registry.send("POST", configs, { token: mine, body: { tenant: "atlas", name: "open", visibility: "public" } });
  await publish("open", { tools: [tool("list_places"), tool("create_place")] });
  await registry.send("POST", configs, { token: mine, body: { tenant: "bare", name: "shy" } });
  await drained("atlas");
  await drained("bare");
});

describe("while nothing is advertised", () => {
  it.each(["atlas/summary", "atlas/full", "atlas/stats", "atlas/maps/summary", "atlas/maps/full", "atlas/maps/stats"])(
    "%s is neither readable nor listed, and says how to turn it on",
    async (path) => {
      const answer = await get(path, mine);
      expect([answer.status, answer.body.error.code]).toEqual([403, "ErrorIndexDisabled"]);
      const uri = `rollcall://capability-index/${path}`;
      expect(answer.body.error.message).toContain(`${uri} is not advertised`);
      expect(answer.body.error.message).toContain('"advertiseResources": true');
      const read = await readResource(registry.services, member, uri);
      expect(read).toMatchObject({ ok: false, error: { code: "ErrorIndexDisabled" } });
      const { resources } = await listResources(registry.services, member);
      expect(resources.filter((one) => one.uri.startsWith("rollcall:"))).toEqual([]);
    },
  );

  it("the tool still has it, for whoever may read", async () => {
    const call = (input: object, who = member) =>
      callTool("get_capability_index", input, { services: registry.services, principal: who });
    const answer = await call({ tenant: "atlas", variant: "summary" });
    expect(answer).toMatchObject({ ok: true, value: { text: expect.stringMatching(/^# Capability Index Summary/) } });
    const whole = await call({ tenant: "atlas" });
    expect(whole).toMatchObject({ ok: true, value: { text: expect.stringMatching(/^# Capability Index \(Full\)/) } });
    expect(await call({ tenant: "atlas", name: "maps" }, outsider)).toMatchObject({
      ok: false,
      error: { code: "ErrorTenantPermissionError" },
    });
    expect(await call({ tenant: "atlas", name: "open", variant: "stats" }, anonymous)).toMatchObject({ ok: true });
    expect(await call({ tenant: "atlas", name: "none" })).toMatchObject({ error: { code: "ErrorMCPServerNotFound" } });
    expect(await call({ tenant: "atlas", variant: "all" })).toMatchObject({ error: { code: "ErrorToolArguments" } });
  });
});

describe("advertise settings", () => {
  it("are stored, count as a generation, and are the tenant's alone", async () => {
    const before = await get("atlas/advertise", mine);
    expect(before.body.data).toMatchObject({ settings: {}, advertised: { summary: false, full: false, stats: false } });
    const said = await advertise({ advertise_resources: true });
    expect(said.body.data).toMatchObject({ advertised: { summary: false, full: false, stats: true }, changed: true });
    expect(said.body.data.generation).toBe(before.body.data.generation + 1);
    expect((await advertise({ advertise_resources: true })).body.data).toMatchObject({
      changed: false,
      generation: said.body.data.generation,
    });
    const after = await get("atlas/advertise", mine);
    expect(after.body.data.settings).toEqual({ advertise_resources: true });
    expect((await get("atlas/advertise", mine, { "If-None-Match": after.headers.get("ETag") ?? "" })).status).toBe(304);
    expect((await get("atlas/advertise", theirs)).status).toBe(403);
    expect((await get("atlas/advertise")).status).toBe(401);
  });

  it("turn on the figures alone, and nothing of any server's", async () => {
    expect((await get("atlas/stats", mine)).status).toBe(200);
    for (const path of ["atlas/summary", "atlas/full", "atlas/maps/stats"]) {
      expect([path, (await get(path, mine)).status]).toEqual([path, 403]);
    }
  });

  it.each([
    [{ advertise: true }, 422, "Unrecognized key"],
    [{ advertiseResources: "yes" }, 422, "/advertiseResources"],
    [{ advertiseResources: true, variants: { all: true } }, 422, "/variants"],
    [{ advertiseResources: true, advertise_resources: false }, 422, "/advertise_resources"],
    [[], 422, ""],
    ["{", 400, "JSON"],
  ])("%j are refused", async (body, status, reason) => {
    const answer = await advertise(body as object);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toContain(reason);
  });

  it("need the scope, the tenant and the version they are of", async () => {
    const put = (options: object) =>
      registry.send("PUT", "/api/index/atlas/advertise", { body: { advertiseResources: true }, ...options });
    expect((await put({})).status).toBe(401);
    expect((await put({ token: theirs })).status).toBe(403);
    const reader = await token({ tenants: [tenantKey("atlas")], scope: "registry:read" });
    expect((await put({ token: reader })).body.error.code).toBe("ErrorInsufficientScope");
    expect((await put({ token: mine, headers: { "If-Match": '"advertise.999"' } })).status).toBe(412);
    const tag = (await get("atlas/advertise", mine)).headers.get("ETag") ?? "";
    expect((await put({ token: mine, headers: { "If-Match": tag } })).status).toBe(200);
  });
});

describe("the index of a tenant", () => {
  beforeAll(async () => {
    await advertise(everything);
  });

  it("in short has comments, metadata and triggers", async () => {
    const { text, headers } = await get("atlas/summary", mine);
    expect(headers.get("Content-Type")).toBe("text/yaml; charset=utf-8");
    expect(text).toMatch(/^# Capability Index Summary\n(# .*\n)+\nmetadata:\n/);
    expect(text).toContain("# Full index available at: rollcall://capability-index/atlas/full\n");
    expect(text).toContain("# Total elements: 7\n");
    const read = parse(text);
    expect(Object.keys(read)).toEqual(["metadata", "action_triggers"]);
    expect(read.metadata).toMatchObject({ version: "1.0.0", total_elements: 7 });
    expect(read.metadata.created <= read.metadata.last_updated).toBe(true);
    expect(read.action_triggers).toEqual({
      create: ["maps/route", "maps/create_map", "open/create_place"],
      get: ["maps/get_tile"],
      list: ["open/list_places"],
      navigate: ["maps/route"],
      summarize: ["maps/summarize_trip"],
      zoom: ["maps/get_tile"],
    });
  });

  it("in full has every element that is switched on, with its server", async () => {
    const read = parse((await get("atlas/full", mine)).text);
    expect(Object.keys(read)).toEqual(["metadata", "action_triggers", "elements", "relationships", "semantic"]);
    expect(Object.keys(read.elements)).toEqual(["tools", "prompts", "resources"]);
    expect(Object.keys(read.elements.tools)).toEqual([
      ...["maps/create_map", "maps/get_tile", "maps/route", "open/create_place", "open/list_places"],
    ]);
    expect(read.elements.tools["maps/route"]).toEqual({
      id: "mcp.maps.route",
      server: "maps",
      semantic: { category: "query" },
      description: "Does route. And more of it.",
      input_schema: { type: "object", properties: { a: { type: "number" } } },
    });
    expect(read.relationships).toEqual({
      servers: { maps: { title: "Maps", version: "2.5", elements: 5 }, open: { elements: 2 } },
      declared: { maps: { route: ["tile"] } },
    });
    expect(JSON.stringify(read)).not.toContain("hidden");
  });

  it("in figures counts what the texts are", async () => {
    const [summary, full, stats] = await Promise.all(
      ["summary", "full", "stats"].map((variant) => get(`atlas/${variant}`, mine)),
    );
    const sizes = [summary?.text ?? "", full?.text ?? ""].map(sizeOfText);
    expect(stats?.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(stats?.body).toEqual({
      summarySize: sizes[0]?.chars,
      summaryWords: sizes[0]?.words,
      summaryLines: sizes[0]?.lines,
      fullSize: sizes[1]?.chars,
      fullWords: sizes[1]?.words,
      fullLines: sizes[1]?.lines,
      estimatedSummaryTokens: estimateTokens(sizes[0] ?? { chars: 0, words: 0 }),
      estimatedFullTokens: estimateTokens(sizes[1] ?? { chars: 0, words: 0 }),
      measuredSummaryTokens: count(summary?.text ?? ""),
      measuredFullTokens: count(full?.text ?? ""),
    });
    expect(full?.text).toContain(`# Tokens: ${count(full?.text ?? "")} measured`);
  });

  it("shows outsiders what is public, and never the other's copy", async () => {
    for (const who of [mine, undefined, theirs, mine, undefined]) {
      const { text, status } = await get("atlas/full", who);
      expect(status).toBe(200);
      expect(text.includes("maps")).toBe(who === mine);
      expect(text.includes("open/list_places")).toBe(true);
    }
    const tag = (await get("atlas/full", mine)).headers.get("ETag") ?? "";
    expect((await get("atlas/full", mine, { "If-None-Match": tag })).status).toBe(304);
    expect((await get("atlas/full", undefined, { "If-None-Match": tag })).status).toBe(200);
  });

  it("of a tenant with nothing public looks to outsiders as if it were not there", async () => {
    await advertise(everything, "bare");
    for (const who of [undefined, theirs]) {
      const there = await get("bare/full", who);
      expect([401, 403]).toContain(there.status);
      expect(there.body).toEqual((await get("nobody/full", who)).body);
      expect((await get("atlas/maps/full", who)).body).toEqual((await get("atlas/none/full", who)).body);
    }
  });

  it("may be empty", async () => {
    await advertise(everything, "void");
    const read = parse((await get("void/full", mine)).text);
    expect(read).toMatchObject({ metadata: { total_elements: 0, created: null }, action_triggers: {}, elements: {} });
    expect(parse((await get("bare/summary", mine)).text).metadata.total_elements).toBe(0);
    expect((await get("void/stats", mine)).status).toBe(200);
  });

  it("is at once what was published, and is rendered once", async () => {
    const old = await get("atlas/summary", mine);
    const { objectCalls } = registry.services.usage;
    const again = await get("atlas/summary", mine);
    expect(again.text).toBe(old.text);
    expect(registry.services.usage.objectCalls - objectCalls).toBe(1);
    const generation = (
      await publish("open", { tools: [tool("list_places"), tool("create_place"), tool("find_place")] })
    ).body.data.generation;
    const anew = await get("atlas/summary", mine, { "Rollcall-Min-Generation": String(generation) });
    expect(anew.text).toContain("find_place");
    expect(Number(anew.headers.get("Rollcall-Generation"))).toBeGreaterThanOrEqual(generation);
    expect((await get("atlas/summary", mine, { "Rollcall-Min-Generation": "99999" })).status).toBe(412);
  });

  it("is kept for a minute, and not for whoever asks for no cache", async () => {
    const calls = async (headers: Record<string, string> = {}) => {
      const { objectCalls } = registry.services.usage;
      await get("atlas/full", mine, headers);
      return registry.services.usage.objectCalls - objectCalls;
    };
    await calls();
    expect(await calls()).toBe(1);
    expect(await calls({ "Cache-Control": "no-cache" })).toBe(3);
    time += 59_999;
    expect(await calls()).toBe(1);
    time += 2;
    expect(await calls()).toBe(3);
  });
});

describe("the index of a server", () => {
  it("is up to the server's own settings", async () => {
    expect((await get("atlas/maps/summary", mine)).status).toBe(403);
    await settings("maps", { advertise: { advertiseResources: true, variants: { summary: true } } });
    const { text } = await get("atlas/maps/summary", mine);
    expect(parse(text).action_triggers.create).toEqual(["route", "create_map"]);
    expect((await get("atlas/maps/full", mine)).status).toBe(403);
    expect((await get("atlas/maps/stats", mine)).status).toBe(200);
    await advertise({ advertiseResources: false });
    expect((await get("atlas/maps/summary", mine)).status).toBe(200);
    expect((await get("atlas/summary", mine)).status).toBe(403);
  });

  it.each([
    ["atlas/none/summary", 404, "MCP server not found"],
    [
      "atlas/maps/everything",
      404,
      "Unknown capability index resource: rollcall://capability-index/atlas/maps/everything",
    ],
    ["atlas/everything", 404, "Unknown capability index resource: rollcall://capability-index/atlas/everything"],
    ["at_las/summary", 400, "Tenant name must be"],
    ["atlas/-/summary", 400, "MCP server name must be"],
    ["atlas/maps/summary?x=1", 400, "Unknown query parameter"],
  ])("%s is answered with what is wrong", async (path, status, message) => {
    const answer = await get(path, mine);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toContain(message);
  });

  it("takes no other method", async () => {
    for (const path of ["atlas/summary", "atlas/maps/full", "atlas/budget", "atlas/advertise"]) {
      expect((await registry.send("DELETE", `/api/index/${path}`, { token: mine })).status).toBe(405);
    }
  });
});

describe("resources", () => {
  it("list what is advertised to the caller, with what it costs and whom it suits", async () => {
    await advertise(everything);
    const { resources, cuts } = await listResources(registry.services, member);
    expect(cuts).toBeUndefined();
    const indexes = resources.filter(({ uri }) => uri.startsWith("rollcall:"));
    expect(indexes.map(({ uri, mimeType }) => [uri.replace("rollcall://capability-index/", ""), mimeType])).toEqual([
      ["atlas/summary", "text/yaml"],
      ["atlas/full", "text/yaml"],
      ["atlas/stats", "application/json"],
      ["atlas/maps/summary", "text/yaml"],
      ["atlas/maps/stats", "application/json"],
    ]);
    for (const { uri, description, mimeType } of indexes) {
      const read = await readResource(registry.services, member, uri);
      const contents = read.ok ? read.value : undefined;
      expect(contents).toMatchObject({ uri, mimeType });
      expect(description).toContain(
        `Measured ${count(contents?.text ?? "")} tokens; suits contexts of 8K tokens and more.`,
      );
    }
    const listedFor = async (who: Principal) => (await listResources(registry.services, who)).resources;
    expect((await listedFor(outsider)).some(({ uri }) => uri.includes("atlas"))).toBe(false);
    expect((await listedFor(principal({ tenants: [tenantKey("atlas")], scopes: [] }))).length).toBe(
      ownResources.length,
    );
  });

  it.each([
    "everything",
    "",
    "atlas/everything",
    "atlas/maps/everything",
    "atlas/maps/summary/x",
    "at_las/full",
    "a/-/full",
    "full?x",
  ])("know no rollcall://capability-index/%s", async (rest) => {
    const uri = `rollcall://capability-index/${rest}`;
    const read = await readResource(registry.services, member, uri);
    expect(read).toMatchObject({ ok: false, error: { code: "resource_not_found" } });
    expect(read.ok ? "" : read.error.message).toContain(`Unknown capability index resource: ${uri}`);
  });

  it("have the registry's own only where the deployment says so", async () => {
    const read = (vars: Record<string, string>, variant: string) =>
      readResource(new Registry({ vars }).services, anonymous, `rollcall://capability-index/${variant}`);
    expect(await read({}, "summary")).toMatchObject({ ok: false, error: { code: "ErrorIndexDisabled" } });
    expect(await read({ ADVERTISE_INDEX: "stats" }, "full")).toMatchObject({ ok: false });
    const on = { ADVERTISE_INDEX: "summary, full,stats" };
    const [summary, full, stats] = await Promise.all(["summary", "full", "stats"].map((variant) => read(on, variant)));
    const texts = [summary, full, stats].map((one) => (one?.ok ? one.value.text : ""));
    expect(parse(texts[0] ?? "").action_triggers.list).toContain("list_servers");
    expect(parse(texts[1] ?? "").elements.tools.get_capability_index.input_schema.type).toBe("object");
    expect(JSON.parse(texts[2] ?? "")).toMatchObject({
      measuredSummaryTokens: count(texts[0] ?? ""),
      measuredFullTokens: count(texts[1] ?? ""),
    });
    const listed = await listResources(new Registry({ vars: on }).services, anonymous);
    expect(listed.resources.slice(ownResources.length).map(({ uri }) => uri)).toEqual(
      ["summary", "full", "stats"].map((variant) => `rollcall://capability-index/${variant}`),
    );
    expect(() => new Registry({ vars: { ADVERTISE_INDEX: "all" } })).toThrow("ADVERTISE_INDEX");
  });

  it("are read over plain HTTP in a session", async () => {
    const { id } = await negotiate(registry, undefined, mine);
    const uri = encodeURIComponent("rollcall://capability-index/atlas/summary");
    const answer = await registry.send("GET", `/mcp/resource?uri=${uri}`, { ...inSession(id), token: mine });
    expect(answer.text).toBe((await get("atlas/summary", mine)).text);
    expect(answer.headers.get("Content-Type")).toBe("text/yaml; charset=utf-8");
  });
});

describe("an index for a budget", () => {
  const ask = (body: unknown, who: string | undefined = mine, headers: Record<string, string> = {}) =>
    registry.send("POST", "/api/index/atlas/budget", { ...(who === "" ? {} : { token: who }), body, headers });

  it("is within it where an item changes its kind, or has runs that cannot be counted piece by piece", async () => {
    const plain = (text: string) => count(text);
    const item = {
      id: "odd.one",
      uri: `a://${"some/long/path-of-things/".repeat(6)}`,
      uriTemplate: "a://{b}",
      name: "n",
    };
    for (const manifest of [{ resources: [item] }, { resourceTemplates: [item] }]) {
      await publish("odd", { version: JSON.stringify(manifest).slice(2, 12), ...manifest });
      for (const budget of [30, 41, 60, 90, 200]) {
        const { data } = (await ask({ budget, servers: ["odd"] })).body;
        expect([plain(data.index), data.tokens <= budget]).toEqual([data.tokens, true]);
      }
    }
    const run = "aabc".repeat(400).slice(0, 1_283);
    await publish("odd", { tools: Array.from({ length: 5 }, (_, at) => tool(`t${at}`, { description: run })) });
    const { data } = (await ask({ budget: 100_000, servers: ["odd"] })).body;
    expect(data.items.map(({ level }: { level: string }) => level)).not.toContain("schema");
    expect(hasLongRun(data.index)).toBe(false);
    await registry.send("DELETE", "/api/mcp/configs/atlas/odd", { token: mine });
  });

  it("is of certain servers, however much comes before them", async () => {
    for (const at of [0, 1, 2])
      await publish(`a-crowd-${at}`, { tools: Array.from({ length: 400 }, (_, n) => tool(`c${at}x${n}`)) });
    const { data } = (await ask({ budget: 1_000, servers: ["maps"] })).body;
    expect(data.considered).toBeGreaterThan(0);
    expect(data.items.every(({ server }: { server: string }) => server === "maps")).toBe(true);
    for (const at of [0, 1, 2]) await registry.send("DELETE", `/api/mcp/configs/atlas/a-crowd-${at}`, { token: mine });
  });

  it("is within it, for every budget, and worth no less with more", async () => {
    let before = 0;
    const levels = new Set<string>();
    for (const budget of [1, 10, 25, 30, 40, 60, 80, 120, 200, 400, 1_000, 1e9]) {
      const { status, body } = await ask({ task: "tile", budget });
      expect(status).toBe(200);
      const { index, tokens, value, items } = body.data;
      expect(tokens).toBe(count(index));
      expect(tokens).toBeLessThanOrEqual(budget);
      expect(value).toBeGreaterThanOrEqual(before);
      expect((parse(index)?.elements ?? []).length).toBe(items.length);
      for (const { level } of items) levels.add(level);
      before = value;
    }
    expect([...levels].sort()).toEqual(["name", "schema", "summary"]);
  });

  it("has everything where there is room, the best first", async () => {
    const { data } = (await ask({ task: "tile", budget: 1e9 })).body;
    expect(data.budget).toBe(1e9);
    expect(data.items[0]).toMatchObject({ id: "mcp.maps.get_tile", server: "maps", kind: "tool", level: "schema" });
    expect([data.items.length, data.considered, data.leftOut]).toEqual([8, 8, []]);
    expect(data.index).not.toContain("hidden");
    expect(parse(data.index).elements[0]).toEqual({
      tool: "mcp.maps.get_tile",
      description: "Does get_tile. And more of it.",
      input_schema: { type: "object", properties: { a: { type: "number" } } },
    });
  });

  it("too small for anything is an empty one, and says what the least would cost", async () => {
    const { data } = (await ask({ task: "tile", budget: 1 })).body;
    expect(data).toMatchObject({ index: "", tokens: 0, items: [], value: 0 });
    expect(data.leftOut[0]).toMatchObject({ id: "mcp.maps.get_tile", reason: "over-budget" });
    expect(data.leftOut[0].message).toMatch(/needs \d+ tokens/);
  });

  it("is the same each time, and plain YAML where that is asked for", async () => {
    const one = await ask({ budget: 200 });
    expect((await ask({ budget: 200 })).text).toBe(one.text);
    const yaml = await ask({ budget: 200 }, mine, { Accept: "text/yaml" });
    expect(yaml.headers.get("Content-Type")).toBe("text/yaml; charset=utf-8");
    expect(yaml.text).toBe(one.body.data.index);
  });

  it("takes only the kinds and servers that were asked for", async () => {
    const prompts = (await ask({ budget: 1e4, kinds: ["prompt"] })).body.data.items;
    expect(prompts.map(({ id }: { id: string }) => id)).toEqual(["mcp.maps.prompt:summarize_trip"]);
    const open = (await ask({ budget: 1e4, servers: ["open", "none"] })).body.data.items;
    expect(new Set(open.map(({ server }: { server: string }) => server))).toEqual(new Set(["open"]));
  });

  it("takes pins first, and none that changed or is not there", async () => {
    const { items } = (await ask({ budget: 1e4 })).body.data;
    const tile = items.find(({ id }: { id: string }) => id === "mcp.maps.get_tile");
    const pins = [
      { id: tile.id, digest: tile.digest },
      { id: "mcp.maps.route", digest: `sha256-${"0".repeat(64)}` },
      { id: "mcp.maps.hidden" },
      { id: "mcp.maps.none" },
    ];
    const { data } = (await ask({ task: "place", budget: 70, pins })).body;
    expect(data.items[0]).toMatchObject({ id: "mcp.maps.get_tile", level: "schema", pinned: true });
    expect(data.leftOut.slice(0, 3).map(({ id, reason }: { id: string; reason: string }) => [id, reason])).toEqual([
      ["mcp.maps.route", "changed-since-pin"],
      ["mcp.maps.hidden", "not-found"],
      ["mcp.maps.none", "not-found"],
    ]);
    const all = (await ask({ task: "route", budget: 1e4, pins })).body.data.items.map(({ id }: { id: string }) => id);
    expect(all).not.toContain("mcp.maps.route");
  });

  it("shows outsiders what is public", async () => {
    for (const who of ["", theirs]) {
      const { data } = (await ask({ budget: 1e4, pins: [{ id: "mcp.maps.route" }] }, who)).body;
      expect(new Set(data.items.map(({ server }: { server: string }) => server))).toEqual(new Set(["open"]));
      expect(data.leftOut).toMatchObject([{ id: "mcp.maps.route", reason: "not-found" }]);
      expect(data.items.some(({ level }: { level: string }) => level === "schema")).toBe(true);
    }
    const refused = await registry.send("POST", "/api/index/bare/budget", { token: theirs, body: { budget: 9 } });
    expect(refused.body).toEqual(
      (await registry.send("POST", "/api/index/nobody/budget", { token: theirs, body: { budget: 9 } })).body,
    );
    expect(refused.status).toBe(403);
  });

  it("takes other spellings of task and budget", async () => {
    const { text } = await ask({ task: "tile", budget: 90 });
    for (const body of [
      { q: "tile", budget: 90 },
      { query: "tile", token_budget: 90 },
    ]) {
      expect((await ask(body)).text).toBe(text);
    }
  });

  it.each([
    [{ budget: 0 }, 422, "/budget must be at least 1 token"],
    [{ budget: -5 }, 422, "/budget must be at least 1 token"],
    [{ budget: 1.5 }, 422, "/budget must be a whole number of tokens"],
    [{ budget: "100" }, 422, "/budget"],
    [{ budget: 1e300 }, 422, "/budget"],
    [{}, 422, "/budget"],
    [{ budget: 1, tokens: 5 }, 422, "tokens"],
    [{ budget: 1, token_budget: 1 }, 422, "/token_budget is the same as budget, which is given as well: send one"],
    [{ budget: 1, kinds: ["tools"] }, 422, "/kinds/0"],
    [{ budget: 1, kinds: [] }, 422, "/kinds"],
    [{ budget: 1, servers: ["-"] }, 422, "/servers/0"],
    [{ budget: 1, pins: [{ id: "x", digest: "latest" }] }, 422, "/pins/0/digest"],
    [{ budget: 1, pins: Array(51).fill({ id: "x" }) }, 422, "/pins"],
    [{ budget: 1, task: 7 }, 422, "/task"],
    [[], 422, ""],
    ["", 400, ""],
  ])("%j is refused with the reason", async (body, status, message) => {
    const answer = await ask(body);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toContain(message);
  });
});

describe("an index that is too large", () => {
  it("is refused with the limit and something narrower", async () => {
    const long = "word ".repeat(12_000);
    const many = (from: number) => ({
      tools: Array.from({ length: 100 }, (_, index) => tool(`t${from + index}`, { description: long })),
    });
    await publish("big1", many(0), "void");
    await publish("big2", many(100), "void");
    const answer = await get("void/full", mine);
    expect([answer.status, answer.body.error.code]).toEqual([413, "ErrorIndexTooLarge"]);
    expect(answer.body.error.message).toContain("more than 8388608 characters");
    expect(answer.body.error.message).toContain("/api/index/void/{name}/full");
    expect((await get("void/summary", mine)).status).toBe(200);
    const called = await callTool(
      "get_capability_index",
      { tenant: "void" },
      { services: registry.services, principal: principal({ tenants: [tenantKey("void")] }) },
    );
    expect(called).toMatchObject({ ok: false, error: { code: "ErrorIndexTooLarge" } });
    const fitted = await registry.send("POST", "/api/index/void/budget", { token: mine, body: { budget: 500 } });
    expect(count(fitted.body.data.index)).toBeLessThanOrEqual(500);
  });

  it("still has figures, summed without the text", async () => {
    const summary = await get("void/summary", mine);
    const { status, body } = await get("void/stats", mine);
    expect(status).toBe(200);
    expect(body.fullSize).toBeGreaterThan(200 * 60_000);
    expect(body.fullWords).toBeGreaterThan(200 * 12_000);
    // Of an element: its name, registry, id, server, description and schema.
    expect(body.fullLines).toBeGreaterThan(200 * 6);
    expect(body.measuredFullTokens).toBeGreaterThan(200 * 12_000);
    expect(body.measuredSummaryTokens).toBe(count(summary.text));
    expect(body.estimatedFullTokens).toBe(estimateTokens({ chars: body.fullSize, words: body.fullWords }));
  });
});
