import { countTokens } from "gpt-tokenizer/encoding/cl100k_base";
import { describe, expect, it } from "vitest";
import { boundedPieces, loadTokenizer } from "../../../src/manifest/tokens.ts";

describe("token counts", () => {
  it.each([
    ["plain text", "List issues in a repository, newest first."],
    ["a schema", JSON.stringify({ type: "object", properties: { owner: { type: "string" } }, required: ["owner"] })],
    ["other scripts", "天気を調べる اختبار 🙂"],
    ["nothing", ""],
  ])("are the tokenizer's own for %s", async (_, text) => {
    const count = await loadTokenizer();
    expect(count(text)).toBe(countTokens(text));
  });

  it("take text that looks like a special token as text", async () => {
    const count = await loadTokenizer();
    expect(count("<|endoftext|>")).toBeGreaterThan(1);
  });

  it("cut only runs that no one writes by hand, and lose nothing", () => {
    const ordinary = `{"a":"${"word ".repeat(500)}"}`;
    expect(boundedPieces(ordinary)).toEqual([ordinary]);
    for (const run of ["a", "!", " ", "漢", "🙂"]) {
      const text = `before ${run.repeat(5_000)} after`;
      const pieces = boundedPieces(text);
      expect(pieces.join("")).toBe(text);
      expect(Math.max(...pieces.map((piece) => Array.from(piece).length))).toBeLessThanOrEqual(256);
    }
  });
});
