import { describe, expect, it } from "vitest";
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
