import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRtfs } from "../../../src/formats/rtfs/index.ts";
import { readForms } from "../../../src/formats/rtfs/read-forms.ts";

const forms = (text: string) => {
  const read = readForms(text);
  if (!read.ok) throw new Error(`${read.error.message} at ${read.error.offset}`);
  return read.value;
};
const form = (text: string) => forms(text)[0];
const fault = (text: string) => {
  const read = readRtfs(text);
  return read.ok ? undefined : read.error;
};

describe("RTFS forms", () => {
  it.each([
    ["a string", '"a\\n\\"b\\" \\u00e9\\\\"', { kind: "string", value: 'a\n"b" é\\' }],
    ["a string over two lines", '"a\nb"', { kind: "string", value: "a\nb" }],
    ["a keyword", ":a", { kind: "keyword", name: "a" }],
    ["a dotted keyword", ":network.http", { kind: "keyword", name: "network.http" }],
    ["a qualified keyword", ":a/b", { kind: "keyword", name: "a/b" }],
    ["an optional keyword", ":string?", { kind: "keyword", name: "string?" }],
    ["a symbol", "get-in", { kind: "symbol", name: "get-in" }],
    ["a word that only starts like a number", "5-day", { kind: "symbol", name: "5-day" }],
    ["a whole number", "-42", { kind: "number", value: -42 }],
    ["a decimal number", "2.5e-3", { kind: "number", value: 0.0025 }],
    ["true", "true", { kind: "boolean", value: true }],
    ["false", "false", { kind: "boolean", value: false }],
    ["nil", "nil", { kind: "nil" }],
  ])("reads %s", (_, text, expected) => {
    expect(form(text)).toEqual({ ...expected, start: 0, end: text.length });
  });

  it("reads lists, vectors, sets and maps, with commas as blanks", () => {
    expect(form("(f [1, 2] #{:a} {:k 1, :l nil})")).toMatchObject({
      kind: "list",
      items: [
        { kind: "symbol", name: "f" },
        { kind: "vector", items: [{ value: 1 }, { value: 2 }] },
        { kind: "set", items: [{ name: "a" }] },
        {
          kind: "map",
          entries: [
            [{ name: "k" }, { value: 1 }],
            [{ name: "l" }, { kind: "nil" }],
          ],
        },
      ],
    });
  });

  it("knows where each form stands", () => {
    const text = '  (a "b"\n [:c])';
    const [list] = forms(text);
    expect(text.slice(list?.start, list?.end)).toBe('(a "b"\n [:c])');
    const items = list?.kind === "list" ? list.items : [];
    expect(items.map(({ start, end }) => text.slice(start, end))).toEqual(["a", '"b"', "[:c]"]);
  });

  it("keeps a comment with the form it stands after on a line, or before", () => {
    const [first, second, third] = forms(";; one\n; two\n:a ;; three\n:b\n;; four\n[:c ; five\n] ;;six");
    expect(first).toMatchObject({ lead: ["one", "two"], note: "three" });
    expect(second).not.toHaveProperty("note");
    expect(third).toMatchObject({ lead: ["four"], note: "six", items: [{ note: "five" }] });
    expect(forms("(a\n;; of nothing\n) b")[1]).not.toHaveProperty("lead");
    expect(forms(":a ;; one\r\n:b")).toMatchObject([{ note: "one" }, { name: "b" }]);
  });
});

describe("a text that is not RTFS", () => {
  it.each([
    ["a list that is cut off", '(capability "a"\n  :name "b"', 1, 1, /list .* never closed/],
    ["a map that is cut off", '(capability "a"\n  :metadata {:mcp 1', 2, 13, /map .* never closed/],
    ["a string that is cut off", '(capability "a"\n  :name "b)', 2, 9, /string .* never closed/],
    ["a string that ends in a backslash", '(capability "a\\', 1, 13, /string .* never closed/],
    ["a bracket too many", '(capability "a")\n )', 2, 2, /unmatched "\)"/],
    ["the wrong bracket", '(capability "a"\n  :effects [:x)', 2, 15, /expected \] to close a vector, found \)/],
    ["a map with a key alone", '(capability "a"\n  :metadata {:x 1\n :y})', 3, 2, /odd number of forms: :y/],
    ["a key twice in a map", '(capability "a" :metadata {:x 1\n  :x 2})', 2, 3, /:x is given twice/],
    ["a key twice in a capability", '(capability "a"\n :name "b"\n :name "c")', 3, 2, /name is given twice/],
    ["one key in two spellings", '(capability "a" :input-schema :any\n:input_schema :any)', 2, 1, /given twice/],
    ["an id as a field", '(capability "a"\n :id "b")', 2, 2, /id is given twice/],
    ["an escape that is none", '(capability "a"\n :name "b\\d")', 2, 10, /invalid escape/],
    ["a short unicode escape", '"\\u12"', 1, 2, /invalid escape/],
    ["a key without a value", '(capability "a"\n :name)', 2, 2, /:name has no value/],
    [
      "something else than a key",
      '(capability "a"\n :version 1 two)',
      2,
      13,
      /expected a key such as :name, found two/,
    ],
    ["no id", "(do\n (capability))", 2, 2, /starts with its id/],
    ["an id that is no string", "(capability a)", 1, 13, /starts with its id/],
    ["quotes that cannot be mended", '(capability "a"\n :name "b" c :version "1")', 2, 12, /not escaped/],
  ])("has a fault with its place: %s", (_, text, line, column, message) => {
    expect(fault(text)).toEqual({ line, column, message: expect.stringMatching(message) });
  });

  it("names a position wherever it is cut off", () => {
    const text = `;; head\n(do\n  (capability "mcp.s.t" :name "t\\n" ;; note\n    :metadata {:mcp {:k [1 2]}}\n    :input-schema {:q :string ;; optional\n    }\n    :implementation (fn [x] {:y x})))`;
    expect(readRtfs(text)).toMatchObject({ ok: true, value: { capabilities: [{ id: "mcp.s.t" }], warnings: [] } });
    const opens = text.indexOf("(do");
    for (let end = 0; end < text.length; end += 1) {
      const read = readRtfs(text.slice(0, end));
      const position = { line: expect.any(Number), column: expect.any(Number) };
      expect(read.ok, `cut at ${end}`).toBe(end <= opens);
      expect(read.ok ? read.value.warnings[0] : read.error, `cut at ${end}`).toMatchObject(position);
    }
  });

  it("never throws, whatever it is", () => {
    const pieces = [
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      '"',
      "\\",
      ";",
      "\n",
      " ",
      ":a",
      "?",
      "nil",
      "#{",
      "1",
      "capability",
      "é",
    ];
    const soup = fc
      .array(fc.constantFrom(...pieces, '(capability "a" ', ":metadata ", ":mcp_metadata {"))
      .map((p) => p.join(""));
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: "binary" })), (text) => {
        const read = readRtfs(text);
        if (read.ok) return;
        expect(read.error.line).toBeGreaterThan(0);
        expect(read.error.column).toBeGreaterThan(0);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a large text", () => {
  it("may not nest without end", () => {
    expect(fault("[".repeat(100_000))).toEqual({ line: 1, column: 513, message: "nested deeper than 512 levels" });
    expect(fault(`${"(".repeat(100_000)}${")".repeat(100_000)}`)).toMatchObject({ column: 513 });
    expect(fault(`${"(".repeat(512)}${")".repeat(512)}`)).toBeUndefined();
  });

  const field = (index: number) => `:k${index} [:vector :string] ;; optional\n`;
  const many = (length: number, piece: (index: number) => string) =>
    Array.from({ length }, (_, at) => piece(at)).join("");
  it.each([
    ["many fields", `(capability "a" :input-schema {${many(30_000, field)}})`],
    ["many capabilities", many(20_000, (index) => `(capability "a.b${index}" :description "something to say")\n`)],
    ["one string", `(capability "a" :description "${"\\n".repeat(500_000)}")`],
    ["many warnings", `(capability "a" :input-schema {${many(60_000, (index) => `:k${index} :what `)}})`],
    ["many flat fields", `(capability "a" ${many(60_000, (index) => `:mcp_k${index} 1 `)})`],
    ["many providers", `(capability "a" ${many(40_000, (index) => `:p${index}_metadata {:a 1} `)})`],
    ["many broken strings", `(capability "a" ${many(60_000, () => ':k "a"b"c" ')})`],
    ["strings without gaps", `(capability "a" :k ${'"a""b" '.repeat(120_000)} c)`],
    ["one key of underscores", `(capability "a" :a${"_".repeat(1_000_000)} 1)`],
    ["words", "word ".repeat(200_000)],
    ["maps as keys", `${"{".repeat(500)}${":a 1 ".repeat(1)}${"} 1 ".repeat(500)}${" 1".repeat(400_000)}`],
  ])("is read in time: %s", (_, text) => {
    expect(text.length).toBeGreaterThan(500_000);
    expect(() => readRtfs(text)).not.toThrow();
  });

  it("is not answered with as many warnings as it has words", () => {
    const read = readRtfs("word ".repeat(1_000));
    expect(read.ok && read.value.warnings).toHaveLength(101);
    expect(read.ok && read.value.warnings.at(-1)).toEqual({
      line: 1,
      column: 501,
      message: "and 901 more from here on",
    });
  });
});
