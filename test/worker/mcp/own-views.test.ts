import { describe, expect, it } from "vitest";
import { ownResources, ownResourceTemplates } from "../../../src/mcp/resources/resources.ts";
import { listTools } from "../../../src/mcp/tools/tools.ts";
import {
  GeneratorsView,
  OperationsView,
  ResourcesView,
  ServerView,
  ToolsView,
} from "../../../src/registry/views/schema.ts";
import { Registry, token } from "../support/registry.ts";

const registry = new Registry();
const schemas = {
  server: ServerView,
  tools: ToolsView,
  resources: ResourcesView,
  generators: GeneratorsView,
  operations: OperationsView,
};
const view = async (name: string) => (await registry.send("GET", `/api/mcp/capabilities/${name}`)).body;

describe("views of the registry itself", () => {
  it.each(Object.entries(schemas))("%s fits its schema, for anyone", async (name, schema) => {
    const { status, body } = await registry.send("GET", `/api/mcp/capabilities/${name}`);
    expect(status).toBe(200);
    expect(schema.safeParse(body).success).toBe(true);
  });

  it("say what is really running", async () => {
    const { body } = await registry.send("GET", "/api/mcp/capabilities/server");
    expect(body).toMatchObject({
      name: "rollcall",
      features: { authentication: true, identity_provider_tokens: false },
    });
    expect(body.limits.max_manifest_bytes).toBe(registry.services.config.bounds.manifestBytes);
    expect(body.runtime).toMatchObject({
      platform: "workerd",
      compatibility_date: "2026-07-30",
      hono: expect.stringMatching(/^4\./),
    });
    const closed = new Registry({ vars: { JWT_SECRET: "", READ_LIMIT: "7/9" } as Partial<Env> });
    const other = await closed.send("GET", "/api/mcp/capabilities/server");
    expect(other.body).toMatchObject({ features: { authentication: false }, limits: { reads_per_second: 7 } });
  });

  it("count what they show", async () => {
    const server = await view("server");
    const { metadata, tools_by_category } = await view("tools");
    const { resources } = await view("resources");
    const shown = Object.values(tools_by_category as Record<string, unknown[]>).flat().length;
    expect([server.tool_count, metadata.total_count]).toEqual([shown, shown]);
    expect([server.resource_count, server.generator_count]).toEqual([Object.keys(resources).length, 0]);
  });

  it("list as tools what tools/list has, and nothing else", async () => {
    const { tools_by_category } = ToolsView.parse(await view("tools"));
    const shown = Object.values(tools_by_category).flat();
    const listed = listTools();
    expect(new Set(shown.map(({ name }) => name))).toEqual(new Set(listed.map(({ name }) => name)));
    for (const tool of shown) {
      const { inputSchema, outputSchema, description } = listed.find(({ name }) => name === tool.name) ?? {};
      expect([tool.input_schema, tool.output_schema, tool.description]).toEqual([
        inputSchema,
        outputSchema,
        description,
      ]);
      expect([tool.name, tool.examples.length > 0, tool.common_errors.length > 0]).toEqual([tool.name, true, true]);
      expect(tool.performance).toEqual({
        typical_ms: expect.stringMatching(/^\d+(\.\d+)?-\d+(\.\d+)?$/),
        timeout_ms: "30000",
      });
    }
  });

  it("have the HTTP operations as a view of their own, with method and path", async () => {
    const { operations, metadata } = OperationsView.parse(await view("operations"));
    const { paths } = (await registry.send("GET", "/openapi.json")).body as { paths: Record<string, object> };
    const methods = new Set(["get", "put", "post", "patch", "delete"]);
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => methods.has(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(described.sort());
    expect(metadata.total_count).toBe(operations.length);
  });

  it("name every view that there is", async () => {
    const { views } = await view("server");
    expect(views).toEqual(["server", "tools", "resources", "generators", "operations"]);
    for (const name of views) expect((await registry.send("GET", `/api/mcp/capabilities/${name}`)).status).toBe(200);
  });

  it("describe every resource and template that is served", async () => {
    const { resources } = ResourcesView.parse(await view("resources"));
    const patterns = Object.values(resources).flatMap((family) => family.patterns);
    for (const { uriTemplate } of ownResourceTemplates) expect(patterns).toContain(uriTemplate);
    const examples = Object.values(resources).flatMap((family) => family.examples);
    for (const { uri } of ownResources) expect(examples).toContain(uri);
    for (const { patterns: own, parameters } of Object.values(resources)) {
      const named = own.flatMap((pattern) => Array.from(pattern.matchAll(/\{(\w+)\}/g), ([, name]) => name));
      expect(new Set(Object.keys(parameters))).toEqual(new Set(named));
    }
    expect(Object.keys(resources)).toEqual(["capabilities", "capability-index", "capability-index stats", "generator"]);
  });

  /** Without what the registry knows: ids and digests are those of another server. */
  const declared = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (key, member) => (key === "registry" ? undefined : member)));

  it("can be published, and are shown again", async () => {
    const member = await token({ tenants: ["mirror"] });
    const [tools, resources] = [ToolsView.parse(await view("tools")), ResourcesView.parse(await view("resources"))];
    const body = {
      tools: Object.values(tools.tools_by_category).flat(),
      resource_templates: Object.entries(resources.resources).map(([name, family]) => ({ name, ...family })),
    };
    const path = "/api/mcp/capabilities/mirror/rollcall";
    expect((await registry.send("PUT", path, { token: member, body })).status).toBe(201);
    const shown = async (name: string) => (await registry.send("GET", `${path}/${name}`, { token: member })).body;
    expect(declared((await shown("tools")).tools_by_category)).toEqual(declared(tools.tools_by_category));
    expect(declared((await shown("resources")).resources)).toEqual(declared(resources.resources));
  });

  it("show the indexes that the operator advertises", async () => {
    const open = new Registry({ vars: { ADVERTISE_INDEX: "summary,stats" } as Partial<Env> });
    const { resources } = (await open.send("GET", "/api/mcp/capabilities/resources")).body;
    expect(resources["capability-index"].examples).toEqual(["rollcall://capability-index/summary"]);
    expect(resources["capability-index stats"].examples).toEqual(["rollcall://capability-index/stats"]);
    const features = async (of: Registry) => (await of.send("GET", "/api/mcp/capabilities/server")).body.features;
    expect((await features(open)).capability_index).toBe(true);
    expect((await features(registry)).capability_index).toBe(false);
  });

  it("declare what MCP clients are offered", async () => {
    const { features, concurrency_limits } = await view("server");
    expect(features).toMatchObject({ tools: true, resources: true, prompts: true, completions: true });
    expect(concurrency_limits).toEqual({ max_event_streams: 4, max_mcp_streams: 16, max_mcp_streams_anonymous: 4 });
  });

  it("say that the registry has no generators, and no fallback", async () => {
    const { generators, selection_strategy, metadata } = await view("generators");
    expect([generators, selection_strategy.fallback, metadata.generator_count]).toEqual([{}, null, 0]);
    expect(selection_strategy.explanation).toContain("no generators of its own");
  });

  it("answer resource_not_found for any other, and say which there are", async () => {
    for (const name of ["acme", "Tools", "__proto__"]) {
      const { status, body } = await registry.send("GET", `/api/mcp/capabilities/${name}`);
      expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
      expect(body.error.message).toContain(
        `There is no view "${name}"; there are server, tools, resources, generators, operations`,
      );
    }
  });
});
