import { beforeAll, describe, expect, it } from "vitest";
import { isKept, isolate, member, outsider, path, said, seed, tenant, untilKept } from "../support/kept-answers.ts";
import { type Registry, tools } from "../support/registry.ts";

beforeAll(seed);

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
