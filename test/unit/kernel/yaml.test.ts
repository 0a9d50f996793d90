import { describe, expect, it } from "vitest";
import { Document, isMap, Parser } from "yaml";
import { runAtOnce } from "../../../src/kernel/pace/pace.ts";
import { composeSteps } from "../../../src/kernel/yaml/compose.ts";
import { parseYaml } from "../../../src/kernel/yaml.ts";

const parse = (text: string) => parseYaml(new TextEncoder().encode(text), { maxDepth: 64, maxBytes: 1_000_000 });
const value = (text: string) => {
  const parsed = parse(text);
  return parsed.ok ? parsed.value.value : parsed.error;
};

/** Nine levels of ten: a billion strings if aliases were followed. */
const laughs = Array.from({ length: 9 }, (_, level) =>
  level === 0
    ? 'a0: &a0 ["lol"]'
    : `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(",")}]`,
).join("\n");

describe("YAML", () => {
  it("reads as JSON data, by the 1.2 core schema", () => {
    const text = "name: calc\non: yes\nzero: 010\nnothing: ~\nlist: [1, 2.5, true]\ndate: 2026-01-01\n";
    expect(value(text)).toEqual({
      name: "calc",
      on: "yes",
      zero: 10,
      nothing: null,
      list: [1, 2.5, true],
      date: "2026-01-01",
    });
  });

  it("follows a few aliases", () => {
    expect(value("a: &x {k: 1}\nb: *x\n")).toEqual({ a: { k: 1 }, b: { k: 1 } });
  });

  it.each([
    ["nothing", "", /empty/],
    ["two documents", "a: 1\n---\nb: 2\n", /more than one document/],
    ["a duplicate key", "a: 1\na: 2\n", /unique/i],
    ["an unclosed bracket", "a: [1, 2\n", /./],
    ["a tab for indentation", "a:\n\tb: 1\n", /tab/i],
    ["a tag that would make code", "a: !!js/function 'function () {}'\n", /tag/i],
    ["infinity", "a: .inf\n", /finite/],
    ["not a number", "a: .nan\n", /finite/],
    ["an alias bomb", laughs, /alias/i],
    ["an unknown alias", "a: *nope\n", /alias/i],
    ["nesting beyond the limit", `${"[".repeat(65)}${"]".repeat(65)}`, /64/],
    ["nesting beyond the stack", "[".repeat(200_000), /./],
  ])("refuses %s", (_, text, message) => {
    const parsed = parse(text);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.error.message).toMatch(message);
  });

  it("reads large documents as small ones, wherever they are divided", () => {
    const row = (index: number) => ({
      name: `row ${index}`,
      text: "x".repeat(index % 300),
      list: Array.from({ length: index % 40 }, (_, at) => [at, null, { even: at % 2 === 0 }]),
      nested: { deeper: { deepest: [`${index}`, true, 1.5] } },
    });
    const data = { first: 1, rows: Array.from({ length: 200 }, (_, index) => row(index)), last: { at: "the end" } };
    for (const flow of [false, true]) {
      const document = new Document(data, { aliasDuplicateObjects: false });
      if (flow && isMap(document.contents)) document.contents.flow = true;
      const text = document.toString({ lineWidth: 0 });
      expect(text.length).toBeGreaterThan(100_000);
      expect(value(text)).toEqual(data);
      expect(value(`%YAML 1.2\n---\n${text}# behind it\n`)).toEqual(data);
    }
  });

  const filling = Array.from({ length: 2_000 }, (_, index) => `  - [${index}, {a: b}]\n`).join("");
  const large = (line: string) => `a: &a 1\nx:\n${filling}${line}\n${filling}z: 1\n`;
  it.each([
    ["a comma that is missing", "  - [1, 'a' 'b']", /Missing ,/],
    ["a comma too many", "  - [1,, 2]", /Unexpected/],
    ["another indentation", "   - 1", /indent|column|mapping/i],
    ["a tag that would make code", "  - !!js/function x", /tag/i],
    ["a duplicate key", "  - {k: 1, k: 2}", /"k" is not unique/],
    ["a key that is no scalar", "  - {[k]: 2}", /plain value/],
  ])("finds in the middle of a large document %s", (_, line, message) => {
    expect(value(large("  - *a"))).toMatchObject({ z: 1 });
    expect(value(large(line))).toMatchObject({ message: expect.stringMatching(message), line: 2_003 });
  });

  it.each([
    ["items", (count: number) => `[${"1, ".repeat(count)}, 2]`, /Unexpected/],
    ["keys", (count: number) => `${Array.from({ length: count }, (_, at) => `k${at}: 1\n`).join("")}k0: 2\n`, /"k0"/],
    ["levels", (count: number) => "- ".repeat(count), /nested too deeply/],
  ])("finds a fault among many %s", (_, text, message) => {
    expect(value(text(20_000))).toMatchObject({ message: expect.stringMatching(message) });
  });

  it.each([
    ["commas", `[a${",".repeat(9_999)}]`],
    ["values without a comma", `[${'"" '.repeat(9_999)}]`],
    ["anchors of an item", `- ${"&a ".repeat(9_999)}x`],
    ["anchors of a value", `k: ${"&a ".repeat(9_999)}x`],
    ["tags of the document", `${"!a ".repeat(9_999)}x`],
    ["values behind the document", "'a' ".repeat(9_999)],
    ["brackets", "]".repeat(9_999)],
  ])("stops at a mistake that is repeated: %s", (_, text) => {
    const composed = runAtOnce(composeSteps([...new Parser().parse(text)], text.length, {}));
    expect(composed.problems.length).toBeGreaterThan(0);
    expect(composed.problems.length).toBeLessThan(20);
    expect(value(text)).toMatchObject({ message: expect.any(String), line: 1 });
  });

  it("says where", () => {
    expect(value("a: 1\nb: [\n")).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
  });

  it("reports a forbidden key as JSON would", () => {
    const parsed = parse('"__proto__": {x: 1}\n');
    expect(parsed.ok && parsed.value.issues).toMatchObject([{ rule: "forbidden-key" }]);
  });

  it("refuses broken UTF-8", () => {
    const parsed = parseYaml(new Uint8Array([0x61, 0x3a, 0x20, 0xff]), { maxDepth: 64, maxBytes: 1_000_000 });
    expect(parsed.ok).toBe(false);
  });
});
