import { describe, expect, it } from "vitest";
import { digestOfText } from "../../../src/kernel/digest.ts";
import type { CapabilityKind } from "../../../src/manifest/schema/capability.ts";
import type { StoredCapability, StoredManifest } from "../../../src/manifest/stored.ts";
import type { Head } from "../../../src/registry/contract.ts";
import { namedView } from "../../../src/registry/views/named.ts";
import {
  GeneratorsView,
  OperationsView,
  ResourcesView,
  ServerView,
  ToolsView,
} from "../../../src/registry/views/schema.ts";

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
  const text = namedView(name).render(of, head);
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
      resource_count: 3,
      generator_count: 2,
      views: ["server", "tools", "resources", "generators", "operations", "validators"],
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
  it("has a family for each scheme and MIME type, and for each that is declared", () => {
    expect(ResourcesView.parse(render("resources"))).toMatchObject({
      resources: {
        config: {
          patterns: ["config://{id}"],
          mime_type: "",
          description: "One config",
          parameters: { id: { type: "string", description: "Which", enum: ["a", "b"] } },
          examples: [],
        },
        "config application/json": {
          patterns: ["config://all"],
          mime_type: "application/json",
          description: "All",
          parameters: {},
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
      metadata: { total_count: 3, version: "1.2.0" },
    });
  });

  const resource = (uri: string, mimeType?: string, description?: string) =>
    item("resource", uri, { uri, mimeType, description });
  const template = (name: string, patterns: string[], more: Record<string, unknown> = {}) =>
    item("resourceTemplate", patterns[0] ?? "", { name, patterns, ...more });
  const familiesOf = (...capabilities: StoredCapability[]) =>
    ResourcesView.parse(render("resources", { ...manifest, capabilities })).resources;

  it("lists a pattern once that is also the template", () => {
    const uriTemplate = "config://{id}";
    const found = familiesOf(template("config", [uriTemplate, "config://{id}/old"], { uriTemplate }));
    expect(Object.values(found).map(({ patterns }) => patterns)).toEqual([[uriTemplate, "config://{id}/old"]]);
  });

  it("keeps what a publisher declares of a family, whatever else has its scheme", () => {
    const config = template("config", ["config://artifact/{artifact_id}", "config://content/{content_id}"], {
      mimeType: "application/json",
      description: "Configuration files",
      parameters: [{ name: "artifact_id" }],
    });
    const others = [
      resource("config://one", "text/html", "A third thing"),
      item("resourceTemplate", "config://{id}", { uriTemplate: "config://{id}", mimeType: "text/plain" }),
    ];
    const alone = familiesOf(config).config;
    expect(alone).toMatchObject({ mime_type: "application/json", description: "Configuration files" });
    for (const shown of [familiesOf(config, ...others), familiesOf(...others, config)]) {
      expect(shown.config).toEqual(alone);
      expect(Object.keys(shown)).toEqual(["config", "config text/html", "config text/plain"]);
      expect(shown["config text/html"]).toMatchObject({ patterns: ["config://one"], description: "A third thing" });
    }
    expect(Object.keys(familiesOf(config, resource("config://one", "text/html")))).toEqual([
      "config",
      "config text/html",
    ]);
    expect(Object.keys(familiesOf(config, resource("config://one")))).toEqual(["config", "config other"]);
  });

  it.each<[string, StoredCapability[], Record<string, string>]>([
    ["one type", [resource("https://a", "text/html"), resource("https://b", "text/html")], { https: "text/html" }],
    ["no type", [resource("https://a"), resource("HTTPS://b")], { https: "" }],
    [
      "two types",
      [resource("https://a", "text/html"), resource("https://b", "image/png"), resource("ftp://c", "image/png")],
      { ftp: "image/png", "https image/png": "image/png", "https text/html": "text/html" },
    ],
    [
      "a type and none",
      [resource("https://a", "text/html"), resource("https://b")],
      { https: "", "https text/html": "text/html" },
    ],
    [
      "a declared family with the name of a type",
      [template("https text/html", ["x://{a}"]), resource("https://a", "text/html"), resource("https://b", "a/b")],
      { "https a/b": "a/b", "https text/html": "", "https text/html 2": "text/html" },
    ],
    [
      "two declarations of one name",
      [template("f", ["x://{a}"], { mimeType: "a/b" }), template("f", ["y://{a}"], { mimeType: "c/d" })],
      { f: "a/b", "f c/d": "c/d" },
    ],
    [
      "two declarations that agree",
      [template("f", ["x://{a}"], { mimeType: "a/b" }), template("f", ["y://{a}"], { mimeType: "a/b" })],
      { f: "a/b" },
    ],
  ])("names families: %s", (_, capabilities, expected) => {
    const shown = familiesOf(...capabilities);
    expect(Object.fromEntries(Object.entries(shown).map(([name, family]) => [name, family.mime_type]))).toEqual(
      expected,
    );
    const patterns = Object.values(shown).flatMap((family) => family.patterns);
    expect(patterns).toHaveLength(capabilities.length);
  });

  it("describes all that only share a scheme, within bounds", () => {
    const two = familiesOf(
      resource("a://1", "t/t", "One"),
      resource("a://2", "t/t", "Two"),
      resource("a://3", "t/t", "One"),
    );
    expect(two.a?.description).toBe("One; Two");
    const many = Array.from({ length: 99 }, (_, at) => resource(`a://${at}`, "t/t", `Description number ${at}`));
    const description = familiesOf(...many).a?.description ?? "";
    expect(description.length).toBeLessThan(510);
    expect(description).toMatch(/^Description number 0; .*; …$/);
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
    });
    expect(view.generators.jinja2).not.toHaveProperty("upstream_dependencies");
    expect(view.selection_strategy.fallback).toBe("jinja2");
    expect(view.metadata).toEqual({ version: "1.2.0", generator_count: 2, builtin_count: 1, plugin_count: 1 });
  });

  it("has a fallback only where the server has the generator", () => {
    const fallbackOf = (capabilities: StoredCapability[], selectionStrategy?: Record<string, string>) =>
      render("generators", { ...manifest, header: { ...manifest.header, selectionStrategy }, capabilities })
        .selection_strategy.fallback;
    const alpha = item("generator", "alpha", { type: "alpha" });
    expect(fallbackOf([])).toBeNull();
    expect(fallbackOf([alpha])).toBeNull();
    expect(fallbackOf([alpha], { fallback: "alpha" })).toBe("alpha");
    expect(fallbackOf([alpha], { fallback: "beta" })).toBeNull();
  });

  it("tells nothing upstream from a publisher who does not say", () => {
    const local = item("generator", "local", { type: "local", upstreamDependencies: null });
    const vague = item("generator", "vague", { type: "vague" });
    const { generators } = render("generators", { ...manifest, capabilities: [local, vague] });
    expect([generators.local.upstream_dependencies, "upstream_dependencies" in generators.vague]).toEqual([
      null,
      false,
    ]);
  });

  it("still answers to its old name, saying that it is old", () => {
    expect(render("decision_tree")).toEqual({
      deprecated: true,
      replaced_by: "capabilities://generators",
      ...render("generators"),
    });
  });
});

describe("capabilities://operations", () => {
  it("has the operations alone, with method and path", () => {
    const pet = item("operation", "getPet", {
      name: "getPet",
      metadata: { openapi: { endpoint_method: "GET", endpoint_path: "/pets/{id}" } },
    });
    const view = OperationsView.parse(render("operations", { ...manifest, capabilities: [pet] }));
    expect(view.operations).toMatchObject([{ name: "getPet", method: "GET", path: "/pets/{id}", version: "1.2.0" }]);
    expect(view.metadata).toEqual({ total_count: 1, version: "1.2.0" });
  });

  it("is not there without any", () => {
    const none = { ...manifest, capabilities: [] };
    expect(render("operations", none)).toBeUndefined();
    expect(render("server", none).views).not.toContain("operations");
  });
});

describe("views a manifest brings", () => {
  it("are lists and maps under keys of its own", () => {
    expect(render("validators")).toMatchObject({
      validators: manifest.header.validators,
      metadata: { total_count: 2, version: "1.2.0" },
    });
  });

  it.each([
    "nothing",
    "tags",
    "features",
    "serverInfo",
    "__proto__",
    "constructor",
    "Tools",
    "a/b",
    "",
    "x".repeat(65),
  ])("are not %j", (name) => {
    expect(render(name)).toBeUndefined();
  });
});

describe("views", () => {
  it("answer for a server that has published nothing", () => {
    for (const name of ["server", "tools", "resources", "generators"]) expect(render(name, undefined)).toBeDefined();
  });

  it("have a new version whenever they render something else", async () => {
    // When this fails because the output changed, raise that view's version: old ETags must not match new bytes.
    const names = ["server", "tools", "resources", "generators", "operations", "decision_tree", "validators"];
    const rendered = await Promise.all(
      names.map(async (name) => {
        const view = namedView(name);
        return [view.version, (await digestOfText(view.render(manifest, head) ?? "")).slice(7, 19)];
      }),
    );
    expect(Object.fromEntries(rendered)).toMatchInlineSnapshot(`
      {
        "d2": "c8ea25572daa",
        "g2": "a1a16736db49",
        "o1": "11483cbba3fa",
        "r4": "8c397780f6d8",
        "s3": "d9a337696af8",
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
