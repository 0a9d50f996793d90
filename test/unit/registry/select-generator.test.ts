import { describe, expect, it } from "vitest";
import type { Generator } from "../../../src/manifest/schema/capability.ts";
import { selectGenerator } from "../../../src/registry/generators/select.ts";

const builtin: Generator[] = [
  { type: "jinja2", indicators: { template_patterns: ["{{", "{%"], confidence: "high" } },
  { type: "template_fill", indicators: { template_patterns: ["{{"], excludes: ["{%"], confidence: "medium" } },
  { type: "demonstration", indicators: { config_field: "elements[].example_output", confidence: "high" } },
  {
    type: "code_generation",
    indicators: { config_field: "generation.patterns[0].type", config_values: ["code_generation"] },
  },
];

const template = (text: unknown) => ({ generation: { patterns: [{ template: text }] } });
const select = (config: unknown, generators = builtin) => selectGenerator(config, generators, "jinja2");

describe("choosing a generator", () => {
  it.each<[string, unknown, string, string, string]>([
    [
      "the type it names",
      { generation: { patterns: [{ type: "code_generation" }] } },
      "code_generation",
      "explicit-type",
      "high",
    ],
    [
      "the type it names, whatever its template",
      { generation: { patterns: [{ type: "demonstration", template: "{% if a %}" }] } },
      "demonstration",
      "explicit-type",
      "high",
    ],
    ["{{ with {%", template("{% for x in y %}{{ x }}{% endfor %}"), "jinja2", "template-syntax", "high"],
    ["{% alone", template("{% include 'a' %}"), "jinja2", "template-syntax", "high"],
    ["{{ alone", template("Hello {{ name }}"), "template_fill", "template-syntax", "medium"],
    ["an example output", { elements: [{ name: "a" }, { example_output: "b" }] }, "demonstration", "structure", "high"],
    [
      "a template before an example output",
      { ...template("{{ a }}"), elements: [{ example_output: "b" }] },
      "template_fill",
      "template-syntax",
      "medium",
    ],
    ["nothing", {}, "jinja2", "fallback", "low"],
    ["a type no one has", { generation: { patterns: [{ type: "magic" }] } }, "jinja2", "fallback", "low"],
    ["an empty example output", { elements: [{ example_output: "" }] }, "jinja2", "fallback", "low"],
    ["a template that is no text", template(7), "jinja2", "fallback", "low"],
    ["patterns that are no list", { generation: { patterns: { type: "jinja2" } } }, "jinja2", "fallback", "low"],
  ])("goes by %s", (_, config, type, rule, confidence) => {
    expect(select(config)).toMatchObject({ type, rule, confidence });
  });

  it("says what else matched, best first and each once", () => {
    const config = { ...template("{{ a }}"), elements: [{ example_output: "b" }] };
    const { type, candidates } = select(config);
    expect(type).toBe("template_fill");
    expect(candidates.map((candidate) => [candidate.type, candidate.rule, candidate.confidence])).toEqual([
      ["jinja2", "template-syntax", "low"],
      ["demonstration", "structure", "high"],
    ]);
  });

  it("says of the fallback that nothing else matched only where it is so", () => {
    const reasonOf = (config: unknown) => {
      const { candidates, ...best } = select(config);
      return [best, ...candidates].find(({ rule }) => rule === "fallback")?.reason;
    };
    expect(reasonOf({})).toBe("nothing else matched");
    expect(reasonOf({ elements: [{ example_output: "b" }] })).toMatch(/^the server's fallback/);
  });

  it("knows the indicators of plugins, in either spelling", () => {
    const plugins: Generator[] = [
      ...builtin,
      {
        type: "mustache",
        source: "plugin",
        indicators: { templatePatterns: ["{{#"], excludes: ["{%"], confidence: "high" },
      },
      {
        type: "tabular",
        source: "plugin",
        indicators: { configFields: ["data.rows", "data.columns"], confidence: "low" },
      },
      { type: "nested", source: "plugin", indicators: { config_field: "parts", required_subfields: ["body"] } },
      {
        type: "tagged",
        source: "plugin",
        indicators: { metadata_field: "metadata.generator", metadata_values: ["tagged"] },
      },
    ];
    expect(select(template("{{#list}}x{{/list}}"), plugins)).toMatchObject({ type: "mustache", confidence: "high" });
    expect(select({ data: { rows: [1], columns: [2] } }, plugins)).toMatchObject({
      type: "tabular",
      confidence: "low",
    });
    expect(select({ data: { rows: [1] } }, plugins)).toMatchObject({ rule: "fallback" });
    expect(select({ parts: [{ body: "x" }] }, plugins)).toMatchObject({ type: "nested", confidence: "medium" });
    expect(select({ parts: [{}] }, plugins)).toMatchObject({ rule: "fallback" });
    expect(select({ metadata: { generator: "tagged" } }, plugins)).toMatchObject({ type: "tagged", rule: "structure" });
    expect(select({ metadata: { generator: "other" } }, plugins)).toMatchObject({ rule: "fallback" });
  });

  it("takes no name of the language for a rule, and no object for a word", () => {
    const odd: Generator[] = [
      ...builtin,
      { type: "constructor" },
      { type: "odd", indicators: { configField: "x", configValues: ["v"], metadataField: "m", metadataValues: ["v"] } },
    ];
    expect(select(template("plain"), odd)).toMatchObject({ type: "jinja2", rule: "fallback" });
    expect(select({ x: { toString: 1 }, m: { toString: 1 } }, odd)).toMatchObject({ rule: "fallback" });
  });

  describe("on a server without the fallback", () => {
    const few: Generator[] = [{ type: "alpha" }, { type: "beta", indicators: { config_field: "b" } }];

    it("has no type for a config that nothing matches, and says which there are", () => {
      const answer = select({}, few);
      expect(answer).toMatchObject({ type: null, confidence: "low", rule: "fallback", candidates: [] });
      expect(answer.reason).toBe('nothing matched, and the server does not have the fallback "jinja2"');
      expect(answer.notes.join()).toContain("The server has alpha, beta");
    });

    it("never offers it as a candidate", () => {
      expect(select({ b: 1 }, few)).toMatchObject({ type: "beta", notes: [], candidates: [] });
    });

    it("takes the fallback that the server declares", () => {
      expect(selectGenerator({}, few, "alpha")).toMatchObject({ type: "alpha", rule: "fallback", notes: [] });
    });
  });

  it.each([
    ["zzz", 'generation.patterns[0].type is "zzz", which the server does not have: it has code_generation, demonstr'],
    ["Jinja2", "was jinja2 meant?"],
    ["templatefill", "was template_fill meant?"],
  ])("says that the server does not have the type %s", (type, note) => {
    const plain = select({ generation: { patterns: [{ type }] } });
    expect(plain).toMatchObject({ type: "jinja2", rule: "fallback", confidence: "low" });
    expect(plain.notes.join()).toContain(note);
    const other = select({ generation: { patterns: [{ type, template: "{% if a %}" }] } });
    expect(other).toMatchObject({ type: "jinja2", rule: "template-syntax" });
    expect(other.notes.join()).toContain(note);
  });

  it("has no note where there is nothing to say", () => {
    expect(select({ generation: { patterns: [{ type: "jinja2" }] } }).notes).toEqual([]);
    expect(select({ generation: { patterns: [{ type: 7 }] } }).notes).toEqual([]);
  });

  it("takes a value that a generator declares for the type as its name", () => {
    const odd: Generator[] = [
      {
        type: "code",
        indicators: { config_field: "generation.patterns[0].type", config_values: ["codegen", "jinja2"] },
      },
      ...builtin,
    ];
    expect(select({ generation: { patterns: [{ type: "codegen" }] } }, odd)).toMatchObject({
      ...{ type: "code", rule: "explicit-type", confidence: "medium", notes: [] },
    });
    expect(select({ generation: { patterns: [{ type: "jinja2" }] } }, odd)).toMatchObject({
      ...{ type: "jinja2", rule: "explicit-type", confidence: "high" },
      candidates: [{ type: "code" }],
    });
  });

  describe("template patterns", () => {
    const erb: Generator = { type: "erb", indicators: { template_patterns: ["<%", "<%="], confidence: "high" } };

    it("are alternatives", () => {
      expect(select(template("<% x %>"), [erb])).toMatchObject({ type: "erb", rule: "template-syntax" });
      expect(select(template("plain"), [erb])).toMatchObject({ type: null });
    });

    it("do not hold where one is excluded", () => {
      const strict: Generator = { type: "erb", indicators: { template_patterns: ["<%"], excludes: ["<%%"] } };
      expect(select(template("<% x %> <%% y"), [strict])).toMatchObject({ type: null });
    });

    it("are nothing if they are empty", () => {
      expect(select(template("x"), [{ type: "any", indicators: { template_patterns: [""] } }]).type).toBeNull();
    });

    it("of jinja2 count: {{ is its own where there is no template_fill", () => {
      const alone: Generator[] = [
        { type: "jinja2", indicators: { template_patterns: ["{{", "{%"], confidence: "high" } },
      ];
      expect(select(template("{{ a }}"), alone)).toMatchObject({
        ...{
          type: "jinja2",
          rule: "template-syntax",
          confidence: "high",
          reason: "the template has {{",
          candidates: [],
        },
      });
      expect(select(template("{{ a }}"), [{ type: "jinja2" }])).toMatchObject({
        ...{ rule: "template-syntax", confidence: "medium" },
      });
      const blocks: Generator[] = [{ type: "jinja2", indicators: { template_patterns: ["{%", "{#"] } }];
      expect(select(template("{{ a }}"), blocks)).toMatchObject({ rule: "fallback" });
      expect(select(template("{# a #}"), blocks)).toMatchObject({ rule: "template-syntax" });
    });

    it("of template_fill count beside its own", () => {
      const fill: Generator[] = [
        { type: "template_fill", indicators: { template_patterns: ["$("] } },
        ...builtin.slice(0, 1),
      ];
      expect(select(template("$(a)"), fill)).toMatchObject({ type: "template_fill", rule: "template-syntax" });
      expect(select(template("$(a) {% b %}"), fill)).toMatchObject({ type: "jinja2" });
    });
  });

  describe("a deprecated generator", () => {
    const old = (type: string) =>
      builtin.map((generator) =>
        generator.type === type ? { ...generator, status: "deprecated" as const } : generator,
      );

    it("stands behind the others that match", () => {
      const { candidates, ...best } = select(template("{{ a }}"), old("template_fill"));
      expect(best).toMatchObject({ type: "jinja2", rule: "template-syntax", confidence: "high", notes: [] });
      expect(candidates).toMatchObject([{ type: "template_fill", deprecated: true }]);
      const config = { ...template("{% a %}"), elements: [{ example_output: "b" }] };
      expect(select(config, old("jinja2"))).toMatchObject({ type: "demonstration", rule: "structure", notes: [] });
    });

    it.each([
      ["it is the only match", { elements: [{ example_output: "b" }] }, "demonstration", "structure"],
      [
        "the config names it",
        { generation: { patterns: [{ type: "demonstration" }] } },
        "demonstration",
        "explicit-type",
      ],
      ["it is the fallback", {}, "jinja2", "fallback"],
    ])("is chosen where %s, and the answer says so", (_, config, type, rule) => {
      expect(select(config, old(type))).toMatchObject({
        type,
        rule,
        deprecated: true,
        notes: [`${type} is deprecated`],
      });
    });
  });

  it("does not depend on the order of registration", () => {
    const config = { ...template("{{ a }}"), elements: [{ example_output: "b" }] };
    expect(select(config, [...builtin].reverse())).toEqual(select(config));
  });
});
