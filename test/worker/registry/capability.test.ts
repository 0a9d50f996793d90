import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readRtfs } from "../../../src/formats/rtfs/index.ts";
import { capabilities, Registry, token } from "../support/registry.ts";

const registry = new Registry();
let member: string;

const tool = {
  name: "list_issues",
  version: "1.0.0",
  description: "List issues in a repository",
  provider: "MCP",
  permissions: ["network.http"],
  effects: ["network_request", "mcp_call"],
  metadata: {
    mcp: {
      server_url: "https://api.example.com/mcp/",
      server_name: "github",
      tool_name: "list_issues",
      requires_session: "auto",
      auth_env_var: "MCP_AUTH_TOKEN",
      server_url_override_env: "MCP_SERVER_URL",
    },
    custom: { nested: { deep: 1 }, list: [1, 2] },
    discovery: { method: "mcp_introspection", capability_type: "mcp_tool", introspector_version: "1.0.0" },
  },
  inputSchema: {
    type: "object",
    properties: { owner: { type: "string" }, state: { type: "string", enum: ["open"], format: "x" } },
    required: ["owner"],
  },
};

beforeAll(async () => {
  member = await token({ tenants: ["caps"] });
  const everything = {
    tools: [tool, { name: "declared", id: "our.own.id" }],
    prompts: [{ name: "ask" }],
    resources: [{ uri: "docs://readme" }],
    resourceTemplates: [{ uriTemplate: "docs://{id}" }],
    generators: [{ type: "jinja2" }],
    operations: [{ name: "getPet", provider: "openapi" }],
  };
  await registry.send("PUT", capabilities("caps", "github"), { token: member, body: everything });
  const open = { tenant: "caps", name: "open", visibility: "public" };
  await registry.send("POST", "/api/mcp/configs", { token: member, body: open });
  await registry.send("PUT", capabilities("caps", "open"), { token: member, body: { tools: [{ name: "free" }] } });
});

const get = (id: string, query = "", headers: Record<string, string> = {}) =>
  registry.send("GET", `/api/capabilities/caps/${id}${query}`, { token: member, headers });

describe("a capability by its id", () => {
  it.each([
    ["mcp.github.list_issues", "tool"],
    ["our.own.id", "tool"],
    ["mcp.github.prompt:ask", "prompt"],
    ["mcp.github.resource:docs~3A~2F~2Freadme", "resource"],
    ["mcp.github.resourceTemplate:docs~3A~2F~2F~7Bid~7D", "resourceTemplate"],
    ["mcp.github.generator:jinja2", "generator"],
    ["openapi.github.getPet", "operation"],
  ])("finds %s, a %s", async (id, kind) => {
    const { status, body } = await get(id);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id,
      kind,
      registry: { tenant: "caps", name: "github", tokens: expect.any(Number) },
    });
    expect(body.data.registry.digest).toMatch(/^sha256-/);
  });

  it("has generic fields at the top, provider details and provenance under metadata", async () => {
    const { body } = await get("mcp.github.list_issues");
    expect(body.data).toMatchObject(tool);
    expect(Date.parse(body.data.metadata.discovery.created_at)).not.toBeNaN();
    expect(body.data).not.toHaveProperty("runtime");
  });

  it("keeps members that the publisher declared under names of the registry's own additions", async () => {
    const declared = { name: "own_members", runtime: { python: "3.12" }, collisions: ["mine"] };
    const published = await registry.send("PUT", capabilities("caps", "own-members"), {
      token: member,
      body: { tools: [{ ...declared, id: "own.members" }] },
    });
    expect(published.status).toBe(201);
    expect((await get("own.members")).body.data).toMatchObject(declared);
    expect((await get("own.members", "?layout=flat")).body.data).toMatchObject(declared);
  });

  it("resolves runtime hints on request, by name and never by value", async () => {
    const { body } = await get("mcp.github.list_issues", "?hints=true");
    expect(body.data.runtime).toMatchObject({
      url: { override_env: "MCP_SERVER_URL", declared: "https://api.example.com/mcp/" },
      auth: [{ source: "explicit_token" }, { name: "MCP_AUTH_TOKEN" }, { name: "GITHUB_MCP_TOKEN" }],
    });
  });

  it("comes as YAML and RTFS, by Accept or by format", async () => {
    const json = (await get("mcp.github.list_issues")).body.data;
    for (const answer of [
      await get("mcp.github.list_issues", "?format=yaml"),
      await get("mcp.github.list_issues", "", { Accept: "application/yaml" }),
    ]) {
      expect(answer.headers.get("Content-Type")).toContain("application/yaml");
      expect(parse(answer.text)).toEqual(json);
    }
    for (const answer of [
      await get("mcp.github.list_issues", "?format=rtfs"),
      await get("mcp.github.list_issues", "", { Accept: "application/rtfs" }),
    ]) {
      expect(answer.headers.get("Content-Type")).toContain("application/rtfs");
      const read = readRtfs(answer.text);
      expect(read.ok && read.value.capabilities[0]).toMatchObject({
        id: "mcp.github.list_issues",
        metadata: { mcp: tool.metadata.mcp },
      });
      // A format has no place in that notation, and the answer says so.
      expect(answer.headers.get("Rollcall-Losses")).toBe("/0/inputSchema/properties/state/format");
    }
  });

  it("comes in the flat layout, with collisions reported", async () => {
    const { body } = await get("mcp.github.list_issues", "?layout=flat");
    expect(body.data.metadata).toMatchObject({
      mcp_server_name: "github",
      discovery_method: "mcp_introspection",
      custom_nested_deep: 1,
    });
    expect(body.data.metadata).not.toHaveProperty("custom_list");
    await registry.send("PUT", capabilities("caps", "clash"), {
      token: member,
      body: { tools: [{ name: "clash", metadata: { a: { b_c: 1 }, a_b: { c: 2 } } }] },
    });
    const clash = await get("mcp.clash.clash", "?layout=flat");
    expect(clash.body.data.collisions).toMatchObject([{ key: "a_b_c", paths: expect.any(Array) }]);
  });

  it("revalidates each form by its own tag", async () => {
    const etag = (await get("mcp.github.list_issues")).headers.get("ETag") ?? "";
    expect((await get("mcp.github.list_issues", "", { "If-None-Match": etag })).status).toBe(304);
    expect((await get("mcp.github.list_issues", "?format=yaml", { "If-None-Match": etag })).status).toBe(200);
  });

  it.each(["?format=xml", "?layout=round", "?hints=maybe", "?unknown=1"])("refuses %s", async (query) => {
    expect((await get("mcp.github.list_issues", query)).status).toBe(400);
  });

  it("is not found under another id, or once it is switched off", async () => {
    expect((await get("mcp.github.nothing")).body.error.code).toBe("ErrorCapabilityNotFound");
    const flip = (enabled: boolean) =>
      registry.send("PATCH", capabilities("caps", "github"), {
        token: member,
        body: { items: [{ kind: "prompt", name: "ask", enabled }] },
      });
    await flip(false);
    expect((await get("mcp.github.prompt:ask")).status).toBe(404);
    await flip(true);
    expect((await get("mcp.github.prompt:ask")).status).toBe(200);
  });
});

describe("who may see a capability", () => {
  const anonymous = (id: string) => registry.send("GET", `/api/capabilities/caps/${id}`);

  it("is anyone, where the server is public", async () => {
    expect((await anonymous("mcp.open.free")).status).toBe(200);
    const stranger = await token({ tenants: ["elsewhere"] });
    expect((await registry.send("GET", "/api/capabilities/caps/mcp.open.free", { token: stranger })).status).toBe(200);
  });

  it("is its tenant otherwise, and what is private looks like what is not there", async () => {
    const [hidden, absent] = [await anonymous("mcp.github.list_issues"), await anonymous("mcp.github.nothing")];
    expect([hidden.status, hidden.text]).toEqual([401, absent.text]);
    const stranger = await token({ tenants: ["elsewhere"] });
    const send = (id: string) => registry.send("GET", `/api/capabilities/caps/${id}`, { token: stranger });
    const [other, none] = [await send("mcp.github.list_issues"), await send("mcp.github.nothing")];
    expect([other.status, other.text]).toEqual([403, none.text]);
  });

  it("is nobody with a bad token, public or not", async () => {
    const { status } = await registry.send("GET", "/api/capabilities/caps/mcp.open.free", { token: "not.a.token" });
    expect(status).toBe(401);
  });
});
