import { describe, expect, it } from "vitest";
import { digestOfText } from "../../../src/kernel/digest.ts";
import type { CapabilityKind } from "../../../src/manifest/schema/capability.ts";
import type { StoredCapability, StoredManifest } from "../../../src/manifest/stored.ts";
import type { Head } from "../../../src/registry/contract.ts";
import { namedView } from "../../../src/registry/views/named.ts";
import { GeneratorsView, ResourcesView, ServerView, ToolsView } from "../../../src/registry/views/schema.ts";

const head: Head = {
  tenant: "acme",
  name: "compose",
  digest: "sha256-d",
  visibility: "tenant",
  status: "active",
  generation: 1,
  asOf: 1,
  overlay: 1,
  disabled: [{ kind: "tool", key: "off" }],
  flags: [],
};

const item = (kind: CapabilityKind, key: string, declared: Record<string, unknown>): StoredCapability => ({
  kind,
  key,
  id: key,
  digest: "sha256-i",
  tokens: 1,
  flags: [],
  declared,
});

const manifest: StoredManifest = {
  digest: "sha256-d",
  header: {
    version: "1.2.0",
    serverInfo: { name: "compose-server", version: "0.9" },
    mcpVersion: "1.0",
    features: { content_generation: true, validation_suggestions: false },
    limits: { max_batch_size: 50 },
    concurrencyLimits: { queue_size: 10 },
    runtime: { node: "24" },
    validators: [{ name: "schema" }, { name: "links" }],
    tags: "not a list",
  },
  capabilities: [
    item("tool", "generate", {
      name: "generate",
      category: "content",
      description: "Generates.",
      inputSchema: { type: "object" },
      examples: [{ description: "one", input: {} }],
      commonErrors: [{ code: "E1", message: "m" }],
      performance: { typicalMs: "500-2000", timeoutMs: "30000" },
    }),
    item("tool", "odd", { name: "odd", category: "our-own", title: "Odd" }),
    item("tool", "off", { name: "off", category: "batch" }),
    item("operation", "getPet", { name: "getPet", version: "3" }),
    item("resource", "config://all", { uri: "config://all", name: "All", mimeType: "application/json" }),
    item("resourceTemplate", "config://{id}", {
      uriTemplate: "config://{id}",
      description: "One config",
      parameters: [{ name: "id", type: "string", description: "Which", enum: ["a", "b"] }],
    }),
    item("resourceTemplate", "content://{id}", {
      name: "content",
      patterns: ["content://{id}", "content://{id}/{version}"],
      mimeType: "text/plain",
      examples: ["content://1"],
    }),
    item("generator", "jinja2", {
      type: "jinja2",
      name: "Jinja2Generator",
      indicators: { templatePatterns: ["{%"], confidence: "high" },
    }),
    item("generator", "ai", {
      type: "ai",
      source: "plugin",
      pluginPath: "plugins/ai.ts",
      status: "experimental",
      requirements: { envVars: ["KEY"], subfields: ["x"] },
      upstreamDependencies: { services: ["s"], credentialsRequired: ["KEY"], expectedLatencyMs: { p95: 10, p99: 20 } },
    }),
  ],
};

const render = (name: string, of: StoredManifest | undefined = manifest) => {
  const text = namedView(name)?.render(of, head);
  return text === undefined ? undefined : JSON.parse(text);
};

describe("capabilities://server", () => {
  it("has the shape its readers know, with counts of what the others show", () => {
    expect(ServerView.parse(render("server"))).toMatchObject({
      name: "compose-server",
      version: "1.2.0",
      mcp_version: "1.0",
      features: { content_generation: true, validation_suggestions: false },
      limits: { max_batch_size: 50 },
      runtime: { node: "24" },
      concurrency_limits: { queue_size: 10 },
      tool_count: 3,
      resource_count: 2,
      generator_count: 2,
    });
  });
});

describe("capabilities://tools", () => {
  it("groups what can be called, a publisher's own category under query", () => {
    const view = ToolsView.parse(render("tools"));
    expect(Object.keys(view.tools_by_category)).toEqual(["content", "query"]);
    expect(view.tools_by_category.content?.[0]).toMatchObject({
      name: "generate",
      category: "content",
      description: "Generates.",
      version: "1.2.0",
      input_schema: { type: "object" },
      output_schema: {},
      examples: [{ description: "one", input: {} }],
      common_errors: [{ code: "E1", message: "m" }],
      performance: { typical_ms: "500-2000", timeout_ms: "30000" },
      registry: { id: "generate", digest: "sha256-i", tokens: 1, flags: [], status: "active" },
    });
    expect(view.tools_by_category.query?.map(({ name, version, description }) => [name, version, description])).toEqual(
      [
        ["odd", "1.2.0", "Odd"],
        ["getPet", "3", ""],
      ],
    );
    expect(view.metadata).toEqual({ total_count: 3, version: "1.2.0" });
  });
});

describe("capabilities://resources", () => {
  it("has a family for each scheme, and for each that is declared", () => {
    expect(ResourcesView.parse(render("resources"))).toMatchObject({
      resources: {
        config: {
          patterns: ["config://all", "config://{id}"],
          mime_type: "application/json",
          description: "All",
          parameters: { id: { type: "string", description: "Which", enum: ["a", "b"] } },
          examples: ["config://all"],
        },
        content: {
          patterns: ["content://{id}", "content://{id}/{version}"],
          mime_type: "text/plain",
          description: "content",
          parameters: {},
          examples: ["content://1"],
        },
      },
      metadata: { total_count: 2, version: "1.2.0" },
    });
  });
});

describe("capabilities://generators", () => {
  it("is the registry in order of type, plugins counted", () => {
    const view = GeneratorsView.parse(render("generators"));
    expect(Object.keys(view.generators)).toEqual(["ai", "jinja2"]);
    expect(view.generators.ai).toMatchObject({
      source: "plugin",
      plugin_path: "plugins/ai.ts",
      status: "experimental",
      requirements: { fields: [], dependencies: [], env_vars: ["KEY"], subfields: ["x"] },
      upstream_dependencies: {
        credentials_required: ["KEY"],
        expected_latency_ms: { p95: 10, p99: 20 },
        concurrency_safe: false,
      },
    });
    expect(view.generators.jinja2).toMatchObject({
      name: "Jinja2Generator",
      version: "1.2.0",
      source: "builtin",
      status: "stable",
      indicators: { template_patterns: ["{%"], confidence: "high" },
      upstream_dependencies: null,
    });
    expect(view.selection_strategy.fallback).toBe("jinja2");
    expect(view.metadata).toEqual({ version: "1.2.0", generator_count: 2, builtin_count: 1, plugin_count: 1 });
  });

  it("still answers to its old name, saying that it is old", () => {
    expect(render("decision_tree")).toEqual({
      deprecated: true,
      replaced_by: "capabilities://generators",
      ...render("generators"),
    });
  });
});

describe("views a manifest brings", () => {
  it("are lists and maps under keys of its own", () => {
    expect(render("validators")).toMatchObject({
      validators: manifest.header.validators,
      metadata: { total_count: 2, version: "1.2.0" },
    });
  });

  it.each(["nothing", "tags", "features", "serverInfo", "__proto__", "constructor", "Tools", "a/b", ""])(
    "are not %j",
    (name) => {
      expect(render(name)).toBeUndefined();
    },
  );
});

describe("views", () => {
  it("answer for a server that has published nothing", () => {
    for (const name of ["server", "tools", "resources", "generators"]) expect(render(name, undefined)).toBeDefined();
  });

  it("have a new version whenever they render something else", async () => {
    // When this fails because the output changed, raise that view's version: old ETags must not match new bytes.
    const names = ["server", "tools", "resources", "generators", "decision_tree", "validators"];
    const rendered = await Promise.all(
      names.map(async (name) => {
        const view = namedView(name);
        return [view?.version, (await digestOfText(view?.render(manifest, head) ?? "")).slice(7, 19)];
      }),
    );
    expect(Object.fromEntries(rendered)).toMatchInlineSnapshot(`
      {
        "d2": "c87e3e6619da",
        "g2": "7108d4a6aa90",
        "r3": "28a760ad2b8e",
        "s2": "00c87287a6d5",
        "t2": "07cafe5e05b4",
        "x2.validators": "5cb416eb1d6b",
      }
    `);
  });
});

describe("the examples its readers were given", () => {
  const server = {
    name: "chora-compose",
    version: "1.2.0",
    mcp_version: "1.0",
    features: { content_generation: true, validation_suggestions: false },
    limits: { max_content_size_bytes: 10_000_000 },
    runtime: { python: "3.12.10", fastmcp: "2.12.4", platform: "darwin" },
    tool_count: 17,
    resource_count: 5,
    generator_count: 5,
  };

  it("fit the schemas", () => {
    expect(ServerView.safeParse(server).success).toBe(true);
    expect(ServerView.safeParse({ ...server, tool_count: "17" }).success).toBe(false);
    expect(ServerView.safeParse({ ...server, features: { a: 1 } }).success).toBe(false);
  });
});
