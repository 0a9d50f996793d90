import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as OldTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { publishing, publishingFactory } from "../../../packages/rollcall/src/publisher/index.ts";
import { createHook, until } from "./publisher-support.ts";

const done = async () => ({ content: [] });
const info = { name: "weather", version: "1.4.0" };
const newClient = (mode: "legacy" | "auto" = "legacy") =>
  new Client({ name: "test", version: "1" }, mode === "auto" ? { versionNegotiation: { mode } } : {});

function oldServer(): OldServer {
  const server = new OldServer(info, { instructions: "Ask for places." });
  server.registerTool("get_forecast", { description: "Forecast", inputSchema: { place: z.string() } }, done);
  return server;
}

function newServer(): McpServer {
  const server = new McpServer(info, { instructions: "Ask for places." });
  server.registerTool("get_forecast", { description: "Forecast", inputSchema: z.object({ place: z.string() }) }, done);
  return server;
}

describe("a server publishes itself at start and after a tool is added", () => {
  it("SDK 1, one client", async () => {
    const hook = createHook();
    const server = oldServer();
    const [near, far] = OldTransport.createLinkedPair();
    await server.connect(publishing(far, hook.options));
    const client = new OldClient({ name: "test", version: "1" });
    await client.connect(near);
    await until(() => expect(hook.names()).toEqual([["get_forecast"]]));
    expect(hook.events[0]?.manifest).toMatchObject({ version: "1.4.0", instructions: "Ask for places.", prompts: [] });
    server.registerTool("add_alert", { description: "Alert" }, done);
    server.sendToolListChanged();
    await until(() => expect(hook.names().at(-1)).toEqual(["add_alert", "get_forecast"]));
    // Two changes within half a second are one event.
    expect(hook.events).toHaveLength(2);
    expect(hook.events[1]?.sequence).toBeGreaterThan(hook.events[0]?.sequence ?? 0);
    expect((await client.listTools()).tools).toHaveLength(2);
    expect(hook.lines).toEqual([]);
    await client.close();
  });

  it("SDK 1, sessions over HTTP: asked once for a process, not for a session", async () => {
    const hook = createHook();
    const connect = async () => {
      const server = oldServer();
      const [near, far] = OldTransport.createLinkedPair();
      await server.connect(publishing(Object.assign(far, { handleRequest: () => {} }), hook.options));
      const client = new OldClient({ name: "test", version: "1" });
      await client.connect(near);
      return { server, client };
    };
    const [first, second] = [await connect(), await connect()];
    await until(() => expect(hook.events).toHaveLength(1));
    await first.client.close();
    for (const { server } of [second, await connect()]) server.registerTool("add_alert", {}, done);
    await until(() => expect(hook.names().at(-1)).toEqual(["add_alert", "get_forecast"]));
    expect(hook.events).toHaveLength(2);
  });

  it.each(["legacy", "auto"] as const)("SDK 2, stdio by a factory, a client of %s", async (mode) => {
    const hook = createHook();
    const made: McpServer[] = [];
    const make = () => {
      const server = newServer();
      made.push(server);
      return server;
    };
    const [near, far] = InMemoryTransport.createLinkedPair();
    serveStdio(publishingFactory(make, hook.options), { transport: far });
    const client = newClient(mode);
    await client.connect(near);
    expect((await client.listTools()).tools).toHaveLength(1);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    await until(() => expect(hook.names()).toEqual([["get_forecast"]]));
    for (const server of made) server.registerTool("add_alert", {}, done);
    await until(() => expect(hook.names().at(-1)).toEqual(["add_alert", "get_forecast"]));
    await client.close();
  });

  it.each(["legacy", "auto"] as const)("SDK 2, its transport wrapped, a client of %s", async (mode) => {
    const hook = createHook();
    const [near, far] = InMemoryTransport.createLinkedPair();
    serveStdio(newServer, { transport: publishing(far, hook.options) });
    const client = newClient(mode);
    await client.connect(near);
    // What the kit asks does not choose the revision for the client.
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    expect((await client.listTools()).tools).toHaveLength(1);
    await until(() => expect(hook.names()).toEqual([["get_forecast"]]));
    await client.close();
  });

  it("SDK 2, a stateless handler: what is left to do goes to waitUntil", async () => {
    const hook = createHook();
    const waiting: Promise<unknown>[] = [];
    let count = 0;
    const make = () => {
      count += 1;
      return newServer();
    };
    const options = { ...hook.options, waitUntil: (work: Promise<unknown>) => void waiting.push(work) };
    const handler = createMcpHandler(publishingFactory(make, options));
    const client = newClient("auto");
    const fetchIt = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
    await client.connect(new StreamableHTTPClientTransport(new URL("http://x/mcp"), { fetch: fetchIt }));
    await client.listTools();
    await client.listTools();
    await Promise.all(waiting);
    expect(hook.names()).toEqual([["get_forecast"]]);
    // One for each request, and one more in all.
    expect(count).toBe(4);
    await client.close();
  });

  it("a factory that answers the same server twice is left alone", async () => {
    const hook = createHook();
    const server = newServer();
    const factory = publishingFactory(() => server, hook.options);
    const [near, far] = InMemoryTransport.createLinkedPair();
    await (await factory({})).connect(far);
    const client = newClient();
    await client.connect(near);
    expect((await client.listTools()).tools).toHaveLength(1);
    expect(hook.events).toEqual([]);
    await client.close();
  });
});

describe("the server is unharmed", () => {
  it("lists that are read in pages, and a list that fails, publish all or nothing", async () => {
    const hook = createHook();
    const pages = [["a", "b"], ["c"]];
    const sent: { id?: unknown; result?: unknown }[] = [];
    const transport = {
      start: async () => {},
      close: async () => {},
      send: async (message: object) => void sent.push(message),
      onmessage: undefined as undefined | ((message: Record<string, unknown>) => void),
    };
    let fails = true;
    transport.onmessage = ({ id, method, params }) => {
      if (method === "initialize") void transport.send({ id, result: { capabilities: { tools: {}, prompts: {} } } });
      if (method === "prompts/list") void transport.send({ id, error: { code: fails ? -32603 : -32601 } });
      if (method !== "tools/list") return;
      const page = Number((params as { cursor?: string }).cursor ?? 0);
      const tools = pages[page]?.map((name) => ({ name })) ?? [];
      void transport.send({ id, result: { tools, nextCursor: page === 0 ? "1" : undefined } });
    };
    const wrapped = publishing(transport, hook.options);
    await wrapped.start();
    const initialize = (id: number) => wrapped.onmessage?.({ jsonrpc: "2.0", id, method: "initialize", params: {} });
    initialize(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(hook.events).toEqual([]);
    fails = false;
    publishing(transport, hook.options);
    await wrapped.start();
    initialize(2);
    await until(() => expect(hook.names()).toEqual([["a", "b", "c"]]));
    // Nothing of ours left by the transport.
    expect(sent.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("without a hook there is one line, and nothing else", async () => {
    const lines: string[] = [];
    const [, far] = OldTransport.createLinkedPair();
    const { send } = far;
    const options = { url: "", log: (line: string) => lines.push(line) };
    expect(publishing(publishing(far, options), options)).toBe(far);
    expect(far.send).toBe(send);
    expect(lines).toEqual(["rollcall: not publishing: ROLLCALL_HOOK_URL and ROLLCALL_HOOK_SECRET are not set"]);
  });

  it.each([
    [{ url: "registry.test" }, "ROLLCALL_HOOK_URL is not an http or https address"],
    [{ release: "v1.2" }, "ROLLCALL_RELEASE is not a build number"],
  ])("%j is said", (given, reason) => {
    const { options, lines } = createHook();
    publishing(OldTransport.createLinkedPair()[0], { ...options, ...given });
    expect(lines).toEqual([`rollcall: not publishing: ${reason}`]);
  });

  it("a frozen transport stays as it is", () => {
    const { options } = createHook();
    const frozen = Object.freeze({ start: async () => {}, send: async () => {}, close: async () => {} });
    expect(publishing(frozen, options)).toBe(frozen);
  });
});
