import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, runCli, start, startCli, stopAll } from "./support/process.ts";

const node = "node_modules/.bin/node";

let scratch: string;
let url: string;
let token: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "rollcall-demo-"));
  const data = join(scratch, "data");
  const server = startCli("serve.ts", "--port", "0", "--data", data, "--var", "ALLOW_LOOPBACK_FETCH=true");
  [, url = ""] = await server.line(/ready (\S+)/);
  token = (await runCli("token.ts", "--data", data, "--tenant", "demo")).stdout.trim();
});

afterAll(async () => {
  await stopAll();
  await rm(scratch, { recursive: true, force: true });
});

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  return { status: response.status, text, body: (text.startsWith("{") ? JSON.parse(text) : undefined) as any };
}

// biome-ignore lint/suspicious/noExplicitAny: as above
const documented: [question: string, path: string, found: (data: any) => unknown][] = [
  ["a tool for two steps", "/api/search?task=what+will+the+weather+be%2C+then+tell+my+team+by+mail&limit=3", items],
  ["a cheap tool", "/api/search?q=weather&budget=100", items],
  ["tools that store", "/api/catalog?kind=tool&category=storage&status=active&limit=10", items],
  ["what is deprecated", "/api/catalog?status=deprecated", items],
  ["what it is replaced by", "/api/mcp/configs/demo/almanac", (data) => data.statusMessage],
  ["what a reviewer should refuse", "/api/mcp/capabilities/demo/suspicious", ({ registry }) => highest(registry.flags)],
  [
    "which generators there are",
    "/api/mcp/capabilities/demo/compose/generators",
    ({ generators }) => Object.keys(generators),
  ],
  ["operations of an OpenAPI document", "/api/mcp/capabilities/demo/petstore", ({ operations }) => operations],
  ["tools of an RTFS document", "/api/mcp/capabilities/demo/calendar", ({ tools }) => tools],
  ["operations of GraphQL", "/api/mcp/capabilities/demo/shop", ({ operations }) => operations],
  ["prompts and resources", "/api/mcp/capabilities/demo/library", ({ prompts }) => prompts],
  ["the log", "/api/changes/demo?since=0", items],
];

function items(data: { items: unknown[] }): unknown[] {
  return data.items;
}

function highest(flags: { severity: string }[]): unknown[] {
  return flags.filter(({ severity }) => severity === "high");
}

describe("the demo answers what the docs ask", () => {
  it.each(documented)("%s", async (_, path, found) => {
    const { status, body } = await send("GET", path);
    expect(status).toBe(200);
    // A view has no envelope.
    expect(found(body.data ?? body)).toEqual(expect.toSatisfy((value: { length: number }) => value.length > 0));
  });

  it("two steps get a tool each", async () => {
    const task = "Find out what the weather will be, then tell my team by mail";
    const { body } = await send("GET", `/api/search?task=${encodeURIComponent(task)}&limit=5`);
    const servers = body.data.items.map(({ server }: { server: string }) => server);
    expect(servers).toEqual(expect.arrayContaining(["weather", "mail"]));
  });

  it("the index that fits a budget", async () => {
    const wanted = { task: "cancel an order", budget: 60, servers: ["store"] };
    const { body } = await send("POST", "/api/index/demo/budget", wanted);
    expect((body.data ?? body).items[0].id).toBe("mcp.store.cancel_order");
  });

  it("a capability as RTFS", async () => {
    const { text } = await send("GET", "/api/capabilities/demo/mcp.calendar.find_free_time?format=rtfs");
    expect(text).toContain('(capability "mcp.calendar.find_free_time"');
  });

  it("only what is high there, and nothing flagged elsewhere but what is meant to be", async () => {
    const { body } = await send("GET", "/api/mcp/configs?tenant=demo&limit=100");
    for (const { name } of body.data.items) {
      const flags = (await send("GET", `/api/mcp/capabilities/demo/${name}`)).body.data?.registry.flags ?? [];
      expect([name, highest(flags).length > 0]).toEqual([name, name === "suspicious"]);
    }
  });
});

describe("on this machine", () => {
  let peer: Running;
  let receiver: Running;

  it("examples/mcp-server.ts is a source", async () => {
    peer = start(node, ["examples/mcp-server.ts", "--port", "0"]);
    const [, address = ""] = await peer.line(/MCP server at (\S+);/);
    const sources = [{ id: "main", type: "streamable-http", url: address }];
    await send("POST", "/api/mcp/configs", { tenant: "demo", name: "dice", sources });
    const { body } = await send("POST", "/api/mcp/capabilities/demo/dice/refresh");
    expect(body.data.sources).toMatchObject([{ id: "main", status: "live" }]);
    const found = await send("GET", "/api/mcp/capabilities/demo/dice");
    expect(found.body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["flip_coin", "roll_dice"]);
  });

  it("examples/receiver.ts hears of changes, and checks who says so", async () => {
    // The address must be known before there is a secret: a first receiver finds a free port.
    const free = start(node, ["examples/receiver.ts", "--port", "0"]);
    const [, address = "", port = ""] = await free.line(/Receiving at (\S+:(\d+)\/);/);
    free.signal("SIGTERM");
    await free.finished;
    const { body } = await send("POST", "/api/subscriptions", { tenant: "demo", url: address });
    receiver = start(node, ["examples/receiver.ts", "--port", port, "--secret", body.data.secret]);
    await receiver.line(/Receiving/);
    const tools = [{ name: "say_hello", inputSchema: { type: "object" } }];
    await send("PUT", "/api/mcp/capabilities/demo/hello", { tools });
    await receiver.line(/^ {2}additive: tool say_hello of hello$/);
    const forged = await fetch(address, { method: "POST", body: "{}" });
    expect(forged.status).toBe(401);
    await receiver.line(/refused: no signature/);
  });

  it.each(["mcp-server.ts", "receiver.ts"])("examples/%s explains itself, and refuses typos", async (file) => {
    const help = await start(node, [`examples/${file}`, "--help"]).finished;
    expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`Usage: npx node examples/${file}`) });
    const typo = await start(node, [`examples/${file}`, "--prot", "1"]).finished;
    expect(typo).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("did you mean --port?") });
  });
});
