import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { loadTokenizer } from "../../../src/manifest/tokens.ts";
import type { StreamObject } from "../../../src/objects/stream-object.ts";
import { askForClients, EventReader } from "../support/event-reader.ts";
import { capabilities, configs, drained, Registry, secret, token, tools } from "../support/registry.ts";

const registry = new Registry();
const modern = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

interface Options {
  token?: string;
  headers?: Record<string, string>;
  from?: Registry;
}

const accepts = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };

function request(method: string, params: Record<string, unknown>) {
  const name = params.name ?? params.uri;
  return {
    body: { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: { ...meta, ...(params._meta as object) } } },
    headers: {
      ...accepts,
      "MCP-Protocol-Version": modern,
      "Mcp-Method": method,
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
    },
  };
}

function fetchModern(method: string, params: Record<string, unknown> = {}, options: Options = {}) {
  const { body, headers } = request(method, params);
  const { from = registry, ...rest } = options;
  return from.fetch("POST", "/mcp", { ...rest, body, headers: { ...headers, ...options.headers } });
}

async function ask(method: string, params: Record<string, unknown> = {}, options: Options = {}) {
  const response = await fetchModern(method, params, options);
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

/** A client of 2025, which is answered with a stream of one event. */
async function askLegacy(method: string, params: Record<string, unknown> = {}, options: Options = {}) {
  const body = { jsonrpc: "2.0", id: 7, method, params };
  const headers = { ...accepts, "MCP-Protocol-Version": "2025-11-25", ...options.headers };
  const response = await registry.fetch("POST", "/mcp", { ...options, body, headers });
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    return { status: response.status, headers: response.headers, body: JSON.parse((await response.text()) || "null") };
  }
  const { data } = await new EventReader(response).named("message");
  return { status: response.status, headers: response.headers, body: data };
}

let mine: string;
const tenant = "mcp-own";

const publish = async (name: string, ...names: string[]) => {
  const answer = await registry.send("PUT", capabilities(tenant, name), { token: mine, body: tools(...names) });
  expect(answer.status).toBeLessThan(300);
};

beforeAll(async () => {
  mine = await token({ sub: "mcp", tenants: [tenant] });
  await registry.send("POST", configs, { token: mine, body: { tenant, name: "open", visibility: "public" } });
  await publish("open", "lend_book");
  await publish("closed", "count_money");
  await drained(tenant);
});

describe("revision 2026-07-28", () => {
  it("says what it is", async () => {
    const { status, body } = await ask("server/discover");
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      supportedVersions: [modern],
      capabilities: { tools: {}, prompts: {}, completions: {}, resources: { subscribe: true, listChanged: true } },
      ...{ resultType: "complete", ttlMs: 300_000, cacheScope: "public" },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "rollcall" } },
    });
  });

  it("lists nine tools for less than 2,500 tokens", async () => {
    const { body } = await ask("tools/list");
    expect(body.result.tools).toHaveLength(9);
    expect(body.result).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
    for (const tool of body.result.tools) {
      expect(tool).toMatchObject({ inputSchema: { type: "object" }, outputSchema: { type: "object" } });
      expect(tool.annotations.readOnlyHint).toBe(true);
    }
    const count = await loadTokenizer();
    expect(count(JSON.stringify(body.result))).toBeLessThan(2_500);
  });

  it("calls a tool, and tells a model why it could not", async () => {
    const found = await ask("tools/call", { name: "search_capabilities", arguments: { task: "lend a book" } });
    const { structuredContent, content } = found.body.result;
    expect(structuredContent.items[0]).toMatchObject({ tenant, server: "open", name: "lend_book" });
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);

    const spelled = await ask("tools/call", { name: "search_capabilities", arguments: { query: "lend a book" } });
    expect(spelled.body.result.structuredContent).toEqual(structuredContent);
    const wrong = await ask("tools/call", { name: "search_capabilities", arguments: { task: 1 } });
    expect([wrong.status, wrong.body.result.isError]).toEqual([200, true]);
    expect(JSON.parse(wrong.body.result.content[0].text).error).toMatchObject({ code: "ErrorToolArguments" });

    const unknown = await ask("tools/call", { name: "nothing", arguments: {} });
    expect([unknown.status, unknown.body.error.code]).toEqual([200, -32_602]);
  });

  it("tells how far a call is to whoever gave a token for it", async () => {
    const call = { name: "negotiate_context", arguments: { budget: 1_000, task: "lend a book" } };
    const reader = new EventReader(await fetchModern("tools/call", { ...call, _meta: { progressToken: "p" } }));
    expect((await reader.named("message")).data).toMatchObject({
      method: "notifications/progress",
      params: { progressToken: "p", progress: 1, total: 2 },
    });
    expect((await reader.named("message")).data.result.structuredContent.satisfied).toBe(true);
  });

  it("reads resources, and says for whom they may be kept", async () => {
    const read = async (uri: string, as?: string) =>
      (await ask("resources/read", { uri }, as === undefined ? {} : { token: as })).body.result;
    expect(await read("capabilities://tools")).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
    expect(await read("capabilities://server")).toMatchObject({ ttlMs: 0, cacheScope: "public" });
    const uri = `capabilities://${tenant}/open/tools`;
    const open = await read(uri);
    expect(open).toMatchObject({ ttlMs: 0, cacheScope: "public", contents: [{ uri, mimeType: "application/json" }] });
    expect(JSON.parse(open.contents[0].text).metadata.total_count).toBe(1);
    expect(await read(uri, mine)).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    expect(await read(`capabilities://${tenant}/closed/tools`, mine)).toMatchObject({
      ttlMs: 0,
      cacheScope: "private",
    });
  });

  it("lists resources to each what is theirs, page by page", async () => {
    const owner = await token({ sub: "many", tenants: ["mcp-many"] });
    const advertise = { advertise_resources: true, variants: { summary: true, full: true, stats: true } };
    for (let index = 0; index < 16; index += 1) {
      const body = { tenant: "mcp-many", name: `s${index}`, advertise };
      expect((await registry.send("POST", configs, { token: owner, body })).status).toBe(201);
    }
    const first = (await ask("resources/list", {}, { token: owner })).body.result;
    expect(first).toMatchObject({ ttlMs: 0, cacheScope: "private", nextCursor: expect.any(String) });
    const cursor = first.nextCursor;
    const second = (await ask("resources/list", { cursor }, { token: owner })).body.result;
    expect(second.nextCursor).toBeUndefined();
    const uris = [...first.resources, ...second.resources].map(({ uri }: { uri: string }) => uri);
    expect(uris).toHaveLength(6 + 16 * 3);
    expect(new Set(uris).size).toBe(uris.length);
    // Another caller's cursor opens nothing, and neither does one of another list.
    for (const [method, options] of [
      ["resources/list", { token: mine }],
      ["resources/list", {}],
      ["tools/list", { token: owner }],
    ] as const) {
      expect((await ask(method, { cursor }, options)).body.error).toMatchObject({ code: -32_602 });
    }
    const anonymous = (await ask("resources/list")).body.result;
    expect(anonymous).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
    expect(anonymous.resources).toHaveLength(6);
  });

  it("completes tenant, name, view and variant", async () => {
    const complete = async (uri: string, name: string, value: string, settled = {}, options: Options = {}) => {
      const params = { ref: { type: "ref/resource", uri }, argument: { name, value }, context: { arguments: settled } };
      const { body } = await ask("completion/complete", params, options);
      return body.result?.completion.values ?? body.error.code;
    };
    const view = "capabilities://{tenant}/{name}/{view}";
    const index = "rollcall://capability-index/{tenant}/{variant}";
    expect(await complete(view, "tenant", "mcp-o")).toEqual([tenant]);
    expect(await complete(view, "tenant", tenant)).toEqual([tenant]);
    expect(await complete(view, "name", "", { tenant })).toEqual(["open"]);
    expect(await complete(view, "name", "", { tenant }, { token: mine })).toEqual(["closed", "open"]);
    expect(await complete(view, "name", "open", { tenant })).toEqual(["open"]);
    expect(await complete(view, "view", "re")).toEqual(["resources"]);
    expect(await complete(view, "view", "")).toEqual(["server", "tools", "resources", "generators"]);
    expect(await complete(index, "variant", "s")).toEqual([]);
    expect(await complete(index, "name", "")).toBe(-32_602);
    expect(await complete("other://{x}", "x", "")).toBe(-32_602);
  });

  it("completes view and type with what the server has, for those who may read it", async () => {
    const body = {
      ...tools("check"),
      generators: [{ type: "jinja2" }, { type: "alpha" }],
      validators: [{ name: "x" }],
    };
    await registry.send("PUT", capabilities(tenant, "own-views"), { token: mine, body });
    const complete = async (uri: string, name: string, value: string, options: Options = {}) => {
      const context = { arguments: { tenant, name: "own-views" } };
      const params = { ref: { type: "ref/resource", uri }, argument: { name, value }, context };
      return (await ask("completion/complete", params, options)).body.result.completion.values;
    };
    const [view, generator] = ["capabilities://{tenant}/{name}/{view}", "generator://{tenant}/{name}/{type}"];
    const views = ["server", "tools", "resources", "generators", "validators"];
    expect(await complete(view, "view", "", { token: mine })).toEqual(views);
    expect(await complete(view, "view", "v", { token: mine })).toEqual(["validators"]);
    expect(await complete(view, "view", "d", { token: mine })).toEqual([]);
    expect(await complete(generator, "type", "", { token: mine })).toEqual(["alpha", "jinja2"]);
    expect(await complete(view, "view", "")).toEqual([]);
    expect(await complete(generator, "type", "")).toEqual([]);
    await registry.send("DELETE", `${configs}/${tenant}/own-views`, { token: mine });
  });

  it("has prompts that lead from a task to a call", async () => {
    const { body } = await ask("prompts/list");
    expect(body.result.prompts.map(({ name }: { name: string }) => name)).toEqual(["discover", "use_capability"]);
    const get = (name: string, given: object) => ask("prompts/get", { name, arguments: given });
    const discover = await get("discover", { task: "lend a book" });
    expect(discover.body.result.messages[0].content.text).toMatch(/lend a book[\s\S]*capabilities:\/\/server/);
    const use = await get("use_capability", { tenant, id: "mcp.open.lend_book" });
    expect(JSON.parse(use.body.result.messages[1].content.resource.text)).toMatchObject({ name: "lend_book" });
    expect((await get("discover", {})).body.error).toMatchObject({
      code: -32_602,
      message: "Prompt discover needs the argument task",
    });
    expect((await get("nothing", {})).body.error.code).toBe(-32_602);
    expect((await get("use_capability", { tenant, id: "none" })).status).toBe(401);
  });

  it("never looks at a session", async () => {
    const headers = { "Mcp-Session-Id": "made-up", "X-MCP-Session-ID": "made-up" };
    const answer = await ask("tools/list", {}, { headers });
    expect(answer.status).toBe(200);
    expect([...answer.headers.keys()].filter((name) => name.includes("session"))).toEqual([]);
  });
});

describe("a client of 2025", () => {
  it("is greeted, lists, calls and reads without a session", async () => {
    const clientInfo = { name: "old", version: "1" };
    const hello = await askLegacy("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    expect(hello.body.result).toMatchObject({ protocolVersion: "2025-11-25", capabilities: { resources: {} } });
    expect(hello.body.result.capabilities.resources).toEqual({});
    expect(hello.headers.get("Mcp-Session-Id")).toBeNull();
    expect((await askLegacy("tools/list")).body.result.tools).toHaveLength(9);
    const called = await askLegacy("tools/call", { name: "list_servers", arguments: { tenant } });
    expect(called.body.result.structuredContent.items).toMatchObject([{ name: "open" }]);
  });

  it("is told by the code of its revision that a resource is not there", async () => {
    for (const uri of [
      "capabilities://nothing",
      `capabilities://${tenant}/open/nothing`,
      "generator://jinja2",
      "x://y",
    ]) {
      const old = (await askLegacy("resources/read", { uri })).body.error;
      expect(old).toMatchObject({ code: -32_002, data: { code: "resource_not_found", uri } });
      const now = (await ask("resources/read", { uri })).body.error;
      expect(now).toMatchObject({ code: -32_602, data: { code: "resource_not_found", uri } });
      expect(now.message).toBe(old.message);
    }
    const options = { token: mine };
    const absent = { uri: `capabilities://${tenant}/absent/tools` };
    expect((await askLegacy("resources/read", absent, options)).body.error.code).toBe(-32_002);
    expect((await askLegacy("resources/read", { uri: "capabilities://" })).body.error.code).toBe(-32_602);
    expect((await askLegacy("prompts/get", { name: "nothing" })).body.error.code).toBe(-32_602);
  });

  it("is asked for a token before anything is sent", async () => {
    const answer = await askLegacy("resources/read", { uri: `capabilities://${tenant}/closed/tools` });
    expect(answer.status).toBe(401);
  });
});

describe("who may", () => {
  it("read what is not public is who has a token for it", async () => {
    const uri = `capabilities://${tenant}/closed/tools`;
    const anonymous = await ask("resources/read", { uri });
    expect([anonymous.status, anonymous.body.id]).toEqual([401, 7]);
    expect(anonymous.headers.get("WWW-Authenticate")).toBe(
      'Bearer resource_metadata="https://registry.test/.well-known/oauth-protected-resource/mcp", scope="registry:read"',
    );
    const changes = await ask("tools/call", { name: "whats_changed", arguments: { tenant } });
    expect(changes.status).toBe(401);
    const other = await token({ tenants: ["elsewhere"] });
    const forbidden = await ask("resources/read", { uri }, { token: other });
    expect([forbidden.status, forbidden.body.error.code]).toEqual([200, 403]);
    const absent = await ask("resources/read", { uri: `capabilities://${tenant}/none/tools` }, { token: other });
    expect(absent.body.error.message).toBe(forbidden.body.error.message);
  });

  it("is not a token for another audience, nor one in the query", async () => {
    const now = Math.floor(Date.now() / 1_000);
    const theirs = await new SignJWT({ scope: "registry:read", tenants: [tenant] })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setSubject("x")
      .setIssuer("rollcall")
      .setAudience("https://other.example/mcp")
      .setIssuedAt(now)
      .setExpirationTime(now + 60)
      .sign(secret);
    const answer = await ask("tools/list", {}, { token: theirs });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("WWW-Authenticate")).toMatch(/error="invalid_token"/);
    const { body, headers } = request("tools/list", {});
    const query = await registry.send("POST", `/mcp?access_token=${mine}`, { body, headers });
    expect([query.status, query.body.error.code]).toEqual([400, -32_600]);
    const scopeless = await token({ scope: "registry:publish", tenants: [tenant] });
    const narrow = await ask("tools/list", {}, { token: scopeless });
    expect(narrow.status).toBe(403);
    expect(narrow.headers.get("WWW-Authenticate")).toMatch(/error="insufficient_scope", scope="registry:read"/);
  });

  it("is no page of a foreign origin, and no name that was pointed here", async () => {
    const strict = new Registry({ vars: { MCP_HOSTS: "registry.test", MCP_ORIGINS: "https://app.example" } });
    const origin = (Origin: string) => ask("tools/list", {}, { from: strict, headers: { Origin } });
    expect((await origin("https://app.example")).status).toBe(200);
    expect((await origin("http://localhost:6274")).status).toBe(200);
    for (const foreign of ["https://evil.example", "null", "https://app.example.evil.example"]) {
      const refused = await origin(foreign);
      expect([refused.status, refused.body.error.data.code]).toEqual([403, "ErrorOriginRefused"]);
    }
    const elsewhere = new Registry({ vars: { MCP_HOSTS: "registry.example" } });
    const refused = await ask("tools/list", {}, { from: elsewhere });
    expect([refused.status, refused.body.error.data.code]).toEqual([403, "ErrorHostRefused"]);
    const anyone = new Registry({ vars: { MCP_ORIGINS: "*" } });
    const page = { from: anyone, headers: { Origin: "https://any.example" } };
    expect((await ask("tools/list", {}, page)).status).toBe(200);
  });
});

describe("bad input", () => {
  const { body, headers } = request("tools/list", {});
  const post = (changed: { body?: unknown; headers?: Record<string, string> }) =>
    registry.send("POST", "/mcp", { body: changed.body ?? body, headers: { ...headers, ...changed.headers } });

  it.each([
    ["another method in the header", { headers: { "Mcp-Method": "tools/call" } }, 400, -32_020],
    ["another version in the header", { headers: { "MCP-Protocol-Version": "2025-11-25" } }, 400, -32_020],
    ["an unknown method", request("nothing/here", {}), 404, -32_601],
    ["a method that every object has", request("constructor", {}), 404, -32_601],
    ["no _meta", { body: { ...body, params: {} } }, 400, -32_602],
    ["a bad cursor", request("tools/list", { cursor: "made up" }), 200, -32_602],
    ["a resource that is none", request("resources/read", { uri: "other://x" }), 200, -32_602],
    ["only JSON accepted", { headers: { Accept: "application/json" } }, 406, 406],
    ["a body that is no JSON", { body: "{" }, 400, -32_700],
    ["a key twice", { body: '{"jsonrpc":"2.0","jsonrpc":"2.0"}' }, 400, -32_700],
    ["no body", { body: "" }, 400, -32_700],
    ["a body of another type", { headers: { "Content-Type": "text/plain" } }, 415, 415],
    ["too much", { body: `"${"x".repeat(300_000)}"` }, 413, 413],
  ])("is told of: %s", async (_, changed, status, code) => {
    const answer = await post(changed);
    expect([answer.status, answer.body?.error.code]).toEqual([status, code]);
  });

  it("is told of: an unsupported version", async () => {
    const old = { ...meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
    const answer = await post({
      body: { ...body, params: { _meta: old } },
      headers: { "MCP-Protocol-Version": "2099-01-01" },
    });
    expect([answer.status, answer.body.error.code]).toEqual([400, -32_022]);
  });

  it.each(["GET", "DELETE", "PUT"])("has no %s", async (method) => {
    const answer = await registry.send(method, "/mcp", { headers: accepts });
    expect([answer.status, answer.headers.get("Allow")]).toEqual([405, "POST"]);
  });

  it("lets a browser ask first", async () => {
    const answer = await registry.send("OPTIONS", "/mcp", { headers: { Origin: "http://localhost:6274" } });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("Access-Control-Allow-Headers")).toMatch(/MCP-Protocol-Version, Mcp-Method, Mcp-Name/);
  });
});

describe("listening", () => {
  const listen = async (notifications: object, options: Options = {}) =>
    new EventReader(await fetchModern("subscriptions/listen", { notifications }, options));
  const subscription = { "io.modelcontextprotocol/subscriptionId": 7 };

  const streams = (subject: string) =>
    runInDurableObject(env.STREAMS.get(env.STREAMS.idFromName(`mcp ${subject}`)), (object) =>
      (object as unknown as StreamObject).count(),
    );

  it("tells of a publish that changes a resource, and is freed when the client leaves", async () => {
    const uri = `capabilities://${tenant}/closed/tools`;
    const reader = await listen({ resourceSubscriptions: [uri], toolsListChanged: true }, { token: mine });
    expect((await reader.next())?.data).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { resourceSubscriptions: [uri] }, _meta: subscription },
    });
    expect(await streams("mcp")).toBe(1);
    await publish("open", "lend_book", "return_book");
    await publish("closed", "count_money", "hide_money");
    expect((await reader.named("message")).data).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri, _meta: subscription },
    });
    await reader.leave();
    await askForClients(env.STREAMS.get(env.STREAMS.idFromName("mcp mcp")));
    await vi.waitFor(async () => expect(await streams("mcp")).toBe(0), { timeout: 10_000 });
  });

  it("tells of indexes that come into the list of resources", async () => {
    const reader = await listen({ resourcesListChanged: true }, { token: mine });
    await reader.named("message");
    const body = { tenant, name: "listed", advertise: { advertise_resources: true } };
    expect((await registry.send("POST", configs, { token: mine, body })).status).toBe(201);
    expect((await reader.named("message")).data).toMatchObject({ method: "notifications/resources/list_changed" });
    await reader.leave();
  });

  it("tells outsiders of what is public for as long as it is", async () => {
    const uri = `capabilities://${tenant}/open/tools`;
    const reader = await listen({ resourceSubscriptions: [uri] });
    await reader.named("message");
    const body = { tenant, name: "open", visibility: "tenant" };
    expect((await registry.send("PUT", configs, { token: mine, body })).status).toBe(200);
    expect((await reader.named("message")).data.params.uri).toBe(uri);
    await publish("open", "secret");
    const back = { tenant, name: "open", visibility: "public" };
    expect((await registry.send("PUT", configs, { token: mine, body: back })).status).toBe(200);
    expect((await reader.named("message")).data.params.uri).toBe(uri);
    await reader.leave();
  });

  it("follows only what the caller may read", async () => {
    const closed = `capabilities://${tenant}/closed/tools`;
    const anonymous = await ask("subscriptions/listen", { notifications: { resourceSubscriptions: [closed] } });
    expect(anonymous.status).toBe(401);
    const other = await token({ sub: "mcp-other", tenants: ["elsewhere"] });
    const reader = await listen({ resourceSubscriptions: [closed, "other://x"] }, { token: other });
    expect((await reader.next())?.data.params.notifications).toEqual({});
    expect((await reader.next())?.data).toMatchObject({ id: 7, result: { resultType: "complete" } });
    const many = Array.from({ length: 65 }, (_, index) => `capabilities://x/y${index}/tools`);
    const refused = await ask("subscriptions/listen", { notifications: { resourceSubscriptions: many } });
    expect(refused.status).toBe(400);
    expect((await ask("subscriptions/listen", {})).body.error.code).toBe(-32_602);
  });
});

describe("what a stranger tried", () => {
  it("a batch is not taken: it would cost one turn for all its calls", async () => {
    for (const version of ["2025-06-18", "2025-11-25", modern]) {
      const body = [{ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }];
      const headers = { ...accepts, "MCP-Protocol-Version": version };
      const { status, body: answer } = await registry.send("POST", "/mcp", { body, headers });
      expect([status, answer.error.code]).toEqual([400, -32_600]);
    }
  });

  it("a client of 2025 that wants to listen is told that there is no such method", async () => {
    const { body } = await askLegacy("subscriptions/listen", { notifications: { resourcesListChanged: true } });
    expect(body.error.code).toBe(-32_601);
  });

  it("without a token a stream follows fewer resources", async () => {
    const resourceSubscriptions = Array.from({ length: 17 }, (_, at) => `capabilities://${tenant}/s${at}/tools`);
    const { status, body } = await ask("subscriptions/listen", { notifications: { resourceSubscriptions } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining("At most 16")]);
  });

  it("hosts are named as a person writes them, and nothing else", () => {
    expect(readConfig({ ...env, MCP_HOSTS: "Registry.Example.com, [::1]" }).mcpHosts).toEqual([
      "registry.example.com",
      "[::1]",
    ]);
    for (const hosts of ["localhost:8787", "a b", "http://x", "x/y"]) {
      expect(() => readConfig({ ...env, MCP_HOSTS: hosts })).toThrow("MCP_HOSTS");
    }
  });

  it.each([
    ["tools/list", { cursor: 5 }, "cursor"],
    ["resources/read", {}, "uri"],
    ["completion/complete", {}, "ref"],
    ["completion/complete", { ref: { type: "ref/none" }, argument: { name: "a", value: "" } }, "ref"],
    ["prompts/get", { name: "discover", arguments: { task: 1 } }, "arguments/task"],
  ])("%s with %j is said to be wrong, and where", async (method, params, where) => {
    for (const { status, body } of [await ask(method, params), await askLegacy(method, params)]) {
      expect([status, body.error.code, body.error.message]).toEqual([
        200,
        -32_602,
        expect.stringContaining(`params/${where}`),
      ]);
    }
  });
});
