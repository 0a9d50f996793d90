import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as V1Transport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start, stopAll } from "../support/process.ts";
import { type RegistryProcess, startRegistry } from "../support/registry-process.ts";

/** Clients that others wrote, as they come. */
let registry: RegistryProcess;
let url: URL;
const tenant = "library";
const server = `capabilities://${tenant}/desk/tools`;

const book = (name: string) => ({
  name,
  description: "Reserves a book for a reader.",
  inputSchema: { type: "object", properties: { isbn: { type: "string" } }, required: ["isbn"] },
});
const publish = (...names: string[]) =>
  registry.send("PUT", `/api/mcp/capabilities/${tenant}/desk`, { tools: names.map(book) });

beforeAll(async () => {
  registry = await startRegistry(tenant);
  url = new URL(`${registry.url}/mcp`);
  await registry.send("POST", "/api/mcp/configs", { tenant, name: "desk", visibility: "public" });
  expect((await publish("reserve_book")).status).toBe(201);
});

afterAll(async () => {
  await registry?.remove();
  await stopAll();
});

const template = { type: "ref/resource" as const, uri: "capabilities://{tenant}/{name}/{view}" };
const info = { name: "e2e", version: "1.0.0" };

/** What each of them must be able to do; the two SDKs have the same methods for it. */
async function exercise(client: Pick<Client, "listTools" | "callTool" | "readResource" | "complete" | "getPrompt">) {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("search_capabilities");
  const called = await client.callTool({ name: "search_capabilities", arguments: { task: "reserve a book" } });
  expect(called.structuredContent).toMatchObject({ items: [{ tenant, name: "reserve_book" }] });
  const { contents } = await client.readResource({ uri: server });
  const [{ text }] = contents as unknown as [{ text: string }];
  expect(JSON.parse(text).metadata.total_count).toBe(1);
  const argument = { name: "name", value: "de" };
  const { completion } = await client.complete({ ref: template, argument, context: { arguments: { tenant } } });
  expect(completion.values).toEqual(["desk"]);
  const prompt = await client.getPrompt({ name: "discover", arguments: { task: "reserve a book" } });
  expect(prompt.messages).toHaveLength(1);
}

describe("the SDK of 2026", () => {
  it.each([
    ["auto", "auto", "modern"],
    ["pinned", { pin: "2026-07-28" }, "modern"],
    ["legacy", "legacy", "legacy"],
  ] as const)("in its mode %s", async (_, mode, era) => {
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url));
    expect(client.getProtocolEra()).toBe(era);
    await exercise(client);
    await client.close();
  });

  it("listens to a resource and hears of a publish", async () => {
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(url));
    const updated = new Promise<string>((resolve) => {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
    });
    const subscription = await client.listen({ resourceSubscriptions: [server] });
    expect((await publish("reserve_book", "return_book")).status).toBe(200);
    expect(await updated).toBe(server);
    await subscription.close();
    await client.close();
    expect((await publish("reserve_book")).status).toBe(200);
  });

  it("sends its token where one is needed", async () => {
    const requestInit = { headers: { Authorization: `Bearer ${registry.token}` } };
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    const changes = await client.callTool({ name: "whats_changed", arguments: { tenant } });
    expect(changes.isError).toBeFalsy();
    await client.close();
  });
});

it("the SDK of 2025", async () => {
  const client = new V1Client(info);
  await client.connect(new V1Transport(url) as Parameters<typeof client.connect>[0]);
  await exercise(client as unknown as Client);
  await client.close();
});

describe("the Inspector", () => {
  const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
  const inspector = join(dirname(manifest), "clients/launcher/build/index.js");
  const node = join(import.meta.dirname, "../../../node_modules/.bin/node");

  async function inspect(era: string, ...args: string[]) {
    const target = ["--cli", url.href, "--transport", "http", "--protocol-era", era];
    const { exitCode, stdout, stderr } = await start(node, [inspector, ...target, ...args]).finished;
    expect(exitCode, stderr).toBe(0);
    return JSON.parse(stdout);
  }

  it.each(["modern", "legacy"])("speaks to it as a %s client", async (era) => {
    const listed = await inspect(era, "--method", "tools/list");
    expect(listed.tools).toHaveLength(9);
    const search = ["--method", "tools/call", "--tool-name", "search_capabilities", "--tool-arg", "task=reserve"];
    const called = await inspect(era, ...search);
    expect(called.structuredContent.items[0]).toMatchObject({ tenant, name: "reserve_book" });
    const read = await inspect(era, "--method", "resources/read", "--uri", server);
    expect(JSON.parse(read.contents[0].text).metadata.total_count).toBe(1);
    const prompts = await inspect(era, "--method", "prompts/list");
    expect(prompts.prompts).toHaveLength(2);
  });
});
