import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { characterIssues } from "../../../src/kernel/characters.ts";
import { type JsonFault, parseStrictJson, type StrictJson } from "../../../src/kernel/strict-json.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";

const limits = { maxDepth: 64 };

function parse(text: string) {
  return parseStrictJson(new TextEncoder().encode(text), limits);
}

function parsed(text: string): StrictJson {
  const result = parse(text);
  if (!result.ok) throw new Error(`refused: ${result.error.message}`);
  return result.value;
}

function faultOf(text: string): JsonFault {
  const result = parse(text);
  if (result.ok) throw new Error("was not refused");
  return result.error;
}

function found(text: string): string[] {
  return parsed(text).issues.map(({ rule, path }) => `${rule} ${path}`);
}

describe("syntax faults name the place", () => {
  test.each([
    ["", 1, 1, "empty"],
    [" \n\t ", 2, 3, "empty"],
    ['{"a":1,}', 1, 8, "key"],
    ["[1,]", 1, 4, "value"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "','"],
    ["{}{}", 1, 3, "after"],
    ['{"a":NaN}', 1, 6, "value"],
    ["[01]", 1, 3, "leading 0"],
    ["[-]", 1, 3, "digit"],
    ["[1.]", 1, 4, "digit"],
    ["[1e+]", 1, 5, "digit"],
    ['["a', 1, 4, "Unterminated"],
    ['["a\tb"]', 1, 4, "control"],
    ['["\\x"]', 1, 3, "escape"],
    ['["\\u12g4"]', 1, 3, "escape"],
    ['{"a" 1}', 1, 6, "':'"],
    ["[[1}", 1, 4, "']'"],
    ["{'a':1}", 1, 2, "key"],
    ["tru", 1, 1, "value"],
    ["[", 1, 2, "value"],
    ["{", 1, 2, "key"],
  ])("%j", (text, line, column, word) => {
    const fault = faultOf(text);
    expect(fault).toMatchObject({ kind: "syntax", line, column });
    expect(fault.message).toContain(word);
    expect(fault.message).toContain(`(line ${line}, column ${column})`);
  });
});

test("no control character stands in a string unescaped", () => {
  for (let code = 0; code < 0x20; code += 1) {
    expect(faultOf(`["${String.fromCharCode(code)}"]`)).toMatchObject({ kind: "syntax", column: 3 });
  }
});

describe("encoding faults", () => {
  test.each([
    ["a byte order mark", [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
    ["a stray continuation byte", [0x22, 0x80, 0x22]],
    ["an overlong encoding", [0x22, 0xc0, 0xaf, 0x22]],
    ["an encoded surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])("%s", (_, bytes) => {
    const result = parseStrictJson(Uint8Array.from(bytes), limits);
    expect(result).toMatchObject({ ok: false, error: { kind: "encoding" } });
  });
});

describe("depth", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

  test("64 levels are accepted", () => {
    expect(parse(nested(64)).ok).toBe(true);
    expect(parse(`${'{"a":'.repeat(64)}1${"}".repeat(64)}`).ok).toBe(true);
  });

  test("level 65 is refused, with its place", () => {
    const path = "/0".repeat(64);
    expect(faultOf(nested(65))).toMatchObject({ kind: "depth", path, line: 1, column: 65 });
  });

  test("the path follows keys and indexes", () => {
    const result = parseStrictJson(new TextEncoder().encode('{"a/b": [0, {"c": []}]}'), { maxDepth: 3 });
    expect(result).toMatchObject({ ok: false, error: { kind: "depth", path: "/a~1b/1/c" } });
  });

  test("siblings do not add up", () => {
    expect(parse(`[${"[[]],".repeat(200)}[]]`).ok).toBe(true);
  });

  test.each(["[", '{"a":'])("a million of %s end at the bound", (opening) => {
    expect(faultOf(opening.repeat(1_000_000)).kind).toBe("depth");
  });
});

describe("issues that JSON.parse would hide", () => {
  test.each([
    ['{"name":1,"name":2}', ["duplicate-key /name"]],
    ['{"name":1,"na\\u006de":2}', ["duplicate-key /name"]],
    ['{"tools":[{"a":1},{"a":1,"b":[{"c":1,"c":1}]}]}', ["duplicate-key /tools/1/b/0/c"]],
    ['{"a":{"x":1},"b":{"x":1}}', []],
    ['[[1,2,3],[0,{"a":1,"a":1}]]', ["duplicate-key /1/1/a"]],
    ['{"a/b~":1,"a/b~":2}', ["duplicate-key /a~1b~0"]],
    ['{"__proto__":{}}', ["forbidden-key /__proto__"]],
    ['[{"\\u005f_proto__":{}}]', ["forbidden-key /0/__proto__"]],
    ['{"constructor":{"prototype":{}}}', ["forbidden-key /constructor/prototype"]],
    ['{"constructor":{"type":"string"}}', []],
    ['{"constructor":[{"prototype":1}]}', []],
    ['{"prototype":1}', []],
    ["9007199254740993", ["lossy-number "]],
    ['{"n":[-9007199254740993]}', ["lossy-number /n/0"]],
    ["[9007199254740991,9007199254740992,10000000000000000000000,18446744073709551616]", []],
    ["[1152921504606847000]", []],
    ["[1e400,-1e400]", ["infinite-number /0", "infinite-number /1"]],
    [`[1${"0".repeat(400)}]`, ["infinite-number /0"]],
    ["[-0,0.1,1e-400,1E+2]", []],
    ['["\\ud800"]', ["lone-surrogate /0"]],
    ['["\\udc00\\ud800"]', ["lone-surrogate /0"]],
    ['["\\ud83d\\ude00","\\ud83d\\n"]', ["lone-surrogate /1"]],
    ['["😀"]', []],
  ])("%s → %j", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test("a lone surrogate in a key is reported at the key, in a path that can be encoded", () => {
    const [issue] = parsed('{"\\ud800":1}').issues;
    expect(issue?.rule).toBe("lone-surrogate");
    expect(issue?.path).toBe("/\ufffd");
  });

  test("the value is what JSON.parse makes of it", () => {
    expect(parsed('{"a":1,"a":2}').value).toEqual({ a: 2 });
    expect(Object.keys(parsed('{"__proto__":{"x":1}}').value as object)).toEqual(["__proto__"]);
  });

  test("past the cap the last issue is about the whole document, so that no item passes unchecked", () => {
    const { issues } = parsed(`[${'{"__proto__":1},'.repeat(150)}1]`);
    expect(issues).toHaveLength(100);
    expect(issues[98]).toMatchObject({ path: "/98/__proto__", rule: "forbidden-key" });
    expect(issues[99]).toMatchObject({ path: "", rule: "too-many-issues" });
  });

  test("a long key does not make a long path", () => {
    const [issue] = parsed(`{"${"k".repeat(100_000)}":{"__proto__":1}}`).issues;
    expect(issue?.path.length).toBeLessThan(200);
  });
});

test("8 MiB of ordinary manifest is read", { timeout: 60_000 }, () => {
  const tool = {
    name: "send_email",
    description: 'Sends "mail".\nOnce.',
    inputSchema: { maximum: 12.5, a: [true, null] },
  };
  const bytes = new TextEncoder().encode(JSON.stringify(Array.from({ length: 80_000 }, () => tool)));
  expect(bytes.length).toBeGreaterThan(8 * 1024 * 1024);
  expect(parseStrictJson(bytes, limits).ok).toBe(true);
});

describe("properties", () => {
  const json = fc.jsonValue({ maxDepth: 8, stringUnit: "binary" });

  test("agrees with JSON.parse on whatever JSON.stringify writes", () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const result = parsed(text);
        expect(result.value).toEqual(JSON.parse(text));
        expect(result.issues.filter(({ rule }) => rule !== "forbidden-key")).toEqual([]);
      }),
    );
  });

  test("takes exactly the texts that JSON.parse takes", () => {
    const damaged = fc
      .tuple(json, fc.nat(), fc.nat(3), fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0dE-+.1 tn'), maxLength: 3 }))
      .map(([value, at, cut, insert]) => {
        const text = JSON.stringify(value);
        const place = at % (text.length + 1);
        // Cutting may split a surrogate pair, which TextEncoder would replace.
        return (text.slice(0, place) + insert + text.slice(place + cut)).toWellFormed();
      });
    fc.assert(
      fc.property(damaged, (text) => {
        expect(parse(text).ok).toBe(accepts(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test("never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(typeof parseStrictJson(bytes, limits).ok).toBe("boolean");
      }),
    );
  });

  test("finds the one repeated key, wherever it is", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "binary" }), { minLength: 1 }), fc.nat(), (keys, pick) => {
        const repeated = keys[pick % keys.length] ?? "";
        const escaped = Array.from(repeated, (char) => (char.length === 1 ? hexEscape(char) : char)).join("");
        const members = keys.map((key) => `${JSON.stringify(key)}:0`);
        const text = `{${[...members, `"${escaped}":1`].join(",")}}`;
        expect(parsed(text).issues.filter(({ rule }) => rule === "duplicate-key")).toHaveLength(1);
      }),
    );
  });
});

function hexEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function accepts(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describeFixture("JSONTestSuite", "security/json/JSONTestSuite", (location) => {
  const files = readdirSync(location).map((name) => ({ name, bytes: readFileSync(join(location, name)) }));
  const group = (prefix: string) => files.filter(({ name }) => name.startsWith(prefix));

  test("has all three kinds of vectors", () => {
    expect([group("y_").length, group("n_").length, group("i_").length].every((count) => count > 30)).toBe(true);
  });

  test.each(group("y_"))("$name is accepted", ({ name, bytes }) => {
    const result = parseStrictJson(bytes, limits);
    if (!result.ok) throw new Error(result.error.message);
    expect(result.value.value).toEqual(JSON.parse(bytes.toString("utf8")));
    const repeats = name.startsWith("y_object_duplicated_key");
    expect(result.value.issues.map(({ rule }) => rule)).toEqual(repeats ? ["duplicate-key"] : []);
  });

  test.each(group("n_"))("$name is refused", ({ bytes }) => {
    expect(parseStrictJson(bytes, limits).ok).toBe(false);
  });

  test.each(group("i_"))("$name does not throw", ({ bytes }) => {
    expect(typeof parseStrictJson(bytes, limits).ok).toBe("boolean");
  });
});

describeFixture("bad JSON", "security/json/bad-json.json", (location) => {
  interface Case {
    id: string;
    body: string;
    expect: "reject" | "accept-canonical-0";
  }
  /** Good JSON that is no manifest: the schema refuses it. */
  const schemaCases = ["top-array", "top-null", "top-string", "jsonrpc-batch"];
  const cases = readJson(location) as Case[];

  test.each(cases)("$id", ({ id, body, expect: expected }) => {
    const result = parse(body);
    const clean = result.ok && result.value.issues.length === 0 && characterIssues(result.value.value, "").length === 0;
    expect(clean).toBe(expected !== "reject" || schemaCases.includes(id));
  });
});
