import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, capabilities, config, configs, tools } from "../support/registry.ts";
import { issues, type Sender, sender } from "../support/sender.ts";

describe("a body that is not JSON as it should be", () => {
  let broken: Sender;
  beforeAll(async () => {
    broken = await sender("broken");
    await broken.publish("s", tools("broken_t"));
  });

  const utf8 = (text: string) => new TextEncoder().encode(text);
  const unreadable: [string, string | Uint8Array][] = [
    ["nothing", ""],
    ["white space", " \n\t "],
    ["an open brace", "{"],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["keys without quotes", "{a:1}"],
    ["a comment", '{"a":1} // why'],
    ["two documents", "{}{}"],
    ["NaN", '{"a":NaN}'],
    ["undefined", "undefined"],
    ["a leading zero", '{"a":01}'],
    ["a raw newline in a string", '{"a":"b\nc"}'],
    ["an unknown escape", '{"a":"\\x41"}'],
    ["a byte order mark", utf8("\ufeff{}")],
    ["UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0])],
    ["invalid UTF-8", new Uint8Array([...utf8('{"a":"'), 0xc3, 0x28, ...utf8('"}')])],
    ["UTF-8 that is too long for its character", new Uint8Array([...utf8('{"a":"'), 0xc0, 0xaf, ...utf8('"}')])],
  ];

  it.each(unreadable)("is refused with 400 by every write: %s", async (_, text) => {
    const before = await broken.state();
    const headers = { "Content-Type": "application/json" };
    for (const [method, path] of [
      ["PUT", capabilities("broken", "s")],
      ["PUT", `${capabilities("broken", "s")}?partial=true`],
      ["PATCH", capabilities("broken", "s")],
      ["POST", configs],
      ["PUT", configs],
    ] as const) {
      const { status, body } = await broken.send(method, path, text, headers);
      expect([method, path, status, body.error.code]).toEqual([method, path, 400, "ErrorInvalidBody"]);
      expect(body.error.message.length).toBeGreaterThan(10);
    }
    expect(await broken.state()).toEqual(before);
  });

  /** JSON that two readers may understand differently. The part in question is called "bad". */
  const ambiguous: [string, string][] = [
    ["half a surrogate pair", '"bad":"\\ud800"'],
    ["half a surrogate pair as a key", '"bad":{"\\udc00":1}'],
    ["a key twice", '"bad":1,"bad":2'],
    ["a key twice, once escaped", '"bad":1,"b\\u0061d":2'],
    ["a key twice further down", '"bad":[{"b":1,"b":2}]'],
    ["an integer that no double holds", '"bad":9007199254740993'],
    ["a number beyond all doubles", '"bad":1e999'],
    ["__proto__", '"bad":{"__proto__":{"admin":true}}'],
    ["__proto__, escaped", '"bad":{"\\u005f_proto__":{"admin":true}}'],
    ["__proto__ at the top", '"__proto__":{"admin":true}'],
    ["constructor.prototype", '"bad":{"constructor":{"prototype":{"admin":true}}}'],
  ];

  it.each(ambiguous)("is refused with 400 where it is ambiguous: %s", async (_, members) => {
    const before = await broken.state();
    const refusals = {
      field: await broken.publish("s", `{"tools":[],${members}}`),
      item: await broken.publish("s", `{"tools":[{"name":"broken_u",${members}}]}`),
      switches: await broken.send("PATCH", capabilities("broken", "s"), `{"items":[],${members}}`),
      registration: await broken.send("POST", configs, `{"tenant":"broken","name":"new",${members}}`),
      settings: await broken.send("PUT", configs, `{"tenant":"broken","name":"s",${members}}`),
    };
    for (const [what, { status, body }] of Object.entries(refusals)) {
      expect([what, status, body.error.code]).toEqual([what, 400, "ErrorInvalidBody"]);
      expect(body.error.details.issues).toHaveLength(1);
    }
    expect(await broken.state()).toEqual(before);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it.each(ambiguous)("is left out of a partial publish where it is ambiguous: %s", async (what, members) => {
    const name = `partial-${what.replaceAll(/\W+/g, "-")}`;
    const text = `{"title":"Kept",${members},"tools":[{"name":"broken_a",${members}},{"name":"broken_b"}]}`;
    const { status, body } = await broken.publish(name, text, "?partial=true");
    expect(status).toBe(201);
    expect(body.data.rejected.map(({ path }: { path: string }) => path).sort()).toEqual([
      what.endsWith("top") ? "/__proto__" : "/bad",
      "/tools/0",
    ]);
    const { data } = (await broken.send("GET", capabilities("broken", name))).body;
    expect([data.title, data.bad, data.admin, data.tools.length]).toEqual(["Kept", undefined, undefined, 1]);
    await broken.send("DELETE", config("broken", name));
  });

  it.each(["1e999", '{"__proto__":{"admin":true}}', '{"b":1,"b":2}', "9007199254740993"])(
    "does not get %s past a partial publish behind a key that begins like another",
    async (bad) => {
      const long = "x".repeat(128);
      const text = `{"${long}":1,"${long}y":${bad},"tools":[{"name":"broken_prefix"}]}`;
      const { status } = await broken.publish("prefix", text, "?partial=true");
      expect(status).toBeLessThan(500);
      const { body } = await broken.send("GET", capabilities("broken", "prefix"));
      expect(body.data?.[`${long}y`]).toBeUndefined();
      await broken.send("DELETE", config("broken", "prefix"));
    },
  );

  it("does not get invisible characters past a partial publish by having too many of them", async () => {
    const manifest = {
      "x-noise": Array(200).fill("\u200b"),
      instructions: "Read\u200b this.",
      ...tools("broken_noise"),
    };
    const { status } = await broken.publish("noise", manifest, "?partial=true");
    const { text } = await broken.send("GET", capabilities("broken", "noise"));
    expect([status < 500, text.includes("\u200b")]).toEqual([true, false]);
  });

  it("is told where", async () => {
    const { body } = await broken.publish("s", '{\n  "tools": [}\n');
    expect(body.error.message).toContain("line 2, column 13");
    expect(body.error.details).toMatchObject({ line: 2, column: 13 });
    const twice = await broken.publish("s", '{"tools":[{"name":"a","inputSchema":{"x":1,"x":2}}]}');
    expect(issues(twice)).toEqual([["/tools/0/inputSchema/x", "duplicate-key"]]);
  });

  it.each(["[]", "[{}]", "null", '"text"', "7", "true"])("is refused when it is %s and not an object", async (text) => {
    const before = await broken.state();
    const answers = {
      put: await broken.publish("s", text),
      partial: await broken.publish("s", text, "?partial=true"),
      patch: await broken.send("PATCH", capabilities("broken", "s"), text),
      post: await broken.send("POST", configs, text),
    };
    const outcome = ({ status, body }: Answer) => [status, body.error.code];
    for (const answer of [answers.put, answers.partial, answers.patch]) {
      expect(outcome(answer)).toEqual([422, "ErrorMCPServerValidation"]);
    }
    expect(outcome(answers.post)).toEqual([400, "ErrorTenantRequired"]);
    expect(await broken.state()).toEqual(before);
  });
});

describe("content types", () => {
  let typed: Sender;
  beforeAll(async () => {
    typed = await sender("typed");
  });

  it.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/vnd.rollcall.v1+json",
    "text/plain",
    "application/x-www-form-urlencoded",
  ])("takes JSON as %s", async (type) => {
    const { status } = await typed.publish("s", JSON.stringify(tools("typed_t")), "", { "Content-Type": type });
    expect([200, 201]).toContain(status);
  });

  it.each([
    "text/html",
    "application/xml",
    "application/octet-stream",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/jsonl",
    "json",
    "image/png",
    "application/graphql",
  ])("refuses %s with 415, naming it", async (type) => {
    const { status, body } = await typed.publish("s", "{}", "", { "Content-Type": type });
    expect([status, body.error.code]).toEqual([415, "ErrorUnsupportedMediaType"]);
    expect(body.error.message).toContain(JSON.stringify(type.split(";")[0]));
  });

  it.each(["gzip", "br", "identity, gzip"])("refuses Content-Encoding: %s", async (encoding) => {
    const { status } = await typed.publish("s", "{}", "", { "Content-Encoding": encoding });
    expect(status).toBe(415);
  });
});
