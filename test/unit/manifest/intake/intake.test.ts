import { describe, expect, it } from "vitest";
import { type Intake, readIntake, writtenPath } from "../../../../src/manifest/intake/intake.ts";
import { ownSectionsIssues } from "../../../../src/manifest/intake/sections.ts";

const tool = { name: "t", description: "d", inputSchema: { type: "object" } };

const read = (value: unknown, confirmed: string[] = []) => readIntake({ value, issues: [] }, { confirmed });

function taken(value: unknown, confirmed: string[] = []): Intake {
  const intake = read(value, confirmed);
  if (!intake.ok) throw new Error(intake.error.message);
  return intake.value;
}

function refusal(value: unknown, confirmed: string[] = []) {
  const intake = read(value, confirmed);
  if (intake.ok) throw new Error("was taken");
  const { code, message, details } = intake.error;
  expect(code).toBe("ErrorMCPServerValidation");
  return { message, issue: details?.issues?.[0], details };
}

const warnings = (value: unknown) => taken(value).warnings.map(({ path, message }) => `${path} ${message}`);

describe("sections", () => {
  it.each([
    ["tool", "tools"],
    ["Tools", "tools"],
    ["TOOLS", "tools"],
    ["toolz", "tools"],
    ["tols", "tools"],
    ["resourcetemplates", "resourceTemplates"],
    ["resource", "resources"],
    ["prompt", "prompts"],
    ["generator", "generators"],
    ["operation", "operations"],
  ])("a list under %s is refused, naming %s", (key, meant) => {
    for (const document of [{ [key]: [tool] }, { tools: [tool], [key]: [] }]) {
      const { issue, message } = refusal(document);
      expect(issue).toMatchObject({ path: `/${key}`, rule: "section-name" });
      expect(message).toContain(`did you mean ${meant}?`);
      expect(message).toContain(`?sections=${key}`);
    }
    expect(taken({ [key]: [tool] }, [key]).sections).toEqual({ known: [], own: [key] });
  });

  it("takes resource_templates for resourceTemplates", () => {
    const template = { uriTemplate: "a://{b}" };
    const { document, sections } = taken({ resource_templates: [template] });
    expect(sections.known).toEqual(["resourceTemplates"]);
    expect(document).toEqual({ resourceTemplates: [template] });
    expect(refusal({ resource_templates: [], resourceTemplates: [] }).issue).toMatchObject({
      path: "/resource_templates",
      rule: "both-spellings",
    });
  });

  it.each([[{}], [{ version: "2" }], [{ title: "x", icons: [] }], [{ tool: "x" }]])(
    "none at all is refused: %j",
    (value) => {
      const { issue, message } = refusal(value);
      expect(issue?.rule).toBe("no-section");
      expect(message).toContain('"tools": []');
    },
  );

  it("null or anything but a list is refused", () => {
    expect(refusal({ tools: null }).issue).toMatchObject({ path: "/tools", rule: "null-section" });
    expect(refusal({ tools: [tool], prompts: null }).issue?.path).toBe("/prompts");
    expect(refusal({ tools: "x" }).issue).toMatchObject({ path: "/tools", rule: "type" });
    expect(refusal({ tools: { a: tool } }).message).toContain("not a map");
  });

  it("an explicit empty list is taken at its word", () => {
    expect(taken({ tools: [] }).sections).toEqual({ known: ["tools"], own: [] });
  });

  it("one of the publisher's own counts beside a known one", () => {
    const { sections, warnings: told } = taken({ tools: [], validators: [{ name: "v" }] });
    expect(sections).toEqual({ known: ["tools"], own: ["validators"] });
    expect(told).toEqual([]);
  });

  it("one of the publisher's own alone needs a server that has it, or a word", () => {
    const only = { known: [], own: ["validators"] };
    const empty = { hasItems: false, header: {} };
    expect(ownSectionsIssues(only, [], empty)[0]?.message).toContain("?sections=validators");
    expect(ownSectionsIssues(only, ["validators"], empty)).toEqual([]);
    expect(ownSectionsIssues(only, [], { hasItems: false, header: { validators: [] } })).toEqual([]);
    const full = { hasItems: true, header: { validators: [] } };
    expect(ownSectionsIssues(only, ["validators"], full)[0]?.message).toContain('"tools": []');
    expect(ownSectionsIssues({ known: ["tools"], own: [] }, [], full)).toEqual([]);
  });

  it("a page of a list is refused as incomplete", () => {
    expect(refusal({ tools: [tool], nextCursor: "abc" }).issue).toMatchObject({
      path: "/nextCursor",
      rule: "incomplete-list",
    });
    expect(taken({ tools: [tool], nextCursor: null }).sections.known).toEqual(["tools"]);
  });
});

describe("another document is refused by what it looks like", () => {
  const manifest = { tools: [tool] };
  const view = { name: "x", version: "1", mcp_version: "", features: {}, limits: {}, runtime: {}, tool_count: 2 };
  const config = { tenant: "acme", name: "x", visibility: "public" };
  it.each<[string, unknown, string]>([
    ["an answer of this API", { success: true, message: "m", data: manifest }, "its data"],
    [
      "an answer with a server's config in its envelope",
      { success: true, data: { ...config, registry: {} } },
      "/api/mcp/configs",
    ],
    [
      "an answer with a revision in its envelope",
      { success: true, data: { digest: "sha256-0", manifest, capabilities: [] } },
      "data.manifest",
    ],
    ["the tools view", { tools_by_category: { query: [tool] }, metadata: { total_count: 1 } }, '"tools"'],
    ["the server view", view, "counts"],
    ["the resources view", { resources: { config: { patterns: [] } }, metadata: {} }, '"resourceTemplates"'],
    ["the generators view", { generators: { jinja2: {} }, selection_strategy: {} }, '"generators"'],
    ["a server's config", config, "PATCH /api/mcp/configs"],
    ["a server's config", { sources: [{ type: "sse", url: "https://a.example" }] }, "PUT /api/mcp/configs"],
    ["a JSON-RPC message", { jsonrpc: "2.0", id: 1, result: manifest }, "/api/import/mcp"],
    ["a manifest inside another object", { manifest }, "its manifest"],
    ["a hook's event", { type: "manifest.published", data: { sequence: 1, manifest } }, "/hooks/"],
    ["a server.json", { name: "io.a/b", version: "1.0.0", packages: [] }, "/v0.1/publish"],
    ["a server.json", { $schema: "https://x.example/2025/server.schema.json", name: "io.a/b" }, "/v0.1/publish"],
    ["an OpenAPI document", { openapi: "3.1.0", info: {}, paths: {} }, "/api/import/openapi"],
    ["an OpenAPI document", { swagger: "2.0", info: {} }, "/api/import/openapi"],
    ["a GraphQL introspection result", { data: { __schema: {} } }, "/api/import/graphql"],
    ["the settings of an MCP client", { mcpServers: { a: { command: "npx" } } }, "/api/mcp/configs"],
  ])("%s", (what, value, instead) => {
    const { message, issue } = refusal(value);
    expect(issue?.rule).toBe("look-alike");
    expect(message).toContain(`looks like ${what}`);
    expect(message).toContain(instead);
  });

  it.each([[[tool]], ["text"], [null], [7]])("not an object: %j", (value) => {
    expect(refusal(value).message).toContain('{"tools": […]}');
  });

  it("but not if it names a section", () => {
    expect(taken({ ...manifest, packages: [], visibility: "public", name: "x" }).sections.known).toEqual(["tools"]);
  });
});

describe("spelling", () => {
  it("is the seeds' as well as the registry's, at every known place", () => {
    const {
      document,
      faults,
      warnings: told,
    } = taken({
      mcp_version: "2026-07-28",
      concurrency_limits: { max_concurrent_generations: 2 },
      selection_strategy: { type: "priority" },
      website_url: "https://a.example",
      tools: [
        {
          name: "t",
          input_schema: { type: "object" },
          output_schema: { type: "object" },
          common_errors: [{ code: "E", message: "m" }],
          performance: { typical_ms: "5", timeout_ms: "50" },
        },
      ],
      prompts: [{ name: "p", prompt_response: [{ role: "user", content: { type: "text", text: "x" } }] }],
      resources: [{ uri: "a://b", mime_type: "text/plain" }],
      resource_templates: [{ uri_template: "a://{b}", mime_type: "text/plain", parameters: { b: { type: "string" } } }],
      generators: [
        {
          type: "g",
          plugin_path: "p",
          best_for: ["x"],
          docs_uri: "a://d",
          requirements: { env_vars: ["E"] },
          upstream_dependencies: {
            services: ["s"],
            credentials_required: ["C"],
            optional_services: [],
            expected_latency_ms: { p50: 1, p95: 2 },
            concurrency_safe: true,
          },
        },
      ],
    });
    expect({ faults, told }).toEqual({ faults: [], told: [] });
    expect(document).toEqual({
      mcpVersion: "2026-07-28",
      concurrencyLimits: { max_concurrent_generations: 2 },
      selectionStrategy: { type: "priority" },
      websiteUrl: "https://a.example",
      tools: [
        {
          name: "t",
          inputSchema: { type: "object" },
          outputSchema: { type: "object" },
          commonErrors: [{ code: "E", message: "m" }],
          performance: { typicalMs: "5", timeoutMs: "50" },
        },
      ],
      prompts: [{ name: "p", promptResponse: [{ role: "user", content: { type: "text", text: "x" } }] }],
      resources: [{ uri: "a://b", mimeType: "text/plain" }],
      resourceTemplates: [
        { uriTemplate: "a://{b}", mimeType: "text/plain", parameters: [{ name: "b", type: "string" }] },
      ],
      generators: [
        {
          type: "g",
          pluginPath: "p",
          bestFor: ["x"],
          docsUri: "a://d",
          requirements: { envVars: ["E"] },
          upstreamDependencies: {
            services: ["s"],
            credentialsRequired: ["C"],
            optionalServices: [],
            expectedLatencyMs: { p50: 1, p95: 2 },
            concurrencySafe: true,
          },
        },
      ],
    });
  });

  it("changes nothing inside schemas, examples, annotations, metadata, _meta and own sections", () => {
    const inside = { input_schema: { mime_type: 1 }, best_for: [{ env_vars: 2 }] };
    const value = {
      tools: [
        {
          ...{ name: "t", inputSchema: { type: "object", properties: inside }, outputSchema: inside },
          ...{ examples: [{ input: inside }], annotations: inside, metadata: inside, _meta: inside },
        },
      ],
      generators: [{ type: "g", indicators: inside }],
      validators: [inside],
      _meta: inside,
    };
    expect(taken(value).document).toEqual(value);
  });

  it("in both ways of one member is a fault of that item", () => {
    const item = { ...tool, input_schema: {}, performance: { typicalMs: "1", typical_ms: "2" } };
    expect(taken({ tools: [tool, item] }).faults).toEqual([
      {
        path: "/tools/1/input_schema",
        rule: "both-spellings",
        message: "is inputSchema in another spelling; send one of the two",
      },
      expect.objectContaining({ path: "/tools/1/performance/typical_ms" }),
    ]);
    expect(taken({ tools: [], mcp_version: "1", mcpVersion: "1" }).faults[0]?.path).toBe("/mcp_version");
  });

  it("is the sender's where a place is named", () => {
    const written = { resource_templates: [{ mime_type: 1 }], tools: [{ inputSchema: {} }] };
    expect(writtenPath(written, "/resourceTemplates/0/mimeType/x")).toBe("/resource_templates/0/mime_type/x");
    expect(writtenPath(written, "/tools/0/inputSchema")).toBe("/tools/0/inputSchema");
    expect(writtenPath(written, "/tools/9/nothing")).toBe("/tools/9/nothing");
    expect(writtenPath(written, "")).toBe("");
  });

  it("returns items that are spelled as here unchanged", () => {
    const { document } = taken({ tools: [tool] });
    expect((document.tools as unknown[])[0]).toBe(tool);
  });

  it("keeps damage that the parser found with its item", () => {
    const issues = [{ path: "/resource_templates/0/a", rule: "duplicate-key", message: "m" }];
    const intake = readIntake({ value: { resource_templates: [{}] }, issues });
    expect(intake.ok && intake.value.damage[0]?.path).toBe("/resourceTemplates/0/a");
  });
});

describe("unknown members", () => {
  it("are kept, and named with what was probably meant", () => {
    const value = { foo: 1, tools: [{ ...tool, inputschema: {}, descripton: "x", parameters: {}, own: 1 }] };
    expect(taken(value).document).toEqual(value);
    expect(warnings(value)).toEqual([
      "/foo is not known and was kept",
      "/tools/0/inputschema is not known and was kept; did you mean inputSchema?",
      "/tools/0/descripton is not known and was kept; did you mean description?",
      "/tools/0/parameters is not known and was kept; did you mean inputSchema?",
      "/tools/0/own is not known and was kept",
    ]);
  });

  it("are found inside known members", () => {
    expect(warnings({ tools: [], generators: [{ type: "g", requirements: { envvars: [] } }] })).toEqual([
      "/generators/0/requirements/envvars is not known and was kept; did you mean envVars?",
    ]);
  });

  it("are none of those that MCP and the importers use", () => {
    expect(
      warnings({
        ...{ name: "x", instructions: "i", tools: [{ ...tool, execution: {}, deprecated: true, tags: [] }] },
        ...{
          resources: [{ uri: "a://b", size: 1, annotations: { audience: [] }, icons: [{ src: "x", theme: "dark" }] }],
        },
      }),
    ).toEqual([]);
  });

  it("are named in part if they are long", () => {
    const [told] = warnings({ tools: [{ ...tool, ["x".repeat(10_000)]: 1 }] });
    expect(told?.length).toBeLessThan(150);
  });
});

describe("input schemas that no model takes", () => {
  it.each([
    ["an array", { type: "array" }, 'keeps this from every model: The type of its arguments must be "object"'],
    [
      "a reference without a type",
      { $ref: "#/$defs/a", $defs: { a: { type: "object" } } },
      "keeps this from every model",
    ],
    ["names that are no list", { type: "object", required: "x" }, "keeps this from every model: Its schema is wrong"],
  ])("%s", (_, inputSchema, message) => {
    expect(warnings({ tools: [{ name: "t", inputSchema }] })[0]).toContain(`/tools/0/inputSchema ${message}`);
  });

  it("are not those of other kinds, or objects", () => {
    expect(
      warnings({
        tools: [tool, { name: "u", inputSchema: { properties: {} } }, { name: "none" }],
        prompts: [{ name: "p" }],
      }),
    ).toEqual([]);
  });
});
