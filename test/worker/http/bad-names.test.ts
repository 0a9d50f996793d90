import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, config, configs, token, tools } from "../support/registry.ts";
import { issues, registry, type Sender, sender } from "../support/sender.ts";

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

  it.each([...bad, "\u212aacme", "a_b", "x".repeat(101)])("%j is no tenant's", async (tenant) => {
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
    `${view}?dryRun=perhaps`,
    `${view}?dry_run=true`,
    `${view}?include=everything`,
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
