import { evictDurableObject, listDurableObjectIds, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { age, client, inSession, negotiate, sessionStub, stored } from "../support/negotiating.ts";
import { Registry, token } from "../support/registry.ts";

const missing = "Missing session ID. Please negotiate capabilities first.";
const invalid = "Invalid session ID. Please negotiate capabilities again.";
const lacks = (name: string) => `Client does not support required capability: ${name}`;

const registry = new Registry();
const strict = new Registry({ vars: { REQUIRE_NEGOTIATION: "true" } });
const tool = "/mcp/tool/list_servers";

describe("every message and status of a session", () => {
  it.each([
    ["no id, negotiation required", strict, "POST", tool, undefined, 401, missing],
    [
      "no id, negotiation required, resource",
      strict,
      "GET",
      "/mcp/resource?uri=capabilities://server",
      undefined,
      401,
      missing,
    ],
    ["an empty id, negotiation required", strict, "POST", tool, "", 401, missing],
    ["no id, tool", registry, "POST", tool, undefined, 403, lacks("sampling")],
    ["no id, stream", registry, "GET", "/mcp/subscription/stream", undefined, 403, lacks("notifications")],
    ["no id, changes", registry, "GET", "/mcp/session/changes", undefined, 401, missing],
    ["no id, end", registry, "DELETE", "/mcp/session", undefined, 401, missing],
    ["an unknown id", registry, "POST", tool, "0".repeat(64), 401, invalid],
    ["an unknown id, negotiation required", strict, "POST", tool, "0".repeat(64), 401, invalid],
    ["an id of the client's own choice", registry, "GET", "/mcp/session", "my-session", 401, invalid],
    ["a uuid", registry, "GET", "/mcp/session", crypto.randomUUID(), 401, invalid],
    ["a very long id", registry, "GET", "/mcp/session", "a".repeat(8_000), 401, invalid],
  ])("%s", async (_, at, method, path, id, status, message) => {
    const answer = await at.send(method, path, id === undefined ? {} : inSession(id));
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error: message });
  });

  it.each([
    [[], "POST", tool, 403, lacks("sampling")],
    [["sampling"], "POST", tool, 200, undefined],
    [["sampling"], "GET", "/mcp/subscription/stream", 403, lacks("notifications")],
    [["notifications"], "POST", tool, 403, lacks("sampling")],
    [
      ["notifications"],
      "GET",
      "/mcp/subscription/stream",
      409,
      'This session has no chosen capabilities. Negotiate with `extensions["dev.rollcall/context"]: {budget, task}`',
    ],
    [[], "GET", "/mcp/session", 200, undefined],
    [[], "GET", "/mcp/resource?uri=capabilities://server", 200, undefined],
  ])("a client with %j: %s %s is %d", async (capabilities, method, path, status, message) => {
    const { id } = await negotiate(registry, client(...capabilities));
    const answer = await registry.send(method, path, inSession(id));
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error: message });
  });

  it("says with a 401 how to get a session", async () => {
    const answer = await registry.send("GET", "/mcp/session", inSession("nonsense"));
    expect(answer.headers.get("WWW-Authenticate")).toBe('Session negotiate="/mcp/negotiate"');
    expect(answer.body).toEqual({
      error: invalid,
      code: "ErrorSessionInvalid",
      details: { hint: expect.stringContaining("POST /mcp/negotiate") },
    });
  });
});

describe("a client that never negotiated", () => {
  it("has a session that can do the basics, and that no one stored", async () => {
    const before = (await listDurableObjectIds(env.SESSIONS)).length;
    const answer = await registry.send("GET", "/mcp/session");
    expect(answer.body).toMatchObject({
      client_name: "anonymous",
      client_version: "unknown",
      client_capabilities: ["basic"],
      auth_context: null,
    });
    expect(answer.body).not.toHaveProperty("id");
    expect((await registry.send("GET", "/mcp/resource?uri=capabilities://server")).status).toBe(200);
    expect((await listDurableObjectIds(env.SESSIONS)).length).toBe(before);
  });
});

describe("the requirement table", () => {
  it("is the deployment's to change, the longest prefix first", async () => {
    const table = { "/mcp/tool/": ["com.example/own"], "/mcp/tool/list_servers": [], "/mcp/resource": ["sampling"] };
    const own = new Registry({ vars: { SESSION_REQUIREMENTS: JSON.stringify(table) } });
    const { id } = await negotiate(own, client("com.example/other"));
    expect((await own.send("POST", tool, inSession(id))).status).toBe(200);
    const other = await own.send("POST", "/mcp/tool/get_capability", inSession(id));
    expect(other.body.error).toBe(lacks("com.example/own"));
    const resource = await own.send("GET", "/mcp/resource?uri=capabilities://server", inSession(id));
    expect(resource.body.error).toBe(lacks("sampling"));
  });

  it.each(["[]", "nonsense", '{"/api/": ["x"]}', '{"/mcp/tool/": "sampling"}'])("is refused as %s", (text) => {
    expect(() => new Registry({ vars: { SESSION_REQUIREMENTS: text } })).toThrow(/SESSION_REQUIREMENTS must be JSON/);
  });
});

describe("a session id", () => {
  it("that was made up wakes no object", async () => {
    const before = await listDurableObjectIds(env.SESSIONS);
    const at = registry.services.usage.objectCalls;
    for (const id of ["f".repeat(64), "0123456789abcdef".repeat(4), env.TENANTS.idFromName("x").toString()]) {
      expect((await registry.send("GET", "/mcp/session", inSession(id))).status).toBe(401);
    }
    expect(registry.services.usage.objectCalls).toBe(at);
    expect(await listDurableObjectIds(env.SESSIONS)).toHaveLength(before.length);
  });

  it("is its subject's alone: to another it looks unknown", async () => {
    const [alice, bob] = [
      await token({ sub: "alice", tenants: ["acme"] }),
      await token({ sub: "bob", tenants: ["acme"] }),
    ];
    const { id } = await negotiate(registry, client("sampling"), alice);
    const foreign = await registry.send("GET", "/mcp/session", { token: bob, ...inSession(id) });
    const unknown = await registry.send("GET", "/mcp/session", { token: bob, ...inSession("0".repeat(64)) });
    expect([foreign.status, foreign.text]).toEqual([401, unknown.text]);
    expect((await registry.send("GET", "/mcp/session", inSession(id))).status).toBe(401);
    expect((await registry.send("DELETE", "/mcp/session", { token: bob, ...inSession(id) })).status).toBe(401);
    const own = await registry.send("GET", "/mcp/session", { token: alice, ...inSession(id) });
    expect(own.body).toMatchObject({
      id,
      auth_context: { subject: "alice", tenants: ["acme"], scopes: ["registry:read", "registry:publish"] },
    });
    expect(own.text).not.toContain(alice);
  });

  it("with the subject written behind it is no id, however warm the memo", async () => {
    const alice = await token({ sub: "alice" });
    const { id } = await negotiate(registry, client("sampling"), alice);
    expect((await registry.send("GET", "/mcp/session", { token: alice, ...inSession(id) })).status).toBe(200);
    for (const forged of [`${id} alice`, `${id} `, ` ${id} alice`, id.toUpperCase()]) {
      const answer = await registry.send("GET", "/mcp/session", inSession(forged));
      expect([forged, answer.status]).toEqual([forged, 401]);
    }
    const bob = await token({ sub: "bob" });
    expect((await registry.send("GET", "/mcp/session", { token: bob, ...inSession(id) })).status).toBe(401);
  });

  it("of a session without a token is not good with one", async () => {
    const { id } = await negotiate(registry, client("sampling"));
    expect((await registry.send("GET", "/mcp/session", inSession(id))).status).toBe(200);
    const named = await registry.send("GET", "/mcp/session", {
      token: await token({ sub: "anonymous" }),
      ...inSession(id),
    });
    expect(named.status).toBe(401);
  });

  it("does not stand for a token: a bad one is refused first", async () => {
    const { id } = await negotiate(registry, client("sampling"), await token({ sub: "alice" }));
    const answer = await registry.send("GET", "/mcp/session", { token: "nonsense", ...inSession(id) });
    expect([answer.status, answer.body.code]).toEqual([401, "ErrorUnauthorized"]);
  });
});

describe("expiry", () => {
  /** An isolate that remembers nothing. */
  const fresh = () => new Registry();

  it.each([
    [3_599, 200],
    [3_601, 401],
  ])("after %d idle seconds answers %d", async (seconds, status) => {
    const { id } = await negotiate(registry);
    await age(id, seconds);
    expect((await fresh().send("GET", "/mcp/session", inSession(id))).status).toBe(status);
  });

  it("slides with use, which is written down when the last one is over a minute old", async () => {
    const { id, answer } = await negotiate(registry);
    const opened = answer.body.session.last_activity;
    await age(id, 30);
    const early = await fresh().send("GET", "/mcp/session", inSession(id));
    expect(early.body.last_activity).toBeCloseTo(opened - 30, 1);
    await age(id, 31);
    const late = await fresh().send("GET", "/mcp/session", inSession(id));
    expect(late.body.last_activity).toBeGreaterThanOrEqual(opened);
    expect(late.body.expires_at).toBeCloseTo(late.body.last_activity + 3_600, 3);
  });

  it("is never put off by a memo", async () => {
    let now = Date.now();
    const isolate = new Registry({ now: () => now });
    const { id } = await negotiate(isolate);
    await age(id, 58);
    expect((await isolate.send("GET", "/mcp/session", inSession(id))).status).toBe(200);
    const calls = isolate.services.usage.objectCalls;
    now += 1_000;
    await isolate.send("GET", "/mcp/session", inSession(id));
    expect(isolate.services.usage.objectCalls).toBe(calls);
    // The use is due to be written down now, although the memo is not five seconds old.
    now += 2_000;
    await isolate.send("GET", "/mcp/session", inSession(id));
    expect(isolate.services.usage.objectCalls).toBe(calls + 1);
  });

  it("raced by two uses and the alarm is the same for all of them", async () => {
    const { id } = await negotiate(registry);
    await age(id, 3_601);
    const answers = await Promise.all([
      fresh().send("GET", "/mcp/session", inSession(id)),
      runDurableObjectAlarm(sessionStub(id)),
      fresh().send("GET", "/mcp/session", inSession(id)),
      fresh().send("DELETE", "/mcp/session", inSession(id)),
    ]);
    const statuses = answers.flatMap((answer) => (typeof answer === "boolean" ? [] : [answer.status]));
    expect(statuses).toEqual([401, 401, 401]);
    expect(await stored(id)).toEqual({ keys: [], alarm: null });
  });

  it("leaves nothing stored once the alarm has rung", async () => {
    const { id } = await negotiate(registry);
    expect((await stored(id)).alarm).toBeGreaterThan(Date.now());
    await age(id, 3_601);
    expect(await runDurableObjectAlarm(sessionStub(id))).toBe(true);
    expect(await stored(id)).toEqual({ keys: [], alarm: null });
  });

  it("waits when the alarm finds the session in use", async () => {
    const { id } = await negotiate(registry);
    expect(await runDurableObjectAlarm(sessionStub(id))).toBe(true);
    expect((await stored(id)).alarm).toBeGreaterThan(Date.now());
    expect((await fresh().send("GET", "/mcp/session", inSession(id))).status).toBe(200);
  });
});

describe("an end", () => {
  it("is at once where it was made, and within five seconds elsewhere", async () => {
    let now = Date.now();
    const [here, there] = [new Registry(), new Registry({ now: () => now })];
    const { id } = await negotiate(here);
    expect((await there.send("GET", "/mcp/session", inSession(id))).status).toBe(200);
    const ended = await here.send("DELETE", "/mcp/session", inSession(id));
    expect([ended.status, ended.body]).toEqual([200, { ended: id }]);
    expect((await here.send("GET", "/mcp/session", inSession(id))).status).toBe(401);
    // The delay that is accepted for asking the object at most once in five seconds.
    expect((await there.send("GET", "/mcp/session", inSession(id))).status).toBe(200);
    now += 5_001;
    expect((await there.send("GET", "/mcp/session", inSession(id))).status).toBe(401);
    expect(await stored(id)).toEqual({ keys: [], alarm: null });
  });

  it("is not undone by a check that was under way", async () => {
    const isolate = new Registry();
    const { id } = await negotiate(isolate);
    await Promise.all([
      isolate.send("GET", "/mcp/session", inSession(id)),
      isolate.send("DELETE", "/mcp/session", inSession(id)),
      isolate.send("GET", "/mcp/session", inSession(id)),
    ]);
    expect((await isolate.send("GET", "/mcp/session", inSession(id))).status).toBe(401);
  });

  it("is not undone when other caches need the memory", async () => {
    const isolate = new Registry({ vars: { CACHE_MB: "1" } });
    const { id } = await negotiate(isolate);
    for (let asked = 0; asked < 2; asked += 1) await isolate.send("GET", "/mcp/session", inSession(id));
    await isolate.send("DELETE", "/mcp/session", inSession(id));
    const { memory } = isolate.services;
    const other = memory.cache<true>("other");
    for (let key = 0; key < 2_000; key += 1) other.set(String(key), true, 1_000);
    expect((await isolate.send("GET", "/mcp/session", inSession(id))).status).toBe(401);
  });
});

describe("a check", () => {
  it("asks the object once, and not again within five seconds in the same isolate", async () => {
    let now = Date.now();
    const isolate = new Registry({ now: () => now });
    const { id } = await negotiate(isolate);
    const { usage: operations } = isolate.services;
    const cost = async () => {
      const before = operations.objectCalls;
      expect((await isolate.send("GET", "/mcp/session", inSession(id))).status).toBe(200);
      return operations.objectCalls - before;
    };
    expect(await cost()).toBe(1);
    expect(await cost()).toBe(0);
    now += 4_900;
    expect(await cost()).toBe(0);
    now += 200;
    expect(await cost()).toBe(1);
  });

  it("finds the session as it was after its object was evicted", async () => {
    const { id } = await negotiate(registry, client("sampling", "com.example/own"));
    const before = await new Registry().send("GET", "/mcp/session", inSession(id));
    await evictDurableObject(sessionStub(id));
    const after = await new Registry().send("GET", "/mcp/session", inSession(id));
    expect(after.body).toEqual(before.body);
    expect(after.body.client_capabilities).toEqual(["sampling", "com.example/own"]);
  });
});
