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
    expect(candidates.map((candidate) => [candidate.type, candidate.rule])).toEqual([
      ["demonstration", "structure"],
      ["jinja2", "fallback"],
    ]);
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

  it("does not depend on the order of registration", () => {
    const config = { ...template("{{ a }}"), elements: [{ example_output: "b" }] };
    expect(select(config, [...builtin].reverse())).toEqual(select(config));
  });
});
