import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, Registry, token } from "../support/registry.ts";

const registry = new Registry();
let member: string;

beforeAll(async () => {
  member = await token({ tenants: ["origin"] });
});

const send = (format: string, name: string, body: string, type: string, query: Record<string, string> = {}) =>
  registry.send("POST", `/api/import/${format}?${new URLSearchParams({ tenant: "origin", name, ...query })}`, {
    token: member,
    body,
    headers: { "Content-Type": type },
  });
const get = (id: string, query = "") =>
  registry.send("GET", `/api/capabilities/origin/${encodeURIComponent(id)}${query}`, { token: member });

const sourceUrl = "https://me:secret@docs.example/api?format=json&api_key=k#token";
const endpointUrl = "https://me:secret@api.example/v2/?access_token=t";
const from = "https://docs.example/api?format=json";

describe("where a document comes from", () => {
  it.each([
    [
      "openapi",
      "application/json",
      '{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"x"}}}}',
      "operations",
      { openapi: { base_url: "https://api.example/v2" } },
    ],
    [
      "graphql",
      "application/graphql",
      "type Query { x: Int }",
      "operations",
      { graphql: { endpoint_url: "https://api.example/v2/" } },
    ],
    [
      "mcp",
      "application/json",
      '{"tools":[{"name":"x"}]}',
      "tools",
      { mcp: { server_url: "https://api.example/v2/" } },
    ],
  ])("is kept with what %s describes, without secrets", async (format, type, body, section, metadata) => {
    const { status } = await send(format, `from-${format}`, body, type, { sourceUrl, endpointUrl });
    expect(status).toBe(201);
    const { data } = (await registry.send("GET", capabilities("origin", `from-${format}`), { token: member })).body;
    expect(data[section][0].metadata).toMatchObject({ ...metadata, discovery: { source_url: from } });
    expect(JSON.stringify(data)).not.toMatch(/secret|access_token|api_key/);
  });

  it("is kept with RTFS, which says itself where it is called", async () => {
    await send("rtfs", "from-rtfs", '(capability "origin.rtfs.x")', "application/rtfs", { sourceUrl });
    expect((await get("origin.rtfs.x")).body.data.metadata.discovery).toMatchObject({ source_url: from });
    const refused = await send("rtfs", "from-rtfs", '(capability "origin.rtfs.x")', "application/rtfs", {
      endpointUrl,
    });
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringMatching(/^endpointUrl is for/)]);
  });

  it.each([
    "ftp://a.example/x",
    "javascript:alert(1)",
    "/relative",
    "not a url",
    `https://a.example/${"x".repeat(2_048)}`,
  ])("is an http URL: %s is refused", async (url) => {
    for (const name of ["sourceUrl", "endpointUrl"]) {
      const answer = await send("graphql", "bad", "type Query { x: Int }", "application/graphql", { [name]: url });
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(name)]);
    }
  });
});

describe("an id with slashes", () => {
  const text = `;; Sample output: {"n": 1}
(do {:type "capability" :id "github/list_issues" :name "List the Issues"
  :metadata {:mcp_server_url "https://api.example/mcp" :mcp_tool_name "list_issues" :discovery_method "manual"}
  :input-schema [:map [:state {:optional true} [:enum "open" "closed"]] [:n :int] ;; optional, how many
  ]})`;

  it("is read percent-encoded, as any other id elsewhere", async () => {
    const { status, body } = await send("rtfs", "slashes", text, "application/rtfs");
    expect([status, body.data.warnings]).toEqual([201, []]);
    const { data } = (await get("github/list_issues", "?hints=true")).body;
    expect(data).toMatchObject({
      id: "github/list_issues",
      name: "list_issues",
      title: "List the Issues",
      metadata: {
        mcp: { server_url: "https://api.example/mcp", requires_session: "auto", auth_env_var: "MCP_AUTH_TOKEN" },
        discovery: { method: "manual" },
        rtfs: { comments: ['Sample output: {"n": 1}'] },
      },
      inputSchema: {
        properties: { state: { enum: ["open", "closed"] }, n: { type: "integer", description: "how many" } },
      },
      runtime: { auth: [{}, { name: "MCP_AUTH_TOKEN" }, { name: "GITHUB_MCP_TOKEN" }] },
    });
    const found = await registry.send("GET", "/api/search?task=list+issues&tenant=origin", { token: member });
    expect(found.body.data.items.map(({ id }: { id: string }) => id)).toContain("github/list_issues");
  });

  it("is printed as RTFS with everything it came with, and imports unchanged", async () => {
    const printed = await get("github/list_issues", "?format=rtfs");
    expect(printed.headers.get("Rollcall-Losses")).toBeNull();
    expect(printed.headers.get("Access-Control-Expose-Headers")?.split(", ")).toContain("Rollcall-Losses");
    for (const part of [
      ';; Sample output: {"n": 1}',
      ':name "List the Issues"',
      '[:enum "open" "closed"] ;; optional',
    ]) {
      expect(printed.text).toContain(part);
    }
    const again = await send("rtfs", "slashes", printed.text, "application/rtfs");
    expect([again.status, again.body.data.outcome]).toEqual([200, "unchanged"]);
  });
});
