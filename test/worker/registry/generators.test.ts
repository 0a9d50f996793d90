import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const path = `${capabilities("gens", "s")}/generators`;
let member: string;

beforeAll(async () => {
  member = await token({ tenants: ["gens"] });
  const generators = [
    { type: "jinja2" },
    { type: "template_fill" },
    { type: "demonstration" },
    {
      type: "code_generation",
      requirements: { fields: ["generation.patterns[0].specification"], envVars: ["ANTHROPIC_API_KEY"] },
      upstreamDependencies: {
        services: ["anthropic"],
        credentialsRequired: ["ANTHROPIC_API_KEY"],
        expectedLatencyMs: { p95: 5_000 },
      },
    },
  ];
  await registry.send("PUT", capabilities("gens", "s"), { token: member, body: { ...tools("gens_t"), generators } });
  await registry.send("PUT", capabilities("gens", "none"), { token: member, body: tools("gens_u") });
});

const post = (at: string, body: unknown) => registry.send("POST", at, { token: member, body });

describe("selecting a generator", () => {
  it.each([
    [{ generation: { patterns: [{ type: "demonstration" }] } }, "demonstration", "explicit-type"],
    [{ generation: { patterns: [{ template: "{% if a %}{{ b }}{% endif %}" }] } }, "jinja2", "template-syntax"],
    [{ generation: { patterns: [{ template: "{{ b }}" }] } }, "template_fill", "template-syntax"],
    [{ elements: [{ example_output: "x" }] }, "demonstration", "structure"],
    [{ config: { elements: [{ example_output: "x" }] }, credentials: [] }, "demonstration", "structure"],
    [{ config: { elements: [{ example_output: "x" }] }, other: 1 }, "jinja2", "fallback"],
    [{}, "jinja2", "fallback"],
  ])("%j → %s by %s", async (config, type, rule) => {
    const { status, body } = await post(`${path}/select`, config);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ type, rule, confidence: expect.any(String), candidates: expect.any(Array) });
  });

  it.each([
    ["a list", "[]", 422, "ErrorMCPServerValidation"],
    ["broken JSON", "{", 400, "ErrorInvalidBody"],
    ["a repeated key", '{"a":1,"a":2}', 400, "ErrorInvalidBody"],
  ])("refuses %s", async (_, body, status, code) => {
    const answer = await post(`${path}/select`, body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  it("has nothing to choose from where there are no generators", async () => {
    const { status, body } = await post(`${capabilities("gens", "none")}/generators/select`, {});
    expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
  });
});

describe("preflight", () => {
  it("says what is missing and how long to wait", async () => {
    const { body } = await post(`${path}/code_generation/preflight`, { config: {}, credentials: [] });
    expect(body.data).toMatchObject({
      ready: false,
      missing_fields: ["generation.patterns[0].specification"],
      missing_credentials: ["ANTHROPIC_API_KEY"],
      timeout_ms: 10_000,
    });
    const ready = {
      config: { generation: { patterns: [{ specification: "s" }] } },
      credentials: ["ANTHROPIC_API_KEY"],
    };
    expect((await post(`${path}/code_generation/preflight`, ready)).body.data.ready).toBe(true);
  });

  it("takes names of credentials, never values, and does not repeat one", async () => {
    const { status, text } = await post(`${path}/code_generation/preflight`, { credentials: ["KEY=sk-secret-value"] });
    expect(status).toBe(422);
    expect(text).not.toContain("sk-secret-value");
  });

  it("does not know other types", async () => {
    const { status, body } = await post(`${path}/magic/preflight`, {});
    expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
  });
});

describe("registering a generator as a plugin", () => {
  const plugin = { type: "mustache", pluginPath: "plugins/mustache.ts", indicators: { template_patterns: ["{{#"] } };

  it("adds it to the live registry, keeps everything else, and classifies the change", async () => {
    const { status, body } = await post(path, plugin);
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ type: "mustache", changes: { additive: 1, breaking: 0 } });
    const view = (await registry.send("GET", path, { token: member })).body;
    expect(view.generators.mustache).toMatchObject({ source: "plugin", plugin_path: "plugins/mustache.ts" });
    expect(view.metadata).toMatchObject({ generator_count: 5, plugin_count: 1 });
    expect((await registry.send("GET", capabilities("gens", "s"), { token: member })).body.data.tools).toHaveLength(1);
  });

  it("refuses a type that is taken, unless it is meant to replace it", async () => {
    const again = await post(path, { ...plugin, version: "2" });
    expect([again.status, again.body.error.code]).toEqual([409, "ErrorGeneratorExists"]);
    expect((await post(`${path}?override=true`, { ...plugin, version: "2" })).status).toBe(201);
    const view = (await registry.send("GET", path, { token: member })).body;
    expect(view.generators.mustache.version).toBe("2");
  });

  it("takes override in the body as in the query, and refuses two that differ", async () => {
    const body = { ...plugin, version: "3", override: true };
    const differing = await post(`${path}?override=false`, body);
    expect([differing.status, differing.body.error.message]).toEqual([
      400,
      "override is false in the query and true in the body",
    ]);
    expect((await post(path, body)).status).toBe(201);
    expect((await post(`${path}?override=true`, { ...body, version: "4" })).status).toBe(201);
    const refused = await post(path, { ...plugin, version: "5", override: false });
    expect([refused.status, refused.body.error.code]).toEqual([409, "ErrorGeneratorExists"]);
    const read = { token: member, headers: { "Cache-Control": "no-cache" } };
    const { mustache } = (await registry.send("GET", path, read)).body.generators;
    expect(mustache).toMatchObject({ version: "4" });
    expect(mustache).not.toHaveProperty("override");
  });

  it("loses none of several at once", async () => {
    const types = ["one", "two", "three"];
    const answers = await Promise.all(types.map((type) => post(path, { type })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const view = (await registry.send("GET", path, { token: member, headers: { "Cache-Control": "no-cache" } })).body;
    expect(Object.keys(view.generators)).toEqual(expect.arrayContaining(types));
  });

  it("refuses a type that cannot be, a server that is not there, and a token that may only read", async () => {
    expect((await post(path, { type: "Not OK" })).status).toBe(422);
    expect((await post(`${capabilities("gens", "absent")}/generators`, { type: "x" })).status).toBe(404);
    const reader = await token({ tenants: ["gens"], scope: "registry:read" });
    expect((await registry.send("POST", path, { token: reader, body: { type: "x" } })).status).toBe(403);
  });

  it("works inside a manifest too: a later entry replaces an earlier one only when it says so", async () => {
    const twice = (override: boolean) => ({
      generators: [
        { type: "g", version: "1" },
        { type: "g", version: "2", ...(override ? { override } : {}) },
      ],
    });
    const put = (body: unknown) => registry.send("PUT", capabilities("gens", "dup"), { token: member, body });
    expect((await put(twice(false))).status).toBe(422);
    expect((await put(twice(true))).status).toBe(201);
    const { body } = await registry.send("GET", capabilities("gens", "dup"), { token: member });
    expect(body.data.generators).toMatchObject([{ type: "g", version: "2" }]);
    expect(body.data.generators[0]).not.toHaveProperty("override");
  });
});
