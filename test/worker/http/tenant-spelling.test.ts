import { beforeAll, describe, expect, it } from "vitest";
import { EventReader } from "../support/event-reader.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { type Answer, capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";

/** The tenant is shown as its first write spelled it. Every question here spells it in another way. */
const shown = "GlassHouse";
const key = "glasshouse";
const spellings = [shown, key, "GLASSHOUSE", "gLASShOUSE"] as const;
const asked = "GLASSHOUSE";

const registry = new Registry();
let owner: string;
let stranger: string;
let digest: string;

const mcpVersion = "2026-07-28";

function mcpMessage(method: string, params: Record<string, unknown>) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": mcpVersion,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  };
  const name = params.name ?? params.uri;
  return {
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": mcpVersion,
      "Mcp-Method": method,
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
    },
  };
}

const mcp = (method: string, params: Record<string, unknown>, who = owner) =>
  registry.send("POST", "/mcp", { token: who, ...mcpMessage(method, params) });
const call = (name: string, args: object) => mcp("tools/call", { name, arguments: args });
const get = (path: string, who = owner) => registry.send("GET", path, { token: who });

beforeAll(async () => {
  owner = await token({ sub: "keeper", tenants: [asked] });
  stranger = await token({ sub: "passer-by", tenants: ["elsewhere"] });
  const send = (method: string, path: string, body: unknown) => registry.send(method, path, { token: owner, body });
  const manifest = { version: "1.0.0", ...tools("grow_orchid", "water_orchid"), generators: [{ type: "pots" }] };
  const first = await send("PUT", capabilities(shown, "garden"), manifest);
  digest = first.body.data.digest;
  const advertise = { advertiseResources: true, variants: { summary: true, full: true, stats: true } };
  await send("PUT", configs, { tenant: key, name: "garden", visibility: "public", advertise });
  await send("PUT", `/api/index/gLASShOUSE/advertise`, advertise);
  await send("POST", configs, { tenant: asked, name: "shed" });
  await drained(key);
});

/** Every surface that names a tenant, and how it is asked about one. */
const surfaces: Record<string, (tenant: string) => Promise<Answer>> = {
  "a config": (tenant) => get(config(tenant, "garden")),
  "a config, to an outsider": (tenant) => get(config(tenant, "garden"), stranger),
  "the servers of a tenant": (tenant) => get(`${configs}?tenant=${tenant}`),
  "the servers of a caller": () => get(configs),
  "the public servers": (tenant) => get(`${configs}?visibility=public&tenant=${tenant}`),
  "the catalogue": (tenant) => get(`/api/catalog?tenant=${tenant}`),
  "the catalogue, with facets": (tenant) => get(`/api/catalog?tenant=${tenant}&facets=tenant`),
  "the catalogue, to an outsider": (tenant) => get(`/api/catalog?tenant=${tenant}`, stranger),
  "the whole catalogue": () => get("/api/catalog", stranger),
  search: (tenant) => get(`/api/search?q=grow+orchid&tenant=${tenant}`),
  "search, by an outsider": (tenant) => get(`/api/search?q=grow+orchid&tenant=${tenant}`, stranger),
  "a capability": (tenant) => get(`/api/capabilities/${tenant}/mcp.garden.grow_orchid`),
  "a capability, as YAML": (tenant) => get(`/api/capabilities/${tenant}/mcp.garden.grow_orchid?format=yaml`),
  "settings of the index": (tenant) => get(`/api/index/${tenant}/advertise`),
  "the index of a tenant": (tenant) => get(`/api/index/${tenant}/summary`),
  "the index of a server": (tenant) => get(`/api/index/${tenant}/garden/full`),
  "an index that fits": (tenant) =>
    registry.send("POST", `/api/index/${tenant}/budget`, { token: owner, body: { budget: 500, task: "orchid" } }),
  "an official name": (tenant) => get(`/v0.1/servers/${tenant}%2Fgarden/versions/latest`),
  "official versions": (tenant) => get(`/v0.1/servers/${tenant}%2Fgarden/versions`),
  "the official list": (tenant) => get(`/v0.1/servers?search=${tenant}`),
  list_servers: (tenant) => call("list_servers", { tenant }),
  search_capabilities: (tenant) => call("search_capabilities", { task: "orchid", tenants: [tenant] }),
  get_capability: (tenant) => call("get_capability", { tenant, id: "mcp.garden.grow_orchid" }),
  get_capability_index: (tenant) => call("get_capability_index", { tenant, variant: "full" }),
  negotiate_context: (tenant) =>
    call("negotiate_context", {
      task: "grow an orchid",
      budget: 500,
      tenants: [tenant],
      must_have: [{ id: "mcp.garden.water_orchid", tenant }],
      pins: [{ id: "mcp.garden.grow_orchid", tenant, digest: `sha256-${"0".repeat(64)}` }],
    }),
  use_capability: (tenant) =>
    mcp("prompts/get", { name: "use_capability", arguments: { tenant, id: "mcp.garden.grow_orchid" } }),
  "advertised resources": () => mcp("resources/list", {}),
  "completion of a tenant": (tenant) => complete("tenant", tenant.slice(0, 5)),
};

function complete(name: string, value: string, tenant?: string): Promise<Answer> {
  return mcp("completion/complete", {
    ref: { type: "ref/resource", uri: "capabilities://{tenant}/{name}/{view}" },
    argument: { name, value },
    ...(tenant === undefined ? {} : { context: { arguments: { tenant } } }),
  });
}

/** What names no tenant, and is the same for all spellings too. */
const others: typeof surfaces = {
  capabilities: (tenant) => get(capabilities(tenant, "garden")),
  "a view": (tenant) => get(`${capabilities(tenant, "garden")}/tools`),
  revisions: (tenant) => get(`${capabilities(tenant, "garden")}/revisions`),
  "a revision": (tenant) => get(`${capabilities(tenant, "garden")}/revisions/${digest}`),
  "a comparison": (tenant) => get(`${capabilities(tenant, "garden")}/diff?from=${digest}`),
  "generator selection": (tenant) =>
    registry.send("POST", `${capabilities(tenant, "garden")}/generators/select`, { token: owner, body: {} }),
  "preflight of a generator": (tenant) =>
    registry.send("POST", `${capabilities(tenant, "garden")}/generators/pots/preflight`, { token: owner, body: {} }),
  "the log": (tenant) => get(`/api/changes/${tenant}`),
  "the sizes of an index": (tenant) => get(`/api/index/${tenant}/stats`),
  whats_changed: (tenant) => call("whats_changed", { tenant }),
  diff_capabilities: (tenant) => call("diff_capabilities", { tenant, name: "garden", from: digest }),
  "completion of a name": (tenant) => complete("name", "g", tenant),
};

/** The text without what differs from answer to answer. */
const stable = ({ status, headers, text }: Answer) => ({
  status,
  etag: headers.get("ETag"),
  text: text.replaceAll(/genesis:[^"]*/g, (genesis) => (genesis === `genesis:${key}` ? "genesis" : genesis)),
});

describe("a tenant in any spelling", () => {
  it.each(Object.keys(surfaces))("is shown as it was first written: %s", async (name) => {
    const answers = [];
    for (const tenant of spellings) answers.push(stable((await surfaces[name]?.(tenant)) as Answer));
    for (const answer of answers) {
      expect(answer).toEqual(answers[0]);
      expect([answer.status, [...new Set(answer.text.match(new RegExp(key, "gi")))]]).toEqual([200, [shown]]);
    }
  });

  it.each(Object.keys(others))("gets one answer: %s", async (name) => {
    const first = stable((await others[name]?.(shown)) as Answer);
    expect(first.status).toBe(200);
    for (const tenant of spellings) expect(stable((await others[name]?.(tenant)) as Answer)).toEqual(first);
  });

  it("is shown so by what writes answer", async () => {
    const send = (method: string, path: string, body?: unknown) =>
      registry.send(method, path, { token: owner, ...(body === undefined ? {} : { body }) });
    const created = await send("POST", configs, { tenant: asked, name: "annex" });
    expect([created.status, created.body.data.tenant]).toEqual([201, shown]);
    const replaced = await send("PUT", configs, { tenant: asked, name: "annex", title: "Annex" });
    expect([replaced.status, replaced.body.data.tenant]).toEqual([200, shown]);
    const hook = await send("POST", "/api/hooks", { tenant: asked, server: "annex" });
    expect(new URL(hook.body.data.url).pathname).toBe(`/hooks/${shown}/${hook.body.data.id}`);
    expect((await send("GET", `/api/hooks/${key}/${hook.body.data.id}`)).status).toBe(200);
    const url = "https://receiver.example/in";
    const { body } = await send("POST", "/api/subscriptions", { tenant: asked, url });
    expect(body.data.tenant).toBe(shown);
    const one = `/api/subscriptions/${key}/${body.data.id}`;
    for (const answer of [
      await send("GET", one),
      await send("PATCH", one, { description: "x" }),
      await send("POST", `${one}/rotate`),
      await send("DELETE", one),
    ]) {
      expect([answer.status, answer.body.data.tenant]).toEqual([200, shown]);
    }
    const advertised = await send("PUT", `/api/index/${asked}/advertise`, { advertiseResources: false });
    expect(advertised.body.data.tenant).toBe(shown);
    expect((await send("DELETE", config(asked, "annex"))).status).toBe(200);
  });

  it("is read as a resource under the URI that was asked for", async () => {
    for (const tenant of spellings) {
      const uri = `capabilities://${tenant}/garden/tools`;
      const { body } = await mcp("resources/read", { uri });
      expect(body.result.contents).toMatchObject([{ uri }]);
    }
  });

  it("is followed as a resource under the URI that was asked for", async () => {
    const uris = spellings.map((tenant) => `capabilities://${tenant}/garden/tools`);
    const message = mcpMessage("subscriptions/listen", { notifications: { resourceSubscriptions: uris } });
    const reader = new EventReader(await registry.fetch("POST", "/mcp", { token: owner, ...message }));
    await reader.named("message");
    const body = { version: "1.1.0", ...tools("grow_orchid", "water_orchid", "move_orchid") };
    await registry.send("PUT", capabilities(key, "garden"), { token: owner, body });
    const told = [];
    for (const _ of uris) told.push((await reader.named("message")).data.params.uri);
    expect(told.sort()).toEqual(uris.toSorted());
    await reader.leave();
  });

  it("is followed as a log", async () => {
    const headers = { Accept: "text/event-stream" };
    const reader = new EventReader(
      await registry.fetch("GET", `/api/changes/${asked}?since=0`, { token: owner, headers }),
    );
    expect((await reader.named("change")).data).toMatchObject({ sequence: 1, previous: `genesis:${key}` });
    await reader.leave();
  });

  it("is negotiated about, and its changes are told", async () => {
    const context = "dev.rollcall/context";
    const extensions = { [context]: { task: "grow an orchid", budget: 500, tenants: [asked] } };
    const { id, answer } = await negotiate(registry, { ...client("notifications", context), extensions }, owner);
    const { items } = answer.body.extensions[context];
    expect([...new Set(items.map(({ tenant }: { tenant: string }) => tenant))]).toEqual([shown]);
    const body = { version: "1.2.0", tools: [{ name: "grow_orchid", description: "Grows it faster." }] };
    await registry.send("PUT", capabilities(asked, "garden"), { token: owner, body });
    const changes = await registry.send("GET", "/mcp/session/changes", { token: owner, ...inSession(id) });
    expect(changes.body.changes.length).toBeGreaterThan(0);
    for (const change of changes.body.changes) expect(change.tenant).toBe(shown);
    const since = encodeURIComponent(changes.body.position.replace(key, asked));
    const later = await registry.send("GET", `/mcp/session/changes?since=${since}`, { token: owner, ...inSession(id) });
    expect([later.status, later.body.changes]).toEqual([200, []]);
  });
});
