import { beforeAll, describe, expect, it } from "vitest";
import { ownResources } from "../../../src/mcp/resources/resources.ts";
import { McpCaller } from "../../../src/mcp/server/caller.ts";
import { getPrompt, ownPrompts } from "../../../src/mcp/server/prompts.ts";
import { callTool, listTools } from "../../../src/mcp/tools/tools.ts";
import { demoToken, loadDemo } from "../support/demo.ts";
import { drained, Registry } from "../support/registry.ts";

const registry = new Registry();
const principal = {
  ...{ subject: "p", tenants: [], scopes: ["registry:read"], admin: false, expiresAt: 9e15, anonymous: true as const },
};
const caller = new McpCaller(registry.services, principal);

beforeAll(async () => {
  await loadDemo(registry);
  await drained("demo");
});

const textOf = async (given: Record<string, string>) => {
  const { messages } = await getPrompt(caller, "discover", given);
  const content = messages[0]?.content;
  return content?.type === "text" ? content.text : "";
};

describe.each<Record<string, string>>([{ task: "rain" }, { task: "rain", budget: "300" }])("discover %j", (given) => {
  it("names only tools, prompts and arguments that there are", async () => {
    const text = await textOf(given);
    const tools = new Map(listTools().map((tool) => [tool.name, tool]));
    const words = new Set(text.match(/\b[a-z]+_[a-z_]+\b/g));
    const prompts = ownPrompts.map(({ name }) => name);
    for (const word of words) expect([...tools.keys(), ...prompts]).toContain(word);
    expect(words.size).toBeGreaterThan(4);
    for (const [, name = "", fields = ""] of text.matchAll(/\b(\w+_\w+) \{([^}]*)\}/g)) {
      const named = Array.from(fields.matchAll(/"?(\w+)"?(?=[:,]|$)/g), ([, field]) => field);
      const { inputSchema } = tools.get(name) ?? {};
      const prompt = ownPrompts.find((candidate) => candidate.name === name);
      const known = Object.keys(inputSchema?.properties ?? {}).concat(prompt?.arguments.map((one) => one.name) ?? []);
      for (const field of named.filter((one) => one !== "TASK" && !/^\d+$/.test(one ?? "")))
        expect(known).toContain(field);
    }
  });

  it("names only views that there are", async () => {
    const uris = (await textOf(given)).match(/capabilities:\/\/[\w{}/]+/g) ?? [];
    expect(uris.length).toBeGreaterThan(3);
    for (const uri of uris) {
      if (!uri.includes("{")) expect(ownResources.map((resource) => resource.uri)).toContain(uri);
      const path = uri.replace("capabilities://", "").replace("{tenant}", "demo").replace("{server}", "compose");
      const { status } = await registry.send("GET", `/api/mcp/capabilities/${path}`, { token: await demoToken() });
      expect([uri, status]).toEqual([uri, 200]);
    }
  });
});

it("discover says truly what get_capability adds to the tools view", async () => {
  expect(await textOf({ task: "rain" })).toContain("with its digest and flags under registry");
  const input = { tenant: "demo", id: "mcp.weather.get_forecast" };
  const result = await callTool("get_capability", input, { services: registry.services, principal });
  const { capability } = (result.ok ? result.value : {}) as { capability?: unknown };
  expect(capability).toMatchObject({
    registry: { digest: expect.stringMatching(/^sha256-/), flags: expect.any(Array) },
    inputSchema: { type: "object" },
  });
});
