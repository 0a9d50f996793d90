import { describe, expect, it } from "vitest";
import { clipped, table, width } from "../../../packages/rollcall/src/cli/terminal/layout.ts";
import { printable, printableJson, printableLines } from "../../../packages/rollcall/src/cli/terminal/printable.ts";
import { leafDifferences, wordDifference } from "../../../src/manifest/text-difference.ts";

describe("printable text", () => {
  it.each([
    ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
    ["\u009b2J", "\\u009b2J"],
    ["a\u202eb\u200bc", "a\\u202eb\\u200bc"],
    ["\u{e0041}", "\\u{e0041}"],
    ["two\r\n  lines\tand", "two lines and"],
    ["::error::x", "\\u003a:error::x"],
    ["see ##[error]x and ##vso[task]", "see \\u0023#[error]x and \\u0023#vso[task]"],
    ["\ud800", "\\ud800"],
    ["a::b, Größe 東京 👩‍🚀", "a::b, Größe 東京 👩‍🚀"],
  ])("of %j is %j", (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it("keeps lines, and lets none of them be a workflow command", () => {
    expect(printableLines("a\r\n  ::add-mask::b\n\u001b[2J")).toBe("a\n  \\u003a:add-mask::b\n\\u001b[2J");
  });

  it("as JSON is the same when parsed", () => {
    const value = { "\u202e": ["\u001b[2J", "##[error]", "\u{e0041}", "::x"], "##[": 1 };
    const text = printableJson(value, 2);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]|##\[/u);
  });
});

describe("columns", () => {
  it("count what a terminal shows", () => {
    expect(["abc", "東京", "👩‍🚀", "\u001b[31mred\u001b[39m", "é"].map(width)).toEqual([3, 4, 2, 3, 1]);
    expect(clipped("東京タワー", 5)).toBe("東京…");
    expect(
      table(
        [
          ["a", "1", "x"],
          ["bcd", "22", "y"],
        ],
        { right: [1] },
      ),
    ).toEqual(["a     1  x", "bcd  22  y"]);
  });
});

describe("the difference of texts", () => {
  it("is by words", () => {
    expect(wordDifference("Echoes the input.", "Echoes the whole input!")).toEqual([
      { kind: "same", text: "Echoes the " },
      { kind: "new", text: "whole " },
      { kind: "same", text: "input" },
      { kind: "gone", text: "." },
      { kind: "new", text: "!" },
    ]);
  });

  it("of documents is by leaves", () => {
    const before = { a: { b: 1, c: [1, 2] }, "x/y": "old", same: true };
    const after = { a: { b: 2, c: [1] }, "x/y": "new", same: true, more: null };
    expect(leafDifferences({ list: [1] }, {})).toEqual([{ path: "/list", before: [1], after: undefined }]);
    expect(leafDifferences({}, { list: [1] })).toEqual([{ path: "/list", before: undefined, after: [1] }]);
    expect(leafDifferences(before, after)).toEqual([
      { path: "/a/b", before: 1, after: 2 },
      { path: "/a/c", before: [1, 2], after: [1] },
      { path: "/x~1y", before: "old", after: "new" },
      { path: "/more", before: undefined, after: null },
    ]);
  });
});
