import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson } from "../../../src/kernel/read-json.ts";
import { parseStrictJson } from "../../../src/kernel/strict-json.ts";

const encoder = new TextEncoder();

/** Both readers of text: of storage, and of what comes from outside. */
const readers = {
  readJson,
  parseStrictJson: (text: string) => {
    const read = parseStrictJson(encoder.encode(text), { maxDepth: 64 });
    return read.ok ? read.value.value : read.error;
  },
};

/** A key that was read before, and the raw text of a later key that JSON.parse takes for it. */
const misread: [earlier: string, raw: string, meant: string][] = [
  ["\\", String.raw`\"`, '"'],
  ["\\", String.raw`\n`, "\n"],
  ["\\", String.raw`\u0041`, "A"],
  ["x\\", String.raw`x\"`, 'x"'],
  ['x\\"', String.raw`x\"y`, 'x"y'],
  ["\\\\", String.raw`\\b`, "\\b"],
];

describe.each(Object.entries(readers))("%s", (reader, read) => {
  it.each(misread)("reads keys as written after an object with the key %j", (earlier, raw, meant) => {
    // Equal first keys are what makes the objects share a shape; one of its own for each case.
    const first = `${reader} ${earlier} ${meant}`;
    read(JSON.stringify({ [first]: 1, [earlier]: 2 }));
    JSON.parse(JSON.stringify({ [first]: 1, [earlier]: 2 }));
    const value = read(`{${JSON.stringify(first)}:1,"${raw}":3}`);
    expect(Object.keys(value as object)).toEqual([first, meant]);
  });

  it("reads what JSON.stringify wrote, with any keys", () => {
    const odd = fc.string({ unit: fc.constantFrom("\\", '"', "a", "\n", "/", ":", "é", "{", "[", ",") });
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.dictionary(odd, tie("any")), fc.array(tie("any")), odd),
    })).any;
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, "\t"), (given, space) => {
        const text = JSON.stringify(given, undefined, space);
        if (text.includes('"__proto__"')) return;
        // The keys are compared in order too.
        expect(JSON.stringify(read(text))).toBe(JSON.stringify(given));
      }),
    );
  });
});

describe("readJson", () => {
  it("makes __proto__ a member, beside escaped keys too", () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"\\n":1,"__proto__":{"a":1}}']) {
      expect(JSON.stringify(readJson(text))).toBe(text);
    }
  });

  it("keeps the last of duplicate keys, as JSON.parse does", () => {
    expect(readJson('{"\\n":1,"a":2,"\\n":3}')).toEqual({ "\n": 3, a: 2 });
  });

  it("reads any depth", () => {
    const depth = 100_000;
    let value = readJson(`${'{"\\n":'.repeat(depth)}1${"}".repeat(depth)}`);
    for (let level = 0; level < depth; level += 1) value = (value as { "\n": unknown })["\n"];
    expect(value).toBe(1);
  });

  it.each(["", "{", '{"\\n":}', '{"\\n":1,}', '"\\', '{"a\\":1}', "\\", '{"a":1}\\"'])("refuses %j", (text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  });
});

describe("the source", () => {
  it("reads JSON through this reader alone", () => {
    const source = join(import.meta.dirname, "../../../src");
    const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
      // What runs in browsers has their parser, and reads nothing of another tenant in one place.
      (file) => /\.tsx?$/.test(file) && !file.startsWith("console/browser/"),
    );
    // A platform method that parses: Body.json(), and KV with its own type.
    const parses = /\bJSON\s*\.\s*parse\b|\.json\s*(?:<[^>]*>)?\(\s*\)|(?:type:\s*|get[^\n]*,\s*)"json"/;
    const found = files.filter((file) => {
      const text = readFileSync(join(source, file), "utf8")
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")
        .replaceAll(/^import .*$/gm, "");
      return parses.test(text);
    });
    expect(found).toEqual(["kernel/read-json.ts"]);
  });
});
