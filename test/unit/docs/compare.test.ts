import { describe, expect, it } from "vitest";
import { shellBlocks, withAnswers } from "../../e2e/docs/blocks.ts";
import { compare } from "../../e2e/docs/compare.ts";

const digest = (letter: string) => `sha256-${letter.repeat(64)}`;

describe("what a page shows", () => {
  it.each([
    ["the same", '{"a": 1}', '{"a":1}', true],
    ["another value", '{"a": 1}', '{"a":2}', false],
    ["a member too few", '{"a": 1}', '{"a":1,"b":2}', false],
    ["a member too many", '{"a": 1, "b": 2}', '{"a":1}', false],
    ["members left out", '{"a": 1, "…": "…"}', '{"a":1,"b":2}', true],
    ["members left out that there are not", '{"a": 1, "…": "…"}', '{"a":1}', false],
    ["items left out", '{"a": [1, "…"]}', '{"a":[1,2,3]}', true],
    ["items left out that there are not", '{"a": [1, "…"]}', '{"a":[1]}', false],
    ["another first item", '{"a": [1, "…"]}', '{"a":[2,3]}', false],
    ["any value", '{"a": "…"}', '{"a":{"b":1}}', true],
    ["part of a text", '{"a": "Lists …"}', '{"a":"Lists notes."}', true],
    ["another text", '{"a": "Reads …"}', '{"a":"Lists notes."}', false],
    ["another digest", `{"a": "${digest("a")}"}`, `{"a":"${digest("b")}"}`, true],
    ["another time", '{"a": "2026-11-16T13:02:50.456Z"}', '{"a":"2027-01-01T00:00:00.000Z"}', true],
    ["another generation", '{"generation": 4}', '{"generation":17}', true],
    ["another cost", '{"tokens": 4}', '{"tokens":17}', false],
    ["no JSON", '{"a": 1}', "curl: (7) Failed to connect", false],
  ])("JSON: %s", (_, shown, printed, isSame) => {
    expect(compare("json", shown, printed).isSame).toBe(isSame);
  });

  it.each([
    ["the same", "a: 1\nb: 2", "a: 1\r\nb: 2\n", true],
    ["another line", "a: 1", "a: 2", false],
    ["lines left out", "a: 1\n…\nd: 4", "a: 1\nb: 2\nc: 3\nd: 4", true],
    ["the rest left out", "a: 1\n…", "a: 1\nb: 2", true],
  ])("text: %s", (_, shown, printed, isSame) => {
    expect(compare("text", shown, printed).isSame).toBe(isSame);
  });

  it("is rewritten in its own shape", () => {
    const { text } = compare("json", '{"a": 0, "b": {"…": "…"}, "…": "…"}', '{"a":1,"b":{"c":2},"d":3}');
    expect(JSON.parse(text)).toEqual({ a: 1, b: { "…": "…" }, "…": "…" });
  });
});

describe("a page", () => {
  const page = "Say:\n\n```sh\necho 1\n```\n\n```json\n0\n```\n\n```sh norun\nnpm ci\n```\n\nThen\n\n```json\n2\n```\n";

  it("has answers right behind commands alone", () => {
    const blocks = shellBlocks("p.md", page);
    expect(blocks.map(({ line, isRun, shown }) => [line, isRun, shown?.text])).toEqual([
      [3, true, "0"],
      [11, false, undefined],
    ]);
  });

  it("keeps everything but the answer", () => {
    const [{ shown } = { shown: undefined }] = shellBlocks("p.md", page);
    expect(withAnswers(page, [{ from: shown?.from ?? 0, to: shown?.to ?? 0, text: "1" }])).toBe(
      page.replace("\n0\n", "\n1\n"),
    );
  });
});
