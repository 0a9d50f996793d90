import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, capabilities, configs, drained, Registry, token, tools } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

const tenant = "again";
const path = capabilities(tenant, "open");

let clock = Date.now();
const now = () => clock;
let member: string;
let outsider: string;

beforeAll(async () => {
  member = await token({ sub: "member", tenants: [tenant] });
  outsider = await token({ sub: "outsider", tenants: ["elsewhere"] });
  const registry = new Registry({ now });
  for (const [name, visibility] of [
    ["open", "public"],
    ["closed", "tenant"],
  ]) {
    await registry.send("POST", configs, { token: member, body: { tenant, name, visibility } });
    await registry.send("PUT", capabilities(tenant, name ?? ""), { token: member, body: tools("first") });
  }
  await drained(tenant);
});

/** An isolate of its own, so that nothing is kept but what a test has asked for. */
const isolate = (vars?: Record<string, string>) =>
  new Registry({ now, cache: separateCache(), ...(vars === undefined ? {} : { vars }) });

/** Asks until the answer is one that was kept, which carries no id of its own. */
async function untilKept(ask: () => Promise<Answer>): Promise<Answer> {
  for (let asked = 0; asked < 5; asked += 1) {
    const answer = await ask();
    if (isKept(answer)) return answer;
  }
  throw new Error("it was never kept");
}

const isKept = ({ headers }: Answer) => !headers.has("X-Request-Id");
const said = ({ headers }: Answer) =>
  Object.fromEntries([...headers].filter(([name]) => !["x-request-id", "content-length"].includes(name)));

describe("an answer that is sent again", () => {
  it.each([path, `${path}/tools`, "/api/catalog?limit=5"])("is the one that was made: %s", async (question) => {
    const registry = isolate();
    const ask = () => registry.send("GET", question, { token: member });
    await ask();
    const made = await ask();
    const kept = await untilKept(ask);
    expect(kept.text).toBe(made.text);
    expect({ ...said(kept), "rollcall-source": "memory" }).toEqual({ ...said(made), "rollcall-source": "memory" });
    expect(kept.headers.get("Rollcall-Source")).toBe("memory");
  });

  it("is a 304 for who has it, any number of times, asked for in whole before or not", async () => {
    const registry = isolate();
    const etag = (await isolate().send("GET", path, { token: member })).headers.get("ETag") ?? "";
    const headers = { "If-None-Match": etag };
    const ask = () => registry.send("GET", path, { token: member, headers });
    for (const answer of [await untilKept(ask), await ask(), await ask()]) {
      expect([answer.status, answer.text, isKept(answer)]).toEqual([304, "", true]);
      expect([answer.headers.get("ETag"), answer.headers.get("Cache-Control")]).toEqual([etag, "private, no-cache"]);
      expect(answer.headers.get("Rollcall-Generation")).toMatch(/^\d+$/);
    }
    const whole = await registry.send("GET", path, { token: member });
    expect([whole.status, whole.body.data.tools.length]).toEqual([200, 1]);
    const other = await registry.send("GET", path, { token: member, headers: { "If-None-Match": '"other"' } });
    expect(other.status).toBe(200);
  });

  it("is never another caller's", async () => {
    const registry = isolate();
    const closed = capabilities(tenant, "closed");
    await untilKept(() => registry.send("GET", closed, { token: member }));
    const others = [
      { token: outsider },
      {},
      { headers: { Authorization: "" } },
      { headers: { Authorization: "Bearer x" } },
    ];
    const statuses = [];
    for (const options of others) statuses.push((await registry.send("GET", closed, options)).status);
    expect(statuses).toEqual([403, 401, 401, 401]);
  });

  it("is not sent once the token has expired", async () => {
    const registry = isolate();
    const brief = await token({ sub: "brief", tenants: [tenant] }, clock - 3_590_000);
    await untilKept(() => registry.send("GET", path, { token: brief }));
    clock += 75_000;
    expect((await registry.send("GET", path, { token: brief })).status).toBe(401);
  });

  it("shows what was written a moment ago", async () => {
    const registry = isolate();
    const ask = () => registry.send("GET", path, { token: member });
    await untilKept(ask);
    await registry.send("PUT", path, { token: member, body: tools("first", "second") });
    expect((await ask()).body.data.tools).toHaveLength(2);
    await registry.send("PUT", path, { token: member, body: tools("first") });
    expect((await ask()).body.data.tools).toHaveLength(1);
  });

  it("is not sent to an outsider from whom the server was hidden", async () => {
    const registry = isolate();
    const ask = () => registry.send("GET", path, { token: outsider });
    await untilKept(ask);
    const hide = (visibility: string) =>
      registry.send("PUT", configs, { token: member, body: { tenant, name: "open", visibility } });
    expect((await hide("tenant")).status).toBe(200);
    expect((await ask()).status).toBe(403);
    await hide("public");
  });

  it("counts against what a caller may read, with a token or without", async () => {
    for (const [question, options] of [
      [path, { token: member }],
      ["/api/catalog", {}],
    ] as const) {
      const registry = isolate({ READ_LIMIT: "1/6" });
      const ask = () => registry.send("GET", question, options);
      const statuses = [];
      for (let asked = 0; asked < 8; asked += 1) statuses.push((await ask()).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    }
  });

  it("gives way to whoever wants something particular", async () => {
    const registry = isolate({ CORS_ORIGINS: "https://a.test" });
    const ask = (headers: Record<string, string> = {}) => registry.send("GET", path, { token: member, headers });
    const kept = await untilKept(() => ask());
    expect((await ask({ "Cache-Control": "no-cache" })).headers.get("Rollcall-Source")).toBe("object");
    expect((await ask({ "Rollcall-Min-Generation": "1000000" })).status).toBe(412);
    const origin = await ask({ Origin: "https://a.test" });
    expect(origin.headers.get("Access-Control-Allow-Origin")).toBe("https://a.test");
    expect([kept.headers.get("Access-Control-Allow-Origin"), kept.headers.get("Vary")]).toEqual([null, "Origin"]);
    expect((await registry.send("HEAD", path, { token: member })).text).toBe("");
    expect((await registry.send("GET", `${path}?x=1`, { token: member })).status).toBe(400);
  });

  it("costs one turn, whether or not there is more of it than its tag", async () => {
    const etag = (await isolate().send("GET", path, { token: member })).headers.get("ETag") ?? "";
    const registry = isolate({ READ_LIMIT: "1/6" });
    const statuses = [];
    for (const headers of [...Array(3).fill({ "If-None-Match": etag }), ...Array(4).fill({})]) {
      statuses.push((await registry.send("GET", path, { token: member, headers })).status);
    }
    expect(statuses).toEqual([304, 304, 304, 200, 200, 200, 429]);
  });

  it("has the id that the request came with, where it can be shown", async () => {
    const registry = isolate();
    const etag = (await untilKept(() => registry.send("GET", path, { token: member }))).headers.get("ETag") ?? "";
    const before = { ...registry.services.operations };
    const conditions: Record<string, string>[] = [{}, { "If-None-Match": etag }];
    for (const conditional of conditions) {
      const ask = (id: string) =>
        registry.send("GET", path, { token: member, headers: { ...conditional, "X-Request-Id": id } });
      expect((await ask("my-own-request")).headers.get("X-Request-Id")).toBe("my-own-request");
      expect((await ask("<script>")).headers.get("X-Request-Id")).toBeNull();
    }
    // A head and an answer each, and nothing was made.
    expect(registry.services.operations.memory - before.memory).toBe(8);
    expect((await registry.send("GET", path, { token: member })).headers.get("X-Request-Id")).toBeNull();
  });

  it("is counted like any other", async () => {
    const registry = isolate();
    const admin = await token({ sub: "admin", tenants: [], admin: true });
    for (let asked = 0; asked < 3; asked += 1) await registry.send("HEAD", path, { token: member });
    for (let asked = 0; asked < 7; asked += 1) await registry.send("GET", path, { token: member });
    const { body } = await registry.send("GET", "/api/metrics", { token: admin });
    expect(body.data.routes["GET /api/mcp/capabilities/:tenant/:name"]).toMatchObject({
      requests: 7,
      statuses: { 200: 7 },
    });
  });
});

describe("a message that is answered again", () => {
  const uri = `capabilities://${tenant}/open/tools`;
  const modern = "2026-07-28";
  const meta = { "io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": {} };
  const textOf = (method: string, params: object, id = "1") =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify({ ...params, _meta: meta })}}`;
  const headersOf = (method: string, name?: string) => ({
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": modern,
    "Mcp-Method": method,
    ...(name === undefined ? {} : { "Mcp-Name": name }),
  });

  /** As it comes over the wire, with its length. */
  function post(registry: Registry, body: string | Uint8Array, headers: Record<string, string>, bearer?: string) {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const length = { "Content-Length": String(bytes.byteLength) };
    return registry.send("POST", "/mcp", {
      body: bytes,
      headers: { ...length, ...headers },
      ...(bearer === undefined ? {} : { token: bearer }),
    });
  }
  const read = (registry: Registry, id?: string, bearer?: string) =>
    post(registry, textOf("resources/read", { uri }, id), headersOf("resources/read", uri), bearer);

  it.each([
    ["tools/list", {}, undefined],
    ["prompts/list", {}, undefined],
    ["resources/templates/list", {}, undefined],
    ["server/discover", {}, undefined],
    ["resources/read", { uri }, uri],
  ])("%s says what it said", async (method, params, name) => {
    const registry = isolate();
    const ask = () => post(registry, textOf(method, params), headersOf(method, name));
    const made = await ask();
    const kept = await untilKept(ask);
    expect(kept.body).toEqual(made.body);
    expect(said(kept)).toEqual(said(made));
  });

  it("has the id of its own question", async () => {
    const registry = isolate();
    await untilKept(() => read(registry));
    for (const id of ["0", "2", "999999999999999", '"a"', '"request 7"', '""']) {
      const answer = await read(registry, id);
      expect([isKept(answer), answer.status, answer.body.id]).toEqual([true, 200, JSON.parse(id)]);
    }
  });

  it("is not for what is no message, however much it looks like one", async () => {
    const registry = isolate();
    await untilKept(() => read(registry));
    const headers = headersOf("resources/read", uri);
    const text = textOf("resources/read", { uri });
    const bom = new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode(text)]);
    const broken = new TextEncoder().encode(text);
    broken[text.indexOf("jsonrpc")] = 0xff;
    for (const body of [
      textOf("resources/read", { uri }, "007"),
      textOf("resources/read", { uri }, '"a\nb"'),
      textOf("resources/read", { uri }, "-"),
      text.replace('"id":1,', '"id":1,"id":2,'),
      text.slice(0, -1),
      text.replace('"id":1', '"\\u0069d":1,"id":1'),
      bom,
      broken,
    ]) {
      const answer = await post(registry, body, headers);
      expect([answer.status, isKept(answer)]).toEqual([400, false]);
    }
    const oddHeaders: Record<string, string>[] = [
      { "Mcp-Name": "capabilities://again/closed/tools" },
      { "Mcp-Method": "tools/list" },
      { "Content-Type": "text/plain" },
      { Accept: "text/html" },
      { "Content-Encoding": "gzip" },
    ];
    for (const odd of oddHeaders) {
      const answer = await post(registry, text, { ...headers, ...odd });
      expect([answer.status >= 400, isKept(answer)]).toEqual([true, false]);
    }
  });

  it("never takes what is inside a message for its id", async () => {
    const registry = isolate();
    const spelt = (inner: string) =>
      `{"jsonrpc":"2.0","\\u0069d":1,"method":"tools/list","params":{"id":${inner},"_meta":${JSON.stringify(meta)}}}`;
    for (const inner of ["1", "1", "2", '"other"']) {
      expect((await post(registry, spelt(inner), headersOf("tools/list"))).body.id).toBe(1);
    }
  });

  it("is read the long way where it is longer than it says", async () => {
    const registry = isolate();
    const headers = { ...headersOf("tools/list"), "Content-Length": "10" };
    const padded = (length: number) => `${textOf("tools/list", {}).slice(0, -1)}${" ".repeat(length)}}`;
    const answer = await post(registry, padded(10_000), headers);
    expect([answer.status, answer.body.result.tools.length > 0, isKept(answer)]).toEqual([200, true, false]);
    expect((await post(registry, padded(1_000_000), headers)).status).toBe(413);
  });

  it("is neither another caller's nor another time's", async () => {
    const registry = isolate();
    const secretUri = `capabilities://${tenant}/closed/tools`;
    const ask = (bearer?: string) =>
      post(registry, textOf("resources/read", { uri: secretUri }), headersOf("resources/read", secretUri), bearer);
    await untilKept(() => ask(member));
    expect((await ask()).status).toBe(401);
    expect((await ask(outsider)).body.error).toBeDefined();

    const before = await untilKept(() => read(registry));
    await registry.send("PUT", path, { token: member, body: tools("first", "third") });
    const after = await read(registry);
    expect(before.text).not.toContain("third");
    expect(after.text).toContain("third");
    await registry.send("PUT", path, { token: member, body: tools("first") });
  });

  it("counts against what a caller may ask", async () => {
    const registry = isolate({ READ_LIMIT: "1/5" });
    const statuses = [];
    for (let asked = 0; asked < 7; asked += 1) statuses.push((await read(registry)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });
});
