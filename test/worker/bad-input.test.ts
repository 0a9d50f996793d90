import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, capabilities, config, configs, Registry, token, tools } from "./registry.ts";

const registry = new Registry();
const { bounds } = registry.services.config;

/** Sends to one tenant, and says what the tenant looks like. */
async function sender(tenant: string) {
  const mine = await token({ tenants: [tenant] });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
  return {
    send,
    publish: (name: string, body: unknown, query = "", headers: Record<string, string> = {}) =>
      send("PUT", capabilities(tenant, name) + query, body, headers),
    /** Everything a write could have moved: the log, the generation, and each server's entry. */
    state: async () => {
      const log = await send("GET", `/api/changes/${tenant}?limit=1000`);
      const list = await send("GET", `${configs}?tenant=${tenant}&limit=100`);
      return { changes: log.body.data, servers: list.body.data };
    },
  };
}
type Sender = Awaited<ReturnType<typeof sender>>;

const issues = (answer: Answer) =>
  answer.body.error.details.issues.map(({ path, rule }: { path: string; rule: string }) => [path, rule]);
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

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
      field: await broken.publish("s", `{${members}}`),
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
    expect(body.error.details).toEqual({ line: 2, column: 13 });
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

describe("size", () => {
  let large: Sender;
  beforeAll(async () => {
    large = await sender("large");
  });

  const settings = (bytes: number, name: string) => {
    const text = JSON.stringify({ tenant: "large", name, "x-fill": "" });
    return text.replace('"x-fill":""', `"x-fill":"${"x".repeat(bytes - text.length)}"`);
  };

  it("of a config may be 256 kB and no more", async () => {
    expect(bounds.configBytes).toBe(256 * 1024);
    expect((await large.send("POST", configs, settings(bounds.configBytes, "fits"))).status).toBe(201);
    const over = await large.send("POST", configs, settings(bounds.configBytes + 1, "over"));
    expect([over.status, over.body.error]).toMatchObject([
      413,
      { code: "ErrorTooLarge", details: { limit: bounds.configBytes } },
    ]);
    expect((await large.send("GET", config("large", "over"))).status).toBe(404);
  });

  it("of a set of switches is bound like a config's", async () => {
    const { status } = await large.send(
      "PATCH",
      capabilities("large", "fits"),
      `{"items":[]${" ".repeat(bounds.configBytes)}}`,
    );
    expect(status).toBe(413);
  });

  it("of a capability may be 512 kB and no more", async () => {
    const tool = (name: string, bytes: number) => {
      const rest = JSON.stringify({ name, "x-fill": "" }).length;
      return { name, "x-fill": "word ".repeat(bytes).slice(0, bytes - rest) };
    };
    const fits = tool("large_fits", bounds.capabilityBytes);
    expect((await large.publish("capability", { tools: [fits] })).status).toBe(201);
    const body = { tools: [{ name: "large_small" }, tool("large_over", bounds.capabilityBytes + 1)] };
    const whole = await large.publish("over", body);
    expect([whole.status, issues(whole)]).toEqual([422, [["/tools/1", "size"]]]);
    const partial = await large.publish("over", body, "?partial=true");
    expect([partial.status, partial.body.data.rejected]).toMatchObject([
      201,
      [{ path: "/tools/1", name: "large_over" }],
    ]);
  });

  it("of a capability is counted in bytes, not in characters", async () => {
    const { status } = await large.publish("bytes", {
      tools: [{ name: "large_bytes", "x-fill": "é".repeat(300_000) }],
    });
    expect(status).toBe(422);
  });

  it("of a manifest may be 8 MiB and no more", async () => {
    const before = await large.state();
    expect(bounds.manifestBytes).toBe(8 * 1024 * 1024);
    const over = await large.publish("manifest", `{}${" ".repeat(bounds.manifestBytes)}`);
    expect([over.status, over.body.error.code]).toEqual([413, "ErrorTooLarge"]);
    expect(await large.state()).toEqual(before);
  });

  it("of a manifest's own fields may be 256 kB", async () => {
    const over = await large.publish("header", { "x-fill": "x".repeat(bounds.configBytes) });
    expect([over.status, issues(over)]).toEqual([422, [["", "size"]]]);
  });

  it("of a manifest in YAML may be 1 MiB", async () => {
    const { status } = await large.publish("yaml", `title: x\n${"# fill\n".repeat(150_000)}`, "", {
      "Content-Type": "application/yaml",
    });
    expect(status).toBe(413);
  });

  it("is not taken from Content-Length, and reading stops at the bound", async () => {
    let sent = 0;
    const long = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = new Uint8Array(64 * 1024).fill(0x20);
        sent += chunk.byteLength;
        controller.enqueue(chunk);
        if (sent > 64 * bounds.configBytes) controller.close();
      },
    });
    const { status } = await large.send("POST", configs, long, { "Content-Type": "application/json" });
    expect(status).toBe(413);
    expect(sent).toBeLessThan(2 * bounds.configBytes);
  });

  it("in items may be 10,000 and no more", async () => {
    const items = (count: number) => ({
      tools: Array.from({ length: count }, (_, index) => ({ name: `large_${index}` })),
    });
    const over = await large.publish("items", items(bounds.capabilities + 1));
    expect([over.status, over.body.error.code]).toEqual([413, "ErrorTooLarge"]);
    expect(over.body.error.message).toContain("10001");
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a description", { tools: [{ name: "t", description: "x".repeat(65_537) }] }, "/tools/0/description"],
    ["a name", { tools: [{ name: "t".repeat(129) }] }, "/tools/0/name"],
    ["a version", { version: "1".repeat(256) }, "/version"],
    ["a URI", { resources: [{ uri: `x:${"y".repeat(2_048)}` }] }, "/resources/0/uri"],
    ["an id", { tools: [{ name: "t", id: "i".repeat(513) }] }, "/tools/0/id"],
  ])("of %s has a bound", async (_, manifest, path) => {
    const answer = await large.publish("field", manifest);
    expect([answer.status, issues(answer)]).toEqual([422, [[path, expect.any(String)]]]);
  });

  it("of the answer is bounded too, however much is wrong", async () => {
    const tool = { name: "large_bad", "x-bad": Array(100).fill("\u200b") };
    const body = { tools: Array.from({ length: 3_000 }, (_, index) => ({ ...tool, name: `large_bad_${index}` })) };
    const whole = await large.publish("wrong", body);
    expect([whole.status, whole.body.error.details.issues.length]).toEqual([422, 100]);
    const partial = await large.publish("wrong", body, "?partial=true");
    expect(partial.status).toBeLessThan(500);
    expect(partial.text.length).toBeLessThan(bounds.manifestBytes);
  });
});

describe("the answer to a hostile document", () => {
  it("is bounded when every fault lies deep below long keys", async () => {
    const far = await sender("far");
    const below = Array.from({ length: 60 }, (_, level) => `${level}`.padEnd(126, "k"));
    const buried = below.reduceRight<unknown>((inner, key) => ({ [key]: inner }), Array(10).fill("\u200b"));
    const body = { tools: Array.from({ length: 600 }, (_, index) => ({ name: `far_${index}`, "x-deep": buried })) };
    const { status, text } = await far.publish("s", body, "?partial=true");
    expect(status).toBeLessThan(500);
    expect(text.length).toBeLessThan(bounds.manifestBytes);
  });
});

describe("depth", () => {
  let deep: Sender;
  beforeAll(async () => {
    deep = await sender("deep");
  });

  it("may be 64", async () => {
    expect(bounds.depth).toBe(64);
    expect((await deep.publish("s", `{"a":${nested(63)}}`)).status).toBe(201);
    expect((await deep.send("POST", configs, `{"tenant":"deep","name":"c","a":${nested(63)}}`)).status).toBe(201);
    const schema = `${'{"properties":{"a":'.repeat(30)}{}${"}}".repeat(30)}`;
    expect((await deep.publish("schema", `{"tools":[{"name":"deep_t","inputSchema":${schema}}]}`)).status).toBe(201);
  });

  it("may not be 65", async () => {
    const { status, body } = await deep.publish("s", `{"a":${nested(64)}}`);
    expect([status, body.error.code]).toEqual([400, "ErrorInvalidBody"]);
    expect(body.error.message).toContain("64");
    expect(body.error.details.path).toBe(`/a${"/0".repeat(63)}`);
    expect((await deep.send("POST", configs, `{"tenant":"deep","name":"d","a":${nested(64)}}`)).status).toBe(400);
    expect((await deep.publish("s", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`)).status).toBe(400);
  });

  it.each([
    ["lists", nested(1_000_000)],
    ["lists that do not end", "[".repeat(1_000_000)],
    ["objects", `${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_000)}`],
  ])("of a million %s is refused at once", async (_, text) => {
    const start = performance.now();
    expect((await deep.publish("s", text)).status).toBe(400);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe("names", () => {
  let named: Sender;
  beforeAll(async () => {
    named = await sender("named");
  });

  const bad = [
    ".",
    "..",
    "...",
    "../x",
    "..\\x",
    "a/../b",
    "a//b",
    "/abs",
    "a/b",
    "a\\b",
    "%2e%2e",
    "..%2f",
    "%",
    "%zz",
    "a%00b",
    "a\u0000b",
    "a\nb",
    "a\r\nX-Evil: 1",
    "a\tb",
    "a b",
    " a",
    "a ",
    "-a",
    "_a",
    ".hidden",
    "a;b",
    "a:b",
    "a|b",
    "a*b",
    "*",
    "?x=1",
    "#f",
    "a&b",
    "a=b",
    "{}",
    "<b>",
    "a'b",
    'a"b',
    "`id`",
    "$HOME",
    "é",
    "e\u0301",
    "\u0430cme",
    "ｘ",
    "ß",
    "\u202eabc",
    "a\u200bb",
    "😀",
    "x".repeat(129),
    "__proto__",
  ];

  it.each(bad)("%j is no server's", async (name) => {
    const before = await named.state();
    const inPath = encodeURIComponent(name);
    for (const [method, path, body] of [
      ["PUT", capabilities("named", inPath), tools("named_t")],
      ["PATCH", capabilities("named", inPath), { items: [{ kind: "tool", name: "t", enabled: true }] }],
      ["GET", capabilities("named", inPath)],
      ["DELETE", config("named", inPath)],
      ["POST", configs, { tenant: "named", name }],
      ["PUT", configs, { tenant: "named", name }],
    ] as const) {
      const answer = await named.send(method, path, body);
      expect([method, path, answer.status]).toEqual([
        method,
        path,
        expect.toSatisfy((status) => [400, 404, 405].includes(status)),
      ]);
      expect([...answer.headers.keys()]).not.toContain("x-evil");
    }
    expect(await named.state()).toEqual(before);
  });

  it.each([...bad, "Acme", "a_b", "x".repeat(101)])("%j is no tenant's", async (tenant) => {
    const admin = await token({ admin: true });
    const answers = [
      await registry.send("PUT", capabilities(encodeURIComponent(tenant), "s"), { token: admin, body: tools("t") }),
      await registry.send("POST", configs, { token: admin, body: { tenant, name: "s" } }),
      await registry.send("GET", `${configs}?tenant=${encodeURIComponent(tenant)}`, { token: admin }),
    ];
    for (const { status } of answers) expect([400, 404, 405]).toContain(status);
  });

  it.each([
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "con",
    "nul",
    "0",
    "1e3",
    "null",
    "undefined",
    "true",
    "admin",
    "a.",
    "a..b",
    "A",
    "revisions",
    "diff",
    "x".repeat(128),
  ])("%j is as good as any", async (name) => {
    const body = { tools: [{ name, inputSchema: { properties: { [name]: {} }, required: [name] } }], [name]: "own" };
    expect((await named.publish(name, { tools: [] })).status).toBe(201);
    expect((await named.publish(name, body)).status).toBe(200);
    const answer = await named.send("GET", capabilities("named", name));
    expect(answer.body.data.tools).toMatchObject(body.tools);
    expect(answer.body.data[name]).toBe("own");
    await named.send("DELETE", config("named", name));
  });

  it.each(["", "a b", "a\nb", "é", "\u0430dd", "a\u200bb", "a:b", "<|im_start|>", "x".repeat(129)])(
    "%j is no tool's",
    async (name) => {
      const answer = await named.publish("tools", { tools: [{ name: "named_ok" }, { name }] });
      expect(answer.status).toBe(422);
      expect(issues(answer).every(([path]: [string]) => path === "/tools/1/name")).toBe(true);
    },
  );

  it("of a tool may be what objects have by nature", async () => {
    const tool = (name: string, description: string) => ({ name, description });
    const own = ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"];
    const publish = (description: string) =>
      named.publish("natural", { tools: own.map((name) => tool(name, description)) });
    expect((await publish("One.")).status).toBe(201);
    const second = await publish("Two.");
    expect(second.body.data.changes).toEqual({ breaking: 0, additive: 0, cosmetic: 5, removed: 0 });
    const { tools: shown } = (await named.send("GET", capabilities("named", "natural"))).body.data;
    expect(shown).toMatchObject(own.map((name) => tool(name, "Two.")));
  });
});

describe("headers and query", () => {
  let asked: Sender;
  const view = capabilities("asked", "s");
  beforeAll(async () => {
    asked = await sender("asked");
    await asked.publish("s", tools("asked_t"));
  });

  it.each(["-1", "1.5", "1e3", "abc", "", "0x1", "1 2", "1, 2", "9".repeat(16), "NaN", "null"])(
    "Rollcall-Min-Generation: %s is refused by every read",
    async (value) => {
      const headers = { "Rollcall-Min-Generation": value };
      for (const path of [
        view,
        config("asked", "s"),
        `${view}/revisions`,
        `${configs}?tenant=asked`,
        "/api/changes/asked",
      ]) {
        const { status, body } = await asked.send("GET", path, undefined, headers);
        expect([path, status, body.error?.code]).toEqual([path, 400, "ErrorBadRequest"]);
      }
    },
  );

  it.each(["", "x", '"', 'W/"', '"a" "b"', ",,,", `"${"x".repeat(10_000)}"`, '"none.1"', "sha256-0"])(
    "If-Match: %j matches nothing, and writes nothing",
    async (value) => {
      const before = await asked.state();
      for (const [method, path, body] of [
        ["PUT", view, tools("asked_u")],
        ["PUT", configs, { tenant: "asked", name: "s", title: "T" }],
        ["PATCH", view, { items: [{ kind: "tool", name: "asked_t", enabled: false }] }],
        ["DELETE", config("asked", "s")],
      ] as const) {
        expect([method, (await asked.send(method, path, body, { "If-Match": value })).status]).toEqual([method, 412]);
      }
      expect(await asked.state()).toEqual(before);
    },
  );

  it.each([
    `${view}?partial=true&partial=true`,
    `${view}?partial=true&partial=false`,
    `${view}?partial=maybe`,
    `${view}?partial=TRUE`,
    `${view}?dryRun=true`,
    `${view}?partial=true&__proto__=1`,
  ])("PUT %s is refused", async (path) => {
    const before = await asked.state();
    const { status, body } = await asked.send("PUT", path, tools("asked_u"));
    expect([status, body.error.code]).toEqual([400, "ErrorBadRequest"]);
    expect(await asked.state()).toEqual(before);
  });

  it.each([
    `${configs}?limit=1&limit=1`,
    `${configs}?tenant=asked&tenant=asked`,
    `${view}/revisions?limit=1&limit=1`,
    "/api/changes/asked?since=0&since=1",
    "/api/changes/asked?since=-1",
    "/api/changes/asked?limit=1001",
    "/api/changes/asked?from=1",
  ])("GET %s is refused", async (path) => {
    const { status, body } = await asked.send("GET", path);
    expect([status, body.error.code]).toEqual([400, "ErrorBadRequest"]);
  });

  it.each(["json", "yaml", "rtfs"])(
    "a line break inside a key is in no header of the capability as %s",
    async (format) => {
      const properties = { "a\nX-Evil: 1": { type: "string", enum: ["x"], format: "email" } };
      await asked.publish("broken-key", {
        tools: [{ name: "asked_key", inputSchema: { type: "object", properties } }],
      });
      const path = `/api/capabilities/asked/mcp.broken-key.asked_key?format=${format}`;
      const { status, headers } = await asked.send("GET", path);
      expect([status, headers.get("X-Evil")]).toEqual([200, null]);
    },
  );

  it("values come back in no header, and in no body as markup", async () => {
    const hostile = "x</script><script>alert(1)</script>";
    const { headers, text } = await asked.send("GET", `${configs}?${encodeURIComponent(hostile)}=1`, undefined, {
      Origin: "https://evil.test",
      "X-Request-Id": hostile,
      "X-Forwarded-Host": "evil.test",
      Accept: hostile,
    });
    expect([...headers].filter(([, value]) => value.includes("evil.test") || value.includes("script"))).toEqual([]);
    expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(JSON.parse(text).success).toBe(false);
  });
});

describe("hostile YAML", () => {
  let hostile: Sender;
  const yaml = (text: string) => hostile.send("POST", configs, text, { "Content-Type": "application/yaml" });
  beforeAll(async () => {
    hostile = await sender("hostile");
  });

  const laughs = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(", ")}]`,
  );
  const start = "tenant: hostile\nname: s\n";
  const documents: [string, string][] = [
    ["billion laughs", `${start}l0: &l0 lol\n${laughs.join("\n")}`],
    ["a key twice", `${start}a: 1\na: 2`],
    ["a key twice in a flow", `${start}a: {b: 1, b: 2}`],
    ["a number and a string that are one key in JSON", `${start}a: {1: x, "1": y}`],
    ["no key and an empty one, which are one key in JSON", `${start}a: {~: x, "": y}`],
    ["a key twice, once by its alias", `${start}a: {&k b: 1, *k : 2}`],
    ["an alias of nothing", `${start}a: *nowhere`],
    ["an alias inside its own anchor", `${start}a: &a [*a]`],
    ["a tag that runs code", `${start}a: !!js/function "function () {}"`],
    ["a tag of another language", `${start}a: !!python/object/apply:os.system ["id"]`],
    ["a tag of its own", `${start}a: !secret x`],
    ["binary", `${start}a: !!binary aGVsbG8=`],
    ["a set", `${start}a: !!set {b, c}`],
    ["an ordered map", `${start}a: !!omap [b: 1]`],
    ["a timestamp", `${start}a: !!timestamp 2001-12-14`],
    ["two documents", `${start}---\n${start}`],
    ["tabs for indentation", `${start}a:\n\tb: 1`],
    ["a list that does not end", `${start}a: [1, 2`],
    ["a quote that does not end", `${start}a: "b`],
    ["no colon", "tenant"],
    ["nothing", ""],
    ["only a comment", "# nothing"],
    ["an unknown directive", `%FOO bar\n---\n${start}`],
    ["nesting beyond the bound", `${start}a: ${"[".repeat(65)}${"]".repeat(65)}`],
    ["nesting beyond any stack", `${start}a: ${"[".repeat(100_000)}`],
    [
      "nesting by indentation",
      `${start}a:\n${Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth + 1)}b:`).join("\n")}`,
    ],
    ["an integer that no double holds", `${start}a: 12345678901234567891`],
    ["an integer beyond all doubles", `${start}a: 1${"0".repeat(400)}`],
    [".nan", `${start}a: .nan`],
    ["-.inf", `${start}a: [-.inf]`],
    ["__proto__", `${start}__proto__: {admin: true}`],
    ["__proto__ further down", `${start}a: [{__proto__: {admin: true}}]`],
  ];

  it.each(documents)("refuses %s with 400 and a reason", async (what, text) => {
    const before = await hostile.state();
    const { status, body } = await yaml(text.replaceAll("name: s\n", `name: ${what.replaceAll(/\W+/g, "x")}\n`));
    expect([status, body.success]).toEqual([400, false]);
    expect(body.error.message.length).toBeGreaterThan(10);
    expect(body.error.message).not.toMatch(/\bat \w+ \(|node_modules|\.ts:/);
    expect(await hostile.state()).toEqual(before);
  });

  it("says at which line", async () => {
    const { body } = await yaml(`${start}a: 1\na: 2`);
    expect(body.error).toMatchObject({
      code: "ErrorInvalidBody",
      message: expect.stringMatching(/^Invalid YAML: .* at line 4, column 1$/),
    });
    expect(body.error.details).toEqual({ line: 4, column: 1 });
  });

  it("refuses bytes that are not UTF-8", async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode(`${start}a: `), 0xff, 0xfe]);
    expect((await hostile.send("POST", configs, bytes, { "Content-Type": "application/yaml" })).status).toBe(400);
  });

  it("measures what aliases stand for, not how short they are written", async () => {
    const block = "x".repeat(100_000);
    const text = `tenant: hostile\nname: swollen\na: &a "${block}"\nb: [${Array(40).fill("*a").join(", ")}]`;
    const { status } = await yaml(text);
    expect(status).toBe(413);
    expect((await hostile.send("GET", config("hostile", "swollen"))).status).toBe(404);
  });

  it("gives words no second meaning", async () => {
    const { status } = await yaml(
      "tenant: hostile\nname: plain\nwords: [no, yes, on, off, 012, 1_000, 2001-01-01, 12:30:45, <<, ~]",
    );
    expect(status).toBe(201);
    const { words } = (await hostile.send("GET", config("hostile", "plain"))).body.data;
    expect(words).toEqual(["no", "yes", "on", "off", 12, "1_000", "2001-01-01", "12:30:45", "<<", null]);
  });

  it("keeps what is nested as deep as the bound allows", async () => {
    const { status } = await yaml(`tenant: hostile\nname: deep\na: ${"[".repeat(63)}${"]".repeat(63)}`);
    expect(status).toBe(201);
  });
});

describe("any JSON at all", () => {
  let any: Sender;
  beforeAll(async () => {
    any = await sender("any");
    await any.publish("s", tools("any_t"));
    await any.send("POST", configs, { tenant: "any", name: "c" });
  });

  /** Keys that mean something somewhere, so that random documents get past the first check. */
  const key = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        ..."name title description version id enabled lastSynced metadata discovery created_at inputSchema outputSchema annotations readOnlyHint uri uriTemplate patterns type parameters arguments required permissions effects icons src upstreamDependencies expectedLatencyMs p50 p95 serverInfo features limits runtime _meta sources visibility policy sameVersion digest flags tokens generation registry".split(
          " ",
        ),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("__proto__", "constructor", "prototype", "toString", "", "a/b", "~", "\u200b", "é"),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
  );
  const scalar = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -0,
      1,
      "x",
      "",
      "1.0",
      "tenant",
      "public",
      "a b",
      "\ud800",
      "\u202e",
      "<IMPORTANT>",
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "binary", maxLength: 20 }),
  );
  const { value, item } = fc.letrec<{ schema: unknown; value: unknown; item: Record<string, unknown> }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.record(
        {
          type: fc.constantFrom<unknown>("object", "string", ["string", "null"], 7),
          properties: fc.dictionary(fc.constantFrom("a", "b", "toString"), tie("schema"), { maxKeys: 3 }),
          required: fc.constantFrom<unknown>(["a"], ["a", "a"], [], "a", [null]),
          enum: fc.constantFrom<unknown>([1, "a", null], [], {}, [[]]),
          $ref: fc.constantFrom<unknown>("#", "#/properties/a", "#/$defs/d", "#/nowhere", "https://x.test/s.json", 7),
          $defs: fc.dictionary(fc.constantFrom("d", "e"), tie("schema"), { maxKeys: 2 }),
          items: tie("schema"),
          allOf: fc.array(tie("schema"), { maxLength: 2 }),
          oneOf: fc.array(tie("schema"), { maxLength: 2 }),
          not: tie("schema"),
          additionalProperties: tie("schema"),
          minimum: scalar,
          pattern: fc.constantFrom("(", "(a+)+$", ""),
          "x-mcp-header": scalar,
        },
        { requiredKeys: [] },
      ),
    ),
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      tie("schema"),
    ),
    item: fc
      .tuple(
        fc.dictionary(key, tie("value"), { maxKeys: 3 }),
        fc.record(
          {
            name: fc.constantFrom("a", "A", "b", "send_email", "toString", "a b"),
            uri: fc.constantFrom("x:1", "x:2"),
            uriTemplate: fc.constantFrom("x:{a}", "x:{b}"),
            type: fc.constantFrom("plain", "odd-one", "Bad"),
            inputSchema: tie("schema"),
            outputSchema: tie("schema"),
            enabled: fc.constantFrom<unknown>(true, false, null, "no"),
          },
          { requiredKeys: ["name", "uri", "uriTemplate", "type"] },
        ),
      )
      .map(([odd, plain]) => ({ ...odd, ...plain })),
  }));
  const section = fc.oneof(
    { weight: 5, arbitrary: fc.array(item as fc.Arbitrary<unknown>, { maxLength: 3 }) },
    { weight: 1, arbitrary: value },
  );
  const manifest = fc.oneof(
    { weight: 1, arbitrary: value },
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.dictionary(key, value, { maxKeys: 2 }),
          fc.record(
            {
              tools: section,
              prompts: section,
              resources: section,
              resourceTemplates: section,
              generators: section,
              operations: section,
            },
            { requiredKeys: [] },
          ),
        )
        .map(([header, sections]) => ({ ...header, ...sections })),
    },
  );
  const settings = fc.oneof(
    { weight: 1, arbitrary: value },
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.dictionary(key, value, { maxKeys: 4 }),
          fc.record(
            {
              tenant: fc.constantFrom<unknown>("any", "any", "any", "", 7, "other"),
              name: fc.constantFrom<unknown>("c", "d", "s", "", null, "a/b"),
            },
            { requiredKeys: ["tenant", "name"] },
          ),
        )
        .map(([odd, plain]) => ({ ...odd, ...plain })),
    },
  );

  /** Sends until something is refused wrongly: never a 500, and what is refused leaves no trace. */
  const holds = (document: fc.Arbitrary<unknown>, write: (text: string) => Promise<Answer>) =>
    fc.assert(
      fc.asyncProperty(document, async (sent) => {
        const before = await any.state();
        const { status, body } = await write(JSON.stringify(sent));
        expect(status).toBeLessThan(500);
        expect(body.success).toBe(status < 400);
        if (status < 400) return;
        expect(body.error.message.length).toBeGreaterThan(0);
        expect(await any.state()).toEqual(before);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 15_000 },
    );

  it("is published or refused, and leaves no trace when refused", () =>
    holds(manifest, (text) => any.publish("s", text)));
  it("is published in part or refused", () => holds(manifest, (text) => any.publish("s", text, "?partial=true")));
  it("is registered or refused", () => holds(settings, (text) => any.send("POST", configs, text)));
  it("replaces settings or is refused", () => holds(settings, (text) => any.send("PUT", configs, text)));
  it("switches items or is refused", () => {
    const items = fc.array(
      fc.record({
        kind: fc.constantFrom("tool", "prompt", "x"),
        name: fc.constantFrom("a", "b", "any_t"),
        enabled: fc.constantFrom<unknown>(true, false, 1),
      }),
      { maxLength: 3 },
    );
    const switches = fc.oneof(value, fc.record({ items: fc.oneof(items as fc.Arbitrary<unknown>, value) }));
    return holds(switches, (text) => any.send("PATCH", capabilities("any", "s"), text));
  });

  it("that was taken can be read back and published again", async () => {
    await fc.assert(
      fc.asyncProperty(manifest, async (sent) => {
        const { status } = await any.publish("s", JSON.stringify(sent), "?partial=true");
        if (status >= 400) return;
        const view = await any.send("GET", capabilities("any", "s"));
        expect(view.status).toBe(200);
        const again = await any.publish("s", JSON.stringify(view.body.data));
        expect([200, 201]).toContain(again.status);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 15_000 },
    );
  });
});
