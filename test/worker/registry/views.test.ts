import { beforeAll, describe, expect, it } from "vitest";
import { GeneratorsView, ResourcesView, ServerView, ToolsView } from "../../../src/registry/views/schema.ts";
import { capabilities, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const schemas = { server: ServerView, tools: ToolsView, resources: ResourcesView, generators: GeneratorsView };
let member: string;

beforeAll(async () => {
  member = await token({ tenants: ["views"] });
  const manifest = {
    ...tools("views_a", "views_b"),
    version: "2.0.0",
    generators: [{ type: "jinja2" }],
    resources: [{ uri: "config://all" }],
    validators: [{ name: "links" }],
  };
  await registry.send("PUT", capabilities("views", "s"), { token: member, body: manifest });
});

const view = (name: string, headers: Record<string, string> = {}) =>
  registry.send("GET", `${capabilities("views", "s")}/${name}`, { token: member, headers });

describe("views of a server", () => {
  it.each(Object.entries(schemas))("%s fits its schema, without an envelope", async (name, schema) => {
    const { status, body, headers } = await view(name);
    expect(status).toBe(200);
    expect(schema.safeParse(body).success).toBe(true);
    expect(headers.get("ETag")).toMatch(/^W\/"sha256-/);
    expect(headers.get("Rollcall-Generation")).toBe("1");
  });

  it("revalidate each by its own tag", async () => {
    const tags = await Promise.all(
      ["server", "tools"].map(async (name) => (await view(name)).headers.get("ETag") ?? ""),
    );
    expect(new Set(tags).size).toBe(2);
    expect((await view("server", { "If-None-Match": tags[0] ?? "" })).status).toBe(304);
    expect((await view("server", { "If-None-Match": tags[1] ?? "" })).status).toBe(200);
  });

  it("lose a tool that is switched off", async () => {
    const items = [{ kind: "tool", name: "views_b", enabled: false }];
    await registry.send("PATCH", capabilities("views", "s"), { token: member, body: { items } });
    expect((await view("server")).body.tool_count).toBe(1);
    expect((await view("tools")).text).not.toContain("views_b");
  });

  it("include those the manifest brings, and the old name of the generators", async () => {
    expect((await view("validators")).body).toMatchObject({
      validators: [{ name: "links" }],
      metadata: { total_count: 1 },
    });
    expect((await view("decision_tree")).body).toMatchObject({ deprecated: true, generators: { jinja2: {} } });
  });

  it("are listed in the server view, those of the manifest too", async () => {
    const { views } = (await view("server")).body;
    expect(views).toEqual(["server", "tools", "resources", "generators", "validators"]);
    for (const name of views) expect((await view(name)).status).toBe(200);
  });

  it.each(["nothing", "Tools", "features", "__proto__", "operations"])(
    "answer resource_not_found for %s, and say which there are",
    async (name) => {
      const { status, body } = await view(name);
      expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
      expect(body.error.message).toContain(
        `There is no view "${name}"; there are server, tools, resources, generators, validators`,
      );
    },
  );

  it("name none of them to those who may not read the server", async () => {
    const stranger = await token({ tenants: ["other"] });
    for (const name of ["nothing", "Tools"]) {
      const answer = await registry.send("GET", `${capabilities("views", "s")}/${name}`, { token: stranger });
      expect([answer.status, answer.text.includes("validators")]).toEqual([403, false]);
    }
  });

  it("need a token with the tenant", async () => {
    const path = `${capabilities("views", "s")}/server`;
    expect((await registry.send("GET", path)).status).toBe(401);
    const stranger = await token({ tenants: ["other"] });
    expect((await registry.send("GET", path, { token: stranger })).status).toBe(403);
    expect((await registry.send("GET", `${capabilities("views", "none")}/server`, { token: member })).status).toBe(404);
    expect((await registry.send("POST", path, { token: member, body: {} })).status).toBe(405);
  });
});
