import { beforeAll, describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/kernel/digest.ts";
import { definitionText } from "../../../src/manifest/definition.ts";
import { loadTokenizer } from "../../../src/manifest/tokens.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { capabilities, Registry, token } from "../support/registry.ts";

const registry = new Registry();
const tenant = "harbour";
const reader = { sub: "captain", tenants: [tenant] };
const task = "when is high tide at the harbour";

const schema = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const definition = {
  name: "get_tide_times",
  description: "Times of high and low tide at a harbour, for a day.",
  inputSchema: schema("date", "harbour"),
};
/** Everything that a publisher may add, and that a model is not given. */
const rich = {
  ...definition,
  title: "Tide times",
  permissions: ["network.http"],
  effects: ["network_request"],
  outputSchema: schema("high", "low", "height", "unit", "source", "computed_at"),
  annotations: { title: "Tides", readOnlyHint: true, openWorldHint: true },
  examples: [{ description: "Tomorrow at Dover", input: { harbour: "Dover", date: "2026-12-01" } }],
  commonErrors: [{ code: "unknown_harbour", message: "There is no harbour of that name in the tables." }],
  metadata: {
    mcp: { server_url: "https://tides.example/mcp", server_name: "tides", tool_name: "get_tide_times" },
    discovery: { method: "mcp_introspection", source_url: "https://tides.example/mcp", note: "x ".repeat(100) },
  },
};
const noise = { name: "harbour_noise", description: "How loud the harbour is.", inputSchema: schema("place") };

let cost: number;

beforeAll(async () => {
  cost = (await loadTokenizer())(definitionText("tool", canonicalJson(definition)));
  const member = await token(reader);
  const body = { version: "1", tools: [rich, noise] };
  expect((await registry.send("PUT", capabilities(tenant, "tides"), { token: member, body })).status).toBe(201);
});

// biome-ignore lint/suspicious/noExplicitAny: items of an answer
const shown = (items: any[]) => items.map(({ name, tokens }) => [name, tokens]);

describe("a budget counts what a model is given", () => {
  it("so that the right tool fits it: in a search", async () => {
    expect(cost).toBeLessThan(100);
    const query = new URLSearchParams({ q: task, budget: "100", kind: "tool" });
    const { body } = await registry.send("GET", `/api/search?${query}`, { token: await token(reader) });
    expect(shown(body.data.items)[0]).toEqual(["get_tide_times", cost]);
    expect(body.data.usedTokens).toBeLessThanOrEqual(100);
  });

  it("in a negotiation", async () => {
    const wish = { token_budget: 100, task, kinds: ["tool"] };
    const request = {
      ...client("sampling", "dev.rollcall/context"),
      extensions: { "dev.rollcall/context": wish },
    };
    const { answer } = await negotiate(registry, request, await token(reader));
    const context = answer.body.extensions["dev.rollcall/context"];
    expect(shown(context.items)[0]).toEqual(["get_tide_times", cost]);
    expect(context.left_out).toEqual([]);
  });

  it("in the tools of the MCP server", async () => {
    const bearer = await token(reader);
    const { id } = await negotiate(registry, client("sampling"), bearer);
    const call = async (name: string, body: unknown) =>
      (await registry.send("POST", `/mcp/tool/${name}`, { token: bearer, body, ...inSession(id) })).body;
    const chosen = await call("negotiate_context", { token_budget: 100, task, kinds: ["tool"] });
    expect(shown(chosen.items)[0]).toEqual(["get_tide_times", cost]);
    const found = await call("search_capabilities", { query: task, kinds: ["tool"] });
    expect(shown(found.items)[0]).toEqual(["get_tide_times", cost]);
  });
});

describe("the cost of a tool", () => {
  it("is the same wherever it is shown, and whatever else was published", async () => {
    const bearer = await token({ sub: "plain", tenants: ["plain"] });
    const send = (method: string, path: string, body?: unknown) =>
      registry.send(method, path, { token: bearer, ...(body === undefined ? {} : { body }) });
    await send("PUT", capabilities("plain", "s"), { tools: [definition] });
    const dryRun = await send("POST", "/api/import/mcp?tenant=plain&name=t&dryRun=true", { tools: [definition] });
    const [imported] = dryRun.body.data.capabilities;
    const one = await send("GET", "/api/capabilities/plain/mcp.s.get_tide_times");
    const all = await send("GET", capabilities("plain", "s"));
    const config = await send("GET", "/api/mcp/configs/plain/s");
    const costs = [
      imported.registry.tokens,
      one.body.data.registry.tokens,
      all.body.data.registry.tokens,
      config.body.data.registry.tokens,
    ];
    expect(costs).toEqual([cost, cost, cost, cost]);
  });

  it("is counted again when only the definition's neighbours in the item changed, with the same result", async () => {
    const bearer = await token({ sub: "again", tenants: ["again"] });
    const publish = (tools: unknown[]) =>
      registry.send("PUT", capabilities("again", "s"), { token: bearer, body: { tools } });
    await publish([definition]);
    const { body } = await publish([{ ...rich, title: "Another" }]);
    expect(body.data.changes).toMatchObject({ additive: expect.any(Number) });
    const read = await registry.send("GET", capabilities("again", "s"), { token: bearer });
    expect(read.body.data.registry.tokens).toBe(cost);
  });
});
