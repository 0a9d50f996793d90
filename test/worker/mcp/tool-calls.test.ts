import { describe, expect, it, vi } from "vitest";
import { EventReader } from "../support/event-reader.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { capabilities, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const events = { Accept: "text/event-stream" };
const full = ["sampling", "progress_tracking", "streaming", "cancellation", "batch_requests"];

/** A session of a client with these capabilities. */
async function session(...declared: string[]) {
  const { id } = await negotiate(registry, client(...declared));
  const { headers } = inSession(id);
  return {
    call: (name: string, body: unknown, more: Record<string, string> = {}) =>
      registry.send("POST", `/mcp/tool/${name}`, { body, headers: { ...headers, ...more } }),
    open: (name: string, body: unknown, signal?: AbortSignal) =>
      registry.fetch("POST", `/mcp/tool/${name}`, {
        body,
        headers: { ...headers, ...events },
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

describe("a tool call", () => {
  it("answers the tool's result", async () => {
    const { call } = await session("sampling");
    const answer = await call("list_servers", { limit: 1 });
    expect([answer.status, answer.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
    expect(answer.body).toHaveProperty("items");
  });

  it.each([
    ["an unknown tool", "no_such_tool", {}, 404, "ErrorToolNotFound", "available: list_servers"],
    ["an unknown argument", "list_servers", { limits: 1 }, 422, "ErrorToolArguments", "known: "],
    ["a bad argument", "list_servers", { limit: 0 }, 422, "ErrorToolArguments", "/limit"],
    ["text", "list_servers", '"text"', 422, "ErrorToolArguments", "must be an object"],
    ["no JSON", "list_servers", "{", 400, "ErrorInvalidBody", "Invalid JSON"],
    ["a key twice", "list_servers", '{"limit":1,"limit":2}', 400, "ErrorInvalidBody", "limit"],
  ])("with %s is refused by name", async (_, name, body, status, code, message) => {
    const { call } = await session("sampling");
    const answer = await call(name, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.error).toContain(message);
  });

  it("acts with the token of the request, not with that of the negotiation", async () => {
    const [wide, narrow] = [await token({ sub: "x", tenants: ["calls"] }), await token({ sub: "x", tenants: [] })];
    await registry.send("PUT", capabilities("calls", "s"), { token: wide, body: tools("one") });
    const { id } = await negotiate(registry, client("sampling"), wide);
    const read = (bearer: string) =>
      registry.send("POST", "/mcp/tool/whats_changed", { token: bearer, body: { tenant: "calls" }, ...inSession(id) });
    expect((await read(wide)).status).toBe(200);
    expect((await read(narrow)).status).toBe(403);
  });
});

describe("progress", () => {
  it("comes as events to a client that declared it and asks for it", async () => {
    const { open } = await session(...full);
    const response = await open("list_servers", [{}, {}, { limit: 0 }]);
    expect(response.headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
    const reader = new EventReader(response);
    const told = [await reader.next(), await reader.next(), await reader.next()];
    expect(told.map((event) => [event?.name, event?.data.progress, event?.data.total])).toEqual([
      ["progress", 1, 3],
      ["progress", 2, 3],
      ["progress", 3, 3],
    ]);
    const result = await reader.next();
    expect(result?.name).toBe("result");
    expect(result?.data).toMatchObject([{ result: {} }, { result: {} }, { code: "ErrorToolArguments" }]);
    expect(await reader.next()).toBeUndefined();
  });

  it("of a call that fails ends in an error event", async () => {
    const { open } = await session(...full);
    const reader = new EventReader(await open("no_such_tool", {}));
    expect(await reader.next()).toMatchObject({ name: "error", data: { code: "ErrorToolNotFound" } });
    expect(await reader.next()).toBeUndefined();
  });

  it.each([
    [["sampling", "progress_tracking", "batch_requests"]],
    [["sampling", "streaming", "batch_requests"]],
    [["sampling", "batch_requests"]],
  ])("does not come to a client with %j, which gets the answer whole", async (declared) => {
    const { call } = await session(...declared);
    const answer = await call("list_servers", [{}], events);
    expect(answer.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(answer.body).toMatchObject([{ result: {} }]);
  });

  it("does not come to a client that does not ask for it", async () => {
    const { call } = await session(...full);
    expect((await call("list_servers", {})).headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  });
});

describe("a batch", () => {
  it("is for clients that declared it", async () => {
    const { call } = await session("sampling");
    const answer = await call("list_servers", [{}]);
    expect([answer.status, answer.body.error]).toEqual([
      403,
      "Client does not support required capability: batch_requests",
    ]);
  });

  it.each([
    [0, "The batch is empty"],
    [21, "A batch has at most 20 items in this session; this one has 21"],
  ])("of %d is refused", async (size, message) => {
    const { call } = await session("sampling", "batch_requests");
    const answer = await call("list_servers", Array(size).fill({}));
    expect(answer.status).toBe(422);
    expect(answer.body.error).toContain(message);
  });

  it("answers each item for itself, in order", async () => {
    const { call } = await session("sampling", "batch_requests");
    const answer = await call("list_servers", [{ limit: 1 }, { limit: "x" }, {}]);
    expect(answer.status).toBe(200);
    expect(answer.body.map((one: object) => Object.keys(one)[0])).toEqual(["result", "error", "result"]);
  });
});

describe("leaving", () => {
  /** How many objects the calls of a batch had asked when the client left after the first, and how many in the end. */
  async function leaveAfterOne(declared: string[]) {
    const { open } = await session(...declared);
    const { usage: operations } = registry.services;
    const before = operations.objectCalls;
    const reader = new EventReader(await open("list_servers", Array(20).fill({})));
    await reader.named("progress");
    await reader.leave();
    await vi.waitFor(() => {
      const seen = operations.objectCalls;
      return new Promise<void>((resolve, reject) => {
        setTimeout(() => (operations.objectCalls === seen ? resolve() : reject(new Error("still at work"))), 50);
      });
    }, 5_000);
    return operations.objectCalls - before;
  }

  it("stops the work of a client that declared cancellation, and only then", async () => {
    const stopped = await leaveAfterOne(full);
    const finished = await leaveAfterOne(full.filter((name) => name !== "cancellation"));
    expect(finished).toBeGreaterThanOrEqual(20);
    expect(stopped).toBeLessThan(finished);
  });

  it("before the call begins is a cancelled call", async () => {
    const { open } = await session("sampling", "cancellation");
    const left = new AbortController();
    left.abort();
    const answer = await open("list_servers", {}, left.signal);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([499, "ErrorToolCancelled"]);
  });
});

describe("a resource", () => {
  it("is read by its URI, with or without a negotiation", async () => {
    const { id } = await negotiate(registry, client());
    for (const options of [inSession(id), {}]) {
      const answer = await registry.send("GET", "/mcp/resource?uri=capabilities://server", options);
      expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "application/json; charset=utf-8"]);
      expect(answer.body).toBeTypeOf("object");
    }
  });

  it.each([
    ["/mcp/resource", 400, "uri is missing: say which resource"],
    ["/mcp/resource?uri=", 400, "uri is missing: say which resource"],
    ["/mcp/resource?uri=capabilities://nonsense", 404, "there are server, tools"],
    ["/mcp/resource?uri=file:///etc/passwd", 404, "Unknown resource"],
    ["/mcp/resource?url=capabilities://server", 400, "Unknown query parameter"],
  ])("%s is %d", async (path, status, message) => {
    const answer = await registry.send("GET", path);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(message);
  });
});
