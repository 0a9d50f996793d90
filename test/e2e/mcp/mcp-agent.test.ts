import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Peer, startPeer } from "../support/peers/introspecting.ts";
import { stopAll } from "../support/process.ts";
import { type RegistryProcess, startRegistry } from "../support/registry-process.ts";

let registry: RegistryProcess;
let library: Peer;
let seen: () => Promise<{ requests: { method?: string; authorization?: string }[] }>;

beforeAll(async () => {
  library = await startPeer("library-peer.ts");
  seen = async () => (await fetch(`${library.url}/seen`)).json() as never;
  registry = await startRegistry("town", { ALLOW_LOOPBACK_FETCH: "true" });
  const sources = [{ id: "main", type: "streamable-http", url: `${library.url}/mcp` }];
  const config = { tenant: "town", name: "library", visibility: "public", sources };
  expect((await registry.send("POST", "/api/mcp/configs", config)).status).toBe(201);
  // Its tenant's first look reads the source.
  expect((await registry.send("GET", "/api/mcp/capabilities/town/library")).status).toBe(200);
  // Something else to choose from.
  await registry.send("POST", "/api/mcp/configs", { tenant: "town", name: "parks", visibility: "public" });
  const tools = [{ name: "plant_tree", description: "Plants a tree.", inputSchema: { type: "object" } }];
  await registry.send("PUT", "/api/mcp/capabilities/town/parks", { tools });
  await seen();
});

afterAll(async () => {
  await registry?.remove();
  await stopAll();
});

interface Schema {
  type?: string;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** Arguments from a task's own words and the schema, with no idea of what either is about. */
function argumentsFor(schema: Schema, words: string[]): Record<string, unknown> {
  const left = [...words];
  const take = (fits: (word: string) => boolean) => left.splice(left.findIndex(fits), 1)[0] ?? "";
  const fitting = ({ type, enum: choices, pattern, minimum = -Infinity, maximum = Infinity }: Schema) => {
    if (choices !== undefined) return take((word) => choices.includes(word));
    if (pattern !== undefined) return take((word) => new RegExp(pattern).test(word));
    if (type === "integer")
      return Number(take((word) => /^\d+$/.test(word) && Number(word) >= minimum && Number(word) <= maximum));
    return take(() => true);
  };
  const properties = Object.entries(schema.properties ?? {});
  const required = properties.filter(([name]) => schema.required?.includes(name));
  return Object.fromEntries(required.map(([name, one]) => [name, fitting(one)]));
}

it("an agent that knows nothing but the URL finds a capability for its task and calls it at its publisher", async () => {
  const task = "reserve the library book 9783161484100 and pick it up at the market branch within 5 days";
  const connect = async (url: string) => {
    const client = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  };
  const agent = await connect(`${registry.url}/mcp`);
  const read = async (uri: string) => {
    const [content] = (await agent.readResource({ uri })).contents as unknown as [{ text: string }];
    return JSON.parse(content.text);
  };

  // Told by the server itself how to go about it.
  expect(agent.getInstructions()).toContain("discover");
  const { messages } = await agent.getPrompt({ name: "discover", arguments: { task } });
  const steps = JSON.stringify(messages);
  for (const word of ["capabilities://server", "search_capabilities", "get_capability", "use_capability"]) {
    expect(steps).toContain(word);
  }

  // 1. The registry: version, features, limits.
  const self = await read("capabilities://server");
  expect(self).toMatchObject({ name: "rollcall", features: { capability_discovery: true } });

  // 2. What there is for the task, and what its server says of itself.
  const found = await agent.callTool({ name: "search_capabilities", arguments: { task: task, kinds: ["tool"] } });
  const [best] = (found.structuredContent as { items: { id: string; tenant: string; server: string; name: string }[] })
    .items;
  if (best === undefined) throw new Error("nothing was found");
  expect(best).toMatchObject({ tenant: "town", server: "library", name: "reserve_book" });
  expect((await read(`capabilities://${best.tenant}/${best.server}/server`)).tool_count).toBe(2);

  // 3. Its schema, the same in the view and by itself; generators and resources: it has none.
  const { tools_by_category } = await read(`capabilities://${best.tenant}/${best.server}/tools`);
  const inView = Object.values(tools_by_category as Record<string, { name: string; input_schema: Schema }[]>)
    .flat()
    .find(({ name }) => name === best.name);
  const { tenant, id } = best;
  const got = await agent.callTool({ name: "get_capability", arguments: { tenant, id } });
  const { capability } = got.structuredContent as { capability: { name: string; inputSchema: Schema } };
  expect(inView?.input_schema).toEqual(capability.inputSchema);
  expect((await read(`capabilities://${tenant}/${best.server}/generators`)).metadata.generator_count).toBe(0);
  await read(`capabilities://${tenant}/${best.server}/resources`);

  // 4. How to call it, and where.
  const use = await agent.getPrompt({ name: "use_capability", arguments: { tenant, id, task } });
  const document = use.messages.map(({ content }) => content).find(({ type }) => type === "resource");
  const { runtime } = JSON.parse((document as unknown as { resource: { text: string } }).resource.text);

  // 5. The call, at the publisher's own server.
  const publisher = await connect(runtime.url.declared);
  const given = argumentsFor(capability.inputSchema, task.split(" "));
  expect(given).toEqual({ isbn: "9783161484100", branch: "market", days: 5 });
  const answer = await publisher.callTool({ name: capability.name, arguments: given });
  expect(answer.isError).toBeFalsy();
  expect(answer.structuredContent).toEqual({ reserved: true, until_days: 5, branch: "market" });
  await publisher.close();
  await agent.close();

  const { requests } = await seen();
  expect(requests.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  expect(requests.every(({ authorization }) => authorization === undefined)).toBe(true);
});
