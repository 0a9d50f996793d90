import { beforeAll, describe, expect, it } from "vitest";
import { isKept, isolate, member, seed, tenant, untilKept } from "../support/kept-answers.ts";
import { age, client, negotiate } from "../support/negotiating.ts";
import { type Answer, Registry, token } from "../support/registry.ts";

const missing = "Missing session ID. Please negotiate capabilities first.";
const invalid = "Invalid session ID. Please negotiate capabilities again.";
const unknownId = "0".repeat(64);
const strict = { REQUIRE_NEGOTIATION: "true" };
const uri = `capabilities://${tenant}/open/tools`;

const modern = "2026-07-28";
const meta = { "io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": {} };
const accepts = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };

interface Options {
  session?: string;
  token?: string;
  headers?: Record<string, string>;
  id?: number | undefined;
}

type Era = "modern" | "legacy";

/** A message of either era, with its length as it comes over the wire. */
function post(era: Era, registry: Registry, method: string, params: object, options: Options = {}): Promise<Answer> {
  const { id = "id" in options ? undefined : 7 } = options;
  const isModern = era === "modern";
  const message = { jsonrpc: "2.0", id, method, params: isModern ? { ...params, _meta: meta } : params };
  const body = new TextEncoder().encode(JSON.stringify(message));
  const { name, uri: named } = params as { name?: string; uri?: string };
  const headers = {
    ...accepts,
    "Content-Length": String(body.byteLength),
    "MCP-Protocol-Version": isModern ? modern : "2025-11-25",
    ...(isModern ? { "Mcp-Method": method } : {}),
    ...(isModern && (name ?? named) !== undefined ? { "Mcp-Name": name ?? named ?? "" } : {}),
    ...(options.session === undefined ? {} : { "X-MCP-Session-ID": options.session }),
    ...options.headers,
  };
  return registry.send("POST", "/mcp", { body, headers, ...(options.token ? { token: options.token } : {}) });
}

const covered: [string, object][] = [
  ["tools/call", { name: "list_servers", arguments: {} }],
  ["resources/read", { uri }],
  ["prompts/get", { name: "discover", arguments: { task: "lend a book" } }],
];

const open: [Era, string, object][] = [
  ["modern", "server/discover", {}],
  ["modern", "tools/list", {}],
  ["modern", "prompts/list", {}],
  ["modern", "resources/list", {}],
  ["modern", "resources/templates/list", {}],
  [
    "legacy",
    "initialize",
    { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  ],
  ["legacy", "ping", {}],
  ["legacy", "tools/list", {}],
  [
    "legacy",
    "completion/complete",
    { ref: { type: "ref/prompt", name: "discover" }, argument: { name: "task", value: "" } },
  ],
];

/** What every refusal of a session looks like on this path. */
function refused(answer: Answer, message: string) {
  expect([answer.status, answer.headers.get("WWW-Authenticate")]).toEqual([401, 'Session negotiate="/mcp/negotiate"']);
  const code = message === missing ? "ErrorSessionMissing" : "ErrorSessionInvalid";
  expect(answer.body).toMatchObject({ jsonrpc: "2.0", id: 7, error: { code: 401, message, data: { code } } });
}

beforeAll(seed);

describe.each<Era>(["modern", "legacy"])("in the %s era, with negotiation required", (era) => {
  it.each(covered)("%s needs a session", async (method, params) => {
    const registry = isolate(strict);
    refused(await post(era, registry, method, params), missing);
    refused(await post(era, registry, method, params, { session: "" }), missing);
    refused(await post(era, registry, method, params, { session: unknownId }), invalid);
    const { id } = await negotiate(registry, client());
    expect((await post(era, registry, method, params, { session: id })).status).toBe(200);
  });
});

describe.each<Era>(["modern", "legacy"])("in the %s era, with negotiation left to the client", (era) => {
  it.each(covered)("%s needs none, but a false one is refused", async (method, params) => {
    const registry = isolate();
    expect((await post(era, registry, method, params)).status).toBe(200);
    refused(await post(era, registry, method, params, { session: unknownId }), invalid);
    const { id } = await negotiate(registry, client());
    expect((await post(era, registry, method, params, { session: id })).status).toBe(200);
  });
});

describe("with negotiation required", () => {
  it.each(open)("a client of the %s era gets %s without a session", async (era, method, params) => {
    const answer = await post(era, isolate(strict), method, params);
    expect([answer.status, answer.text.includes('"error"')]).toEqual([200, false]);
  });

  it("a stream of changes needs a session as well", async () => {
    const params = { notifications: { resourceSubscriptions: [uri] } };
    refused(await post("modern", isolate(strict), "subscriptions/listen", params), missing);
  });

  it("a notification of such a method is refused, others are taken", async () => {
    const registry = isolate(strict);
    const call = await post("legacy", registry, "tools/call", { name: "list_servers" }, { id: undefined });
    expect([call.status, call.body.id, call.body.error.message]).toEqual([401, null, missing]);
    const other = await post("legacy", registry, "notifications/initialized", {}, { id: undefined });
    expect(other.status).toBe(202);
  });

  it("a batch hides no call: it is not taken at all", async () => {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_servers", arguments: {} } };
    const body = [{ ...call, method: "ping" }, call];
    const headers = { ...accepts, "MCP-Protocol-Version": "2025-03-26" };
    expect((await isolate(strict).send("POST", "/mcp", { body, headers })).status).toBe(400);
  });

  it("an expired session and another subject's are as good as none", async () => {
    const registry = isolate(strict);
    const call = covered[0] as [string, object];
    const { id } = await negotiate(registry, client());
    await age(id, 3_601);
    refused(await post("modern", new Registry({ vars: strict }), ...call, { session: id }), invalid);
    const alice = await negotiate(registry, client(), await token({ sub: "alice" }));
    const bob = await token({ sub: "bob" });
    refused(await post("modern", registry, ...call, { session: alice.id, token: bob }), invalid);
    refused(await post("modern", registry, ...call, { session: alice.id }), invalid);
  });

  it("the session id of MCP itself is neither read nor echoed", async () => {
    for (const registry of [isolate(strict), isolate()]) {
      const { id } = await negotiate(registry, client());
      const headers = { "Mcp-Session-Id": unknownId };
      const answer = await post("modern", registry, "resources/read", { uri }, { session: id, headers });
      expect([answer.status, answer.headers.has("Mcp-Session-Id")]).toEqual([200, false]);
    }
    const own = { headers: { "Mcp-Session-Id": (await negotiate(isolate(strict), client())).id } };
    refused(await post("modern", isolate(strict), "resources/read", { uri }, own), missing);
  });
});

describe("a kept answer", () => {
  it("is not sent before the session was checked", async () => {
    const registry = isolate();
    const read = (options?: Options) => post("modern", registry, "resources/read", { uri }, options);
    await untilKept(() => read());
    refused(await read({ session: unknownId }), invalid);
    refused(await read({ session: unknownId, token: member }), invalid);
    const { id } = await negotiate(registry, client());
    const inSession = await read({ session: id });
    expect([inSession.status, isKept(inSession)]).toEqual([200, false]);
    expect(isKept(await read())).toBe(true);
  });

  it("is never one of a method that needs a session, where negotiation is required", async () => {
    const registry = isolate(strict);
    const { id } = await negotiate(registry, client());
    for (let asked = 0; asked < 4; asked += 1) {
      const answer = await post("modern", registry, "resources/read", { uri }, { session: id });
      expect([answer.status, isKept(answer)]).toEqual([200, false]);
    }
    refused(await post("modern", registry, "resources/read", { uri }), missing);
    // Under the name of another method, too.
    const disguised = await post(
      "modern",
      registry,
      "resources/read",
      { uri },
      { headers: { "Mcp-Method": "tools/list" } },
    );
    refused(disguised, missing);
    await untilKept(() => post("modern", registry, "tools/list", {}));
  });
});
