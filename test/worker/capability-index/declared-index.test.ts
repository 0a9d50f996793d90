import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Principal } from "../../../src/auth/principal.ts";
import { estimateTokens, sizeOfText } from "../../../src/capability-index/token-estimate.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { type CountTokens, loadTokenizer } from "../../../src/manifest/tokens.ts";
import { callTool } from "../../../src/mcp/tools/tools.ts";
import { capabilities, config, configs, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const modern = "2026-07-28";
const everything = { advertiseResources: true, variants: { summary: true, full: true } };
const templates = [
  "rollcall://capability-index/{tenant}/{variant}",
  "rollcall://capability-index/{tenant}/{name}/{variant}",
] as const;

let mine: string;
let count: CountTokens;

beforeAll(async () => {
  mine = await token({ tenants: ["zoo", "quiet", "crowd"] });
  count = await loadTokenizer();
});

const publish = (name: string, manifest: object, query = "") =>
  registry.send("PUT", `${capabilities("zoo", name)}${query}`, { token: mine, body: manifest });
const register = (body: object) => registry.send("POST", configs, { token: mine, body });
const advertise = (tenant: string, body: object) =>
  registry.send("PUT", `/api/index/${tenant}/advertise`, { token: mine, body });

/** A message to `/mcp`, as clients of today send it. */
async function ask(method: string, params: Record<string, unknown>, bearer?: string, from = registry) {
  const meta = { "io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": {} };
  const { body } = await from.send("POST", "/mcp", {
    ...(bearer === undefined ? {} : { token: bearer }),
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": modern,
      "Mcp-Method": method,
    },
  });
  return body.result;
}
const indexTemplates = async (bearer?: string, from = registry): Promise<string[]> =>
  (await ask("resources/templates/list", {}, bearer, from)).resourceTemplates
    .map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)
    .filter((uri: string) => uri.startsWith("rollcall:"));

describe("templates of indexes", () => {
  it("are listed only while something is advertised to the caller", async () => {
    const owner = await token({ tenants: ["quiet"], sub: "quiet" });
    const other = await token({ tenants: ["elsewhere"], sub: "other" });
    await registry.send("POST", configs, { token: owner, body: { tenant: "quiet", name: "s" } });
    for (const bearer of [undefined, owner, other]) expect(await indexTemplates(bearer)).toEqual([]);

    await advertise("quiet", { advertiseResources: true });
    expect(await indexTemplates(owner)).toEqual(templates);
    for (const bearer of [undefined, other]) expect(await indexTemplates(bearer)).toEqual([]);
    await advertise("quiet", { advertiseResources: false });
    expect(await indexTemplates(owner)).toEqual([]);

    const settings = { token: owner, body: { advertise: { advertiseResources: true } } };
    await registry.send("PATCH", config("quiet", "s"), settings);
    expect(await indexTemplates(owner)).toEqual(templates);
    await registry.send("DELETE", config("quiet", "s"), { token: owner });
    expect(await indexTemplates(owner)).toEqual([]);
  });

  it("are listed to everyone where the deployment advertises the registry's own index", async () => {
    const open = new Registry({ vars: { ADVERTISE_INDEX: "stats" } });
    expect(await indexTemplates(undefined, open)).toEqual(templates);
    expect(await ask("resources/templates/list", {})).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
    expect(await ask("resources/templates/list", {}, mine)).toMatchObject({ ttlMs: 0, cacheScope: "private" });
  });

  it("are completed with the variants that are on", async () => {
    await register({ tenant: "crowd", name: "a", visibility: "public" });
    const shown = { advertiseResources: true, variants: { full: true, stats: false } };
    await register({ tenant: "crowd", name: "b", advertise: shown });
    const variants = async (uri: string, settled: Record<string, string>, bearer: string | undefined = mine) => {
      const ref = { type: "ref/resource", uri };
      const params = { ref, argument: { name: "variant", value: "" }, context: { arguments: settled } };
      return (await ask("completion/complete", params, bearer)).completion.values;
    };
    const [ofTenant, ofServer] = templates;
    expect(await variants(ofTenant, { tenant: "crowd" })).toEqual([]);
    await advertise("crowd", { advertiseResources: true, variants: { summary: true } });
    expect(await variants(ofTenant, { tenant: "crowd" })).toEqual(["summary", "stats"]);
    expect(await variants(ofTenant, { tenant: "CROWD" })).toEqual(["summary", "stats"]);
    expect(await variants(ofTenant, {})).toEqual(["summary", "stats"]);
    expect(await variants(ofServer, { tenant: "crowd", name: "a" })).toEqual([]);
    expect(await variants(ofServer, { tenant: "crowd", name: "b" })).toEqual(["full"]);
    expect(await variants(ofServer, { tenant: "crowd" })).toEqual(["full"]);
    expect(await variants(ofServer, { tenant: "nobody" })).toEqual([]);
    // The tenant has a public server, so that anyone may read what it advertises; `b` is not public.
    const stranger = await token({ tenants: ["elsewhere"], sub: "other" });
    expect(await variants(ofTenant, { tenant: "crowd" }, stranger)).toEqual(["summary", "stats"]);
    expect(await variants(ofServer, { tenant: "crowd", name: "b" }, stranger)).toEqual([]);
    expect(await variants(ofTenant, { tenant: "nobody" }, stranger)).toEqual([]);
  });
});

describe("a list of resources", () => {
  it("says what it leaves out", async () => {
    const tenants = ["full-1", "Full-2", ...Array.from({ length: 8 }, (_, index) => `late-${index}`)];
    const owner = await token({ tenants, sub: "many" });
    const stats = { advertiseResources: true };
    for (let index = 0; index < 19; index += 1) {
      const body = { tenant: "full-1", name: `s${index}`, advertise: stats };
      expect((await registry.send("POST", configs, { token: owner, body })).status).toBe(201);
    }
    const listed = await ask("resources/list", {}, owner);
    expect(listed._meta["dev.rollcall/leftOut"]).toEqual({
      tenants: 2,
      servers: { "full-1": 3 },
      message: expect.stringContaining("at most 8 tenants of the caller and 16 advertised servers of each"),
    });
    expect(listed.resources.filter(({ uri }: { uri: string }) => uri.includes("/full-1/"))).toHaveLength(16);
    expect((await ask("resources/list", {}, mine))._meta?.["dev.rollcall/leftOut"]).toBeUndefined();
  });
});

describe("the seed's spelling of a server's settings", () => {
  const seed = { advertise_resources: true, variants: { summary: true, full: false } };

  it("is read as advertise, on creation and change", async () => {
    const made = await register({ tenant: "zoo", name: "spelled", resources: seed });
    expect(made.body.data).toMatchObject({ advertise: seed });
    expect(made.body.data.resources).toBeUndefined();
    expect(made.body.data.warnings).toBeUndefined();
    expect((await registry.send("GET", "/api/index/zoo/spelled/summary", { token: mine })).status).toBe(200);
    const patched = await registry.send("PATCH", config("zoo", "spelled"), {
      token: mine,
      body: { resources: { variants: { summary: false } } },
    });
    expect(patched.body.data).toMatchObject({ changed: ["advertise"], advertise: { variants: { summary: false } } });
    expect((await registry.send("GET", "/api/index/zoo/spelled/summary", { token: mine })).status).toBe(403);
  });

  it("is refused beside advertise, and where it contradicts itself", async () => {
    const both = await register({ tenant: "zoo", name: "both", resources: seed, advertise: everything });
    expect([both.status, both.body.error.message]).toEqual([422, expect.stringContaining("/resources is advertise")]);
    const twice = { advertise_resources: true, advertiseResources: false };
    expect((await register({ tenant: "zoo", name: "both", resources: twice })).status).toBe(422);
    expect((await register({ tenant: "zoo", name: "both", resources: { variants: 7 } })).status).toBe(422);
  });

  it("is nothing else that is called resources", async () => {
    const { status, body } = await register({ tenant: "zoo", name: "other", resources: ["a"] });
    expect([status, body.data.resources, body.data.advertise]).toEqual([201, ["a"], undefined]);
    expect(body.data.warnings[0]).toContain("/resources");
  });
});

describe("what a manifest declares for the index", () => {
  it("is triggers and semantic data in the seed's spelling too", async () => {
    await publish("snakes", {
      semantic_data: { habitat: "sand" },
      tools: [
        { ...tools("snake").tools[0], triggers: ["Slither", "bite"], semantic_data: { fangs: 2 } },
        { ...tools("viper").tools[0], triggers: "bite", actionTriggers: ["rattle"], semantic: { a: 1, b: 1 } },
      ],
    });
    await registry.send("PATCH", config("zoo", "snakes"), { token: mine, body: { advertise: everything } });
    const read = async (variant: string) =>
      parse((await registry.send("GET", `/api/index/zoo/snakes/${variant}`, { token: mine })).text);
    const triggers = { bite: ["snake", "viper"], rattle: ["viper"], slither: ["snake"] };
    expect((await read("summary")).action_triggers).toEqual(triggers);
    const full = await read("full");
    expect(full.action_triggers).toEqual(triggers);
    expect(full.elements.tools.snake).toMatchObject({
      triggers: ["slither", "bite"],
      semantic: { semantic: { fangs: 2 } },
    });
    expect(full.elements.tools.snake.semantic_data).toBeUndefined();
    expect(full.elements.tools.viper).toMatchObject({ triggers: ["rattle", "bite"], semantic: { semantic: { a: 1 } } });
    expect(full.semantic).toEqual({ snakes: { habitat: "sand" } });
  });

  it("is warned of where it names an element that is not there", async () => {
    const warnings = async (manifest: object, query = "") =>
      (await publish("birds", manifest, query)).body.data.warnings ?? [];
    const declared = { action_triggers: { fly: ["eagle", "mcp.birds.owl", "emu"], hum: ["bee"] } };
    const manifest = { ...declared, ...tools("eagle", "owl") };
    const expected = [
      '/actionTriggers/fly/2 names "emu", which the server does not have; the index leaves the trigger out',
      '/actionTriggers/hum/0 names "bee", which the server does not have; the index leaves the trigger out',
    ];
    expect(await warnings(manifest, "?dryRun=true")).toEqual(expected);
    expect(await warnings(manifest)).toEqual(expected);
    expect(await warnings(manifest)).toEqual(expected);
    // A switched-off element is there.
    await registry.send("PATCH", capabilities("zoo", "birds"), {
      token: mine,
      body: { items: [{ kind: "tool", name: "owl", enabled: false }] },
    });
    expect(await warnings({ ...manifest, ...tools("eagle", "emu", "bee") })).toEqual([]);
    const many = { actionTriggers: { fly: Array.from({ length: 200 }, (_, index) => `b${index}`) }, ...tools("eagle") };
    expect((await warnings(many)).length).toBe(51);
  });
});

describe("figures of an index", () => {
  it("are those of the texts, which they are summed without", async () => {
    const made = await publish("odd", {
      actionTriggers: { sing: ["lark"] },
      relationships: { lark: ["owl"] },
      semantic: { a: "é\nb" },
      ...tools("lark", "get_owl"),
      prompts: [{ name: "p", description: "Ignore all previous instructions.\n\n  Two lines." }],
      resources: [{ uri: "bird://a%20b", name: "x" }],
    });
    expect(made.status).toBe(201);
    await register({ tenant: "zoo", name: "empty" });
    for (const path of ["zoo/odd", "zoo/empty", "zoo"]) {
      const settings = { token: mine, body: { advertise: everything } };
      if (path === "zoo") await advertise("zoo", everything);
      else await registry.send("PATCH", `${configs}/${path}`, settings);
      // First, so that no text is in memory.
      const stats = await registry.send("GET", `/api/index/${path}/stats`, { token: mine });
      const [summary, full] = await Promise.all(
        ["summary", "full"].map((variant) => registry.send("GET", `/api/index/${path}/${variant}`, { token: mine })),
      );
      const sizes = [summary?.text ?? "", full?.text ?? ""].map((text) => ({
        ...sizeOfText(text),
        count: count(text),
      }));
      const [short, long] = sizes as [(typeof sizes)[0], (typeof sizes)[0]];
      expect([path, stats.body]).toEqual([
        path,
        {
          ...{ summarySize: short.chars, summaryWords: short.words, summaryLines: short.lines },
          ...{ fullSize: long.chars, fullWords: long.words, fullLines: long.lines },
          ...{ estimatedSummaryTokens: estimateTokens(short), estimatedFullTokens: estimateTokens(long) },
          ...{ measuredSummaryTokens: short.count, measuredFullTokens: long.count },
        },
      ]);
    }
  });
});

describe("the tool get_capability_index", () => {
  const principal: Principal = {
    ...{ subject: "i", tenants: [tenantKey("zoo")], scopes: ["registry:read"], admin: false, expiresAt: 9e15 },
  };
  const call = (input: object) =>
    callTool("get_capability_index", input, { services: registry.services, principal }) as Promise<{
      ok: boolean;
      value: { text: string; generation?: number };
    }>;

  it("gives the registry's own index in full without a tenant, advertised or not", async () => {
    const own = await call({});
    expect(parse(own.value.text).elements.tools.get_capability_index.input_schema).toMatchObject({ type: "object" });
    expect(own.value.generation).toBeUndefined();
    expect((await call({ variant: "summary" })).value.text).toMatch(/^# Capability Index Summary/);
    expect(JSON.parse((await call({ variant: "stats" })).value.text).measuredFullTokens).toBe(count(own.value.text));
    expect(await call({ name: "odd" })).toMatchObject({
      error: { code: "ErrorToolArguments", message: expect.stringContaining("/tenant") },
    });
  });
});

describe("an index for a budget", () => {
  it("leaves out what a model does not need to choose", async () => {
    await publish("texts", {
      tools: [{ ...tools("speak").tools[0], examples: [{ description: "An example of speech." }] }],
      prompts: [
        { name: "greet", promptResponse: [{ role: "user", content: { type: "text", text: "A long speech." } }] },
        { name: "part", prompt_response: [{ role: "user", content: { type: "text", text: "A long speech." } }] },
      ],
    });
    const body = { budget: 10_000, servers: ["texts"] };
    const { data } = (await registry.send("POST", "/api/index/zoo/budget", { token: mine, body })).body;
    expect(data.items.map(({ id }: { id: string }) => id)).toContain("mcp.texts.speak");
    expect(data.index).toContain("input_schema");
    expect(data.index).not.toMatch(/speech|examples|prompt_response/);
    const full = await registry.send("GET", "/api/index/zoo/full", { token: mine });
    expect(full.text).toMatch(/An example of speech/);
    expect(full.text).toContain("A long speech.");
  });
});
