import { describe, expect, it } from "vitest";
import { GeneratorsView, ResourcesView, ServerView, ToolsView } from "../../../src/registry/views/schema.ts";
import { Registry } from "../support/registry.ts";

const registry = new Registry();
const schemas = { server: ServerView, tools: ToolsView, resources: ResourcesView, generators: GeneratorsView };

describe("views of the registry itself", () => {
  it.each(Object.entries(schemas))("%s fits its schema, for anyone", async (name, schema) => {
    const { status, body } = await registry.send("GET", `/api/mcp/capabilities/${name}`);
    expect(status).toBe(200);
    expect(schema.safeParse(body).success).toBe(true);
  });

  it("say what is really running", async () => {
    const { body } = await registry.send("GET", "/api/mcp/capabilities/server");
    expect(body).toMatchObject({
      name: "rollcall",
      features: { authentication: true, identity_provider_tokens: false },
    });
    expect(body.limits.max_manifest_bytes).toBe(registry.services.config.bounds.manifestBytes);
    expect(body.runtime).toMatchObject({
      platform: "workerd",
      compatibility_date: "2026-07-30",
      hono: expect.stringMatching(/^4\./),
    });
    const closed = new Registry({ vars: { JWT_SECRET: "", READ_LIMIT: "7/9" } as Partial<Env> });
    const other = await closed.send("GET", "/api/mcp/capabilities/server");
    expect(other.body).toMatchObject({ features: { authentication: false }, limits: { reads_per_second: 7 } });
  });

  it("count what they show", async () => {
    const server = (await registry.send("GET", "/api/mcp/capabilities/server")).body;
    const { metadata, tools_by_category } = (await registry.send("GET", "/api/mcp/capabilities/tools")).body;
    const shown = Object.values(tools_by_category as Record<string, unknown[]>).flat().length;
    expect([server.tool_count, metadata.total_count]).toEqual([shown, shown]);
    expect(shown).toBeGreaterThan(20);
  });

  it("answer resource_not_found for any other", async () => {
    const { status, body } = await registry.send("GET", "/api/mcp/capabilities/acme");
    expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
  });
});
