import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { characterIssue, characterIssues, misplacedJoiner, pathSegment } from "../../../src/kernel/characters.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";

const char = (codePoint: number) => String.fromCodePoint(codePoint);
const hex = (codePoint: number) => `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
}

describe("refused wherever they stand", () => {
  const refused = {
    "C0 controls but tab and newline": [...range(0x00, 0x08), ...range(0x0b, 0x1f)],
    "DEL and C1 controls": range(0x7f, 0x9f),
    "bidi controls": [0x061c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
    "zero width": [0x200b, 0xfeff],
    "soft hyphen": [0x00ad],
    "word joiner and invisible operators": range(0x2060, 0x2064),
    "deprecated formats": range(0x206a, 0x206f),
    "grapheme joiner": [0x034f],
    "Mongolian selectors": range(0x180b, 0x180f),
    "Hangul fillers": [0x115f, 0x1160, 0x3164, 0xffa0],
    "Khmer inherent vowels": [0x17b4, 0x17b5],
    "line and paragraph separators": [0x2028, 0x2029],
    "blank braille": [0x2800],
    tags: range(0xe0000, 0xe007f),
    "variation selectors but FE0F": [...range(0xfe00, 0xfe0e), ...range(0xe0100, 0xe01ef)],
    "annotation, shorthand and music formats": [0xfff9, 0xfffa, 0xfffb, 0x1bca0, 0x1d173],
    surrogates: [0xd800, 0xdbff, 0xdc00, 0xdfff],
    "private use": [0xe000, 0xf8ff, 0xf0000, 0x10fffd],
    noncharacters: [0xfdd0, 0xfffe, 0xffff, 0x1fffe, 0x10ffff],
    unassigned: [0x0378, 0x2fe0, 0xe01f0],
  };

  test.each(Object.entries(refused))("%s", (_, codePoints) => {
    for (const codePoint of codePoints) {
      // Among letters that may be joined and behind an emoji, the two places where invisible characters are welcome.
      for (const [before, after] of [
        ["ab", "c"],
        ["ن", "ن"],
        ["😀", "😀"],
      ] as const) {
        const found = characterIssue(before + char(codePoint) + after);
        expect(found).toEqual({ index: before.length, codePoint, name: hex(codePoint) });
      }
    }
  });

  test("the first one is named", () => {
    expect(characterIssue("a\u200bb\u0000")).toMatchObject({ index: 1, name: "U+200B" });
    expect(characterIssue("😀\u{e0041}")).toMatchObject({ index: 2, name: "U+E0041" });
  });
});

describe("accepted", () => {
  test.each([
    ["ASCII with tab and newline", "Adds two numbers.\n\t- a\n\t- b ~"],
    ["accents, composed or not", "café cafe\u0301 naïve Ångström"],
    ["CJK, kana, Hangul", "检索文档 ドキュメント 문서 검색 ｆｕｌｌ"],
    ["Arabic and Hebrew", "يجمع رقمين. מחבר שני מספרים."],
    ["Arabic with vowel signs", "مُحَمَّد"],
    ["Arabic number signs", "\u0600١٢ \u06dd٣"],
    ["Persian with ZWNJ", "می\u200cخواهم فایل\u200cها را ببینم"],
    ["Hindi with ZWNJ and ZWJ", "क्\u200cष क्\u200dष"],
    ["Bengali with ZWJ before the virama", "র\u200d্যাব"],
    ["Kannada with ZWNJ at the end of a word", "ಫೈಲ್\u200c ತೆರೆಯಿರಿ"],
    ["emoji with presentation selector", "✅ ❤\ufe0f ℹ\ufe0f 1\ufe0f\u20e3"],
    ["emoji newer than the runtime", "\u{1faea} \u{1faff}"],
    ["flags and skin tones", "🇫🇷 👍🏽"],
    ["punctuation and symbols", "“quotes” – dash… → € ™ ∑ \u00a0 \u3000"],
  ])("%s", (_, text) => {
    expect(characterIssue(text)).toBeUndefined();
  });
});

describe("zero-width non-joiner", () => {
  test.each([
    ["between Latin letters", "ad\u200cd", 2],
    ["at the start", "\u200cخواهم", 0],
    ["at the end", "می\u200c", 2],
    ["next to a space", "می\u200c خواهم", 2],
    ["twice in a row", "می\u200c\u200cخواهم", 2],
    ["between emoji", "😀\u200c😀", 2],
    ["between a letter that uses it and one that does not", "می\u200ca", 2],
    ["after a Latin letter with a mark", "a\u0307\u200cم", 2],
  ])("%s is refused", (_, text, index) => {
    expect(characterIssue(text)).toMatchObject({ index, name: "U+200C" });
  });
});

describe("zero-width joiner", () => {
  test.each([
    ["a family", "👨\u200d👩\u200d👧"],
    ["behind a presentation selector", "🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥"],
    ["behind a skin tone", "👩🏽\u200d🚀 🧑🏻\u200d❤\ufe0f\u200d🧑🏿"],
    ["before a sign", "🤷\u200d♀\ufe0f 🏃\u200d➡\ufe0f"],
    ["Devanagari", "क्\u200dष"],
    ["Malayalam, at the end of a word", "അവന്\u200d വന്നു"],
    ["Arabic", "ه\u200dه"],
  ])("%s is in its place", (_, text) => {
    expect(misplacedJoiner(text)).toBeUndefined();
  });

  test.each([
    ["between words", "two\u200dnumbers", 3],
    ["at the start", "\u200d👩", 0],
    ["at the end", "👨\u200d", 2],
    ["twice in a row", "👨\u200d\u200d👩", 2],
    ["between an emoji and a letter", "👨\u200da", 2],
    ["between a letter and an emoji", "a\u200d👨", 1],
    ["behind a run of selectors", "👨\ufe0f\ufe0f\ufe0f\u200d👩", 5],
    ["after a good one", "👨\u200d👩 a\u200db", 7],
  ])("%s is flagged, not refused", (_, text, index) => {
    expect(misplacedJoiner(text)).toEqual({ index, codePoint: 0x200d });
    expect(characterIssue(text)).toBeUndefined();
  });
});

test("the place of the first bad character is found behind any good text", () => {
  const good = fc.string({ unit: fc.constantFrom("a", "é", "我", "😀", "ن", "\n", "\ufe0f") });
  fc.assert(
    fc.property(good, fc.constantFrom("\u200b", "\u202e", "\u{e0041}", "\0"), good, (before, bad, after) => {
      expect(characterIssue(before + after)).toBeUndefined();
      expect(characterIssue(before + bad + after)?.index).toBe(before.length);
    }),
  );
});

test("the place of a misplaced joiner is right, and any text can be judged", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("\u200c", "\u200d", "\ud83d", "\ude00", "\ufe0f", "🏽", "ن", "a") }),
      (text) => {
        const joiner = misplacedJoiner(text);
        if (joiner !== undefined) expect(text.codePointAt(joiner.index)).toBe(joiner.codePoint);
        const issue = characterIssue(text);
        if (issue !== undefined) expect(text.codePointAt(issue.index)).toBe(issue.codePoint);
      },
    ),
  );
});

test("time is linear in the text", { timeout: 60_000 }, () => {
  for (const unit of ["\u200d", "👨\u200d", "ن\u200c", "\ufe0f\u200d", "🏽", "é"]) {
    const text = unit.repeat(200_000);
    const start = performance.now();
    characterIssue(text);
    misplacedJoiner(text);
    expect(performance.now() - start).toBeLessThan(2_000);
  }
});

test("a path segment is short and well-formed", () => {
  expect(pathSegment("name")).toBe("name");
  expect(pathSegment("k".repeat(1_000))).toHaveLength(128);
  expect(pathSegment("\ud800")).toBe("\ufffd");
});

describe("characterIssues", () => {
  test("finds strings and keys at any depth, in document order", () => {
    const value = { "a/b": ["ok", { "k\u200b": 1, text: "x\u202ey" }], "z\0": "\u{e0041}" };
    expect(characterIssues(value, "/tools/3")).toEqual([
      expect.objectContaining({ path: "/tools/3/a~1b/1/k\u200b", rule: "invisible-character" }),
      expect.objectContaining({ path: "/tools/3/a~1b/1/text" }),
      expect.objectContaining({ path: "/tools/3/z\0" }),
      expect.objectContaining({ path: "/tools/3/z\0" }),
    ]);
  });

  test("names the code point and whether it is in the key or the text", () => {
    const [key, text] = characterIssues({ "k\u200b": "x\u202ey" }, "");
    expect(key?.message).toMatch(/U\+200B at position 1 of the key/);
    expect(text?.message).toMatch(/U\+202E at position 1 of the text/);
  });

  test.each([null, 1, true, "text", [], {}, { a: [1, null, { b: "é" }] }])("%j is fine", (value) => {
    expect(characterIssues(value, "")).toEqual([]);
  });

  test("a bare string is at the path itself", () => {
    expect(characterIssues("\0", "/name").map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      "invisible-character /name",
    ]);
  });

  test("stops at 100, with bounded paths", () => {
    const issues = characterIssues({ ["k".repeat(100_000)]: Array.from({ length: 500 }, () => "\0") }, "");
    expect(issues).toHaveLength(100);
    expect(Math.max(...issues.map(({ path }) => path.length))).toBeLessThan(200);
  });
});

describeFixture("naughty strings", "security/json/blns.json", (location) => {
  const strings = readJson(location) as string[];

  test("each is judged without a throw, and what is accepted holds nothing invisible", () => {
    expect(strings.length).toBeGreaterThan(400);
    const accepted = strings.filter((text) => characterIssue(text) === undefined);
    for (const text of strings) misplacedJoiner(text);
    expect(accepted.length).toBeGreaterThan(strings.length * 0.9);
    expect(accepted.filter((text) => /[\0\u200b\u202e\ufeff\u2028]/.test(text))).toEqual([]);
  });
});
