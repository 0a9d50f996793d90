import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, Registry, token } from "../support/registry.ts";

const registry = new Registry();
let member: string;

beforeAll(async () => {
  member = await token({ tenants: ["imports"] });
});

const send = (format: string, name: string, body: string | Uint8Array, type: string, query = "") =>
  registry.send("POST", `/api/import/${format}?tenant=imports&name=${name}${query}`, {
    token: member,
    body,
    headers: { "Content-Type": type },
  });
const read = async (name: string) =>
  (await registry.send("GET", capabilities("imports", name), { token: member })).body.data;

const rtfs = `;; flat, as it used to be
(capability "mcp.github.list_issues"
  :name "list_issues"
  :version "1.0.0"
  :description "List issues"
  :provider "MCP"
  :source_url "https://api.example.com/mcp/"
  :discovery_method "mcp_introspection"
  :created_at "2025-10-23T20:57:22.379849546+00:00"
  :capability_type "mcp_tool"
  :permissions [:network.http]
  :effects [:network_request :mcp_call]
  :mcp_metadata { :server_url "https://api.example.com/mcp/" :server_name "github" :tool_name "list_issues" }
  :input-schema { :owner :string :state :string ;; optional
  }
  :output-schema :any
  :implementation (fn [input] (call "anything" input)))`;

const openapi = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1.0.0" },
  servers: [{ url: "https://pets.example.com" }],
  paths: {
    "/pets/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
      get: {
        operationId: "getPet",
        responses: { 200: { content: { "application/json": { schema: { type: "object" } } } } },
      },
      delete: { operationId: "deletePet", responses: { 204: {} } },
    },
  },
};

const sdl =
  "type Query { pet(id: ID!): Pet } type Mutation { addPet(name: String!): Pet } type Pet { id: ID! name: String }";

describe("importing", () => {
  it("RTFS migrates the flat layout and publishes the hierarchical one", async () => {
    const { status, body } = await send("rtfs", "github", rtfs, "application/rtfs");
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      outcome: "created",
      counts: { tool: 1 },
      rejected: [],
      changes: { additive: 1 },
    });
    const [tool] = (await read("github")).tools;
    expect(tool).toMatchObject({
      name: "list_issues",
      permissions: ["network.http"],
      metadata: {
        mcp: { server_name: "github" },
        discovery: { method: "mcp_introspection", created_at: "2025-10-23T20:57:22.379849546+00:00" },
      },
      inputSchema: { required: ["owner"] },
    });
    expect(tool.implementation).toContain('(call "anything" input)');
  });

  it.each([
    ["JSON", JSON.stringify(openapi), "application/json"],
    [
      "YAML",
      "openapi: 3.1.0\ninfo: {title: Pets, version: 1.0.0}\npaths:\n  /pets:\n    get: {operationId: listPets, responses: {'200': {description: ok}}}\n",
      "application/yaml",
    ],
  ])("OpenAPI from %s makes one operation each", async (kind, text, type) => {
    const { status, body } = await send("openapi", `pets-${kind}`, text, type);
    expect(status).toBe(201);
    expect(body.data.counts.operation).toBe(kind === "JSON" ? 2 : 1);
    const { operations } = await read(`pets-${kind}`);
    expect(operations[0]).toMatchObject({ provider: "openapi", metadata: { openapi: { endpoint_method: "GET" } } });
  });

  it("GraphQL takes SDL", async () => {
    const { status, body } = await send("graphql", "graph", sdl, "application/graphql");
    expect([status, body.data.counts]).toEqual([201, { operation: 2 }]);
    const { operations } = await read("graph");
    expect(operations[0].metadata.graphql.schema_hash).toBeTruthy();
  });

  it("MCP takes a tools/list dump as it is", async () => {
    const tools = [
      { name: "add", inputSchema: { type: "object", $defs: { a: {} } }, annotations: { readOnlyHint: false } },
    ];
    const { status } = await send(
      "mcp",
      "dump",
      JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools } }),
      "application/json",
    );
    expect(status).toBe(201);
    expect((await read("dump")).tools[0]).toMatchObject({
      ...tools[0],
      metadata: { discovery: { method: "mcp_introspection" } },
    });
  });

  it("adds nothing the second time", async () => {
    const again = await send("rtfs", "github", rtfs, "application/rtfs");
    expect([again.status, again.body.data.outcome]).toEqual([200, "unchanged"]);
  });

  it.each([
    [
      "JSON",
      JSON.stringify({ ...openapi, "x-long": 0 }).replace('"x-long":0', '"x-long":9007199254740993'),
      "application/json",
    ],
    [
      "YAML",
      "openapi: 3.1.0\ninfo: {title: Pets, version: 1.0.0}\nx-long: 9007199254740993\npaths: {/p: {get: {operationId: p}}}\n",
      "application/yaml",
    ],
  ])("warns of a number that loses digits in %s", async (kind, text, type) => {
    const { status, body } = await send("openapi", `long-${kind}`, text, type, "&dryRun=true");
    expect(status).toBe(200);
    expect(body.data.warnings).toHaveLength(1);
  });

  it("only shows what would be published with dryRun", async () => {
    const { status, body } = await send(
      "openapi",
      "preview",
      JSON.stringify(openapi),
      "application/json",
      "&dryRun=true",
    );
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ dryRun: true, counts: { operation: 2 }, warnings: [], rejected: [] });
    expect(body.data.capabilities).toHaveLength(2);
    const { status: after } = await registry.send("GET", capabilities("imports", "preview"), { token: member });
    expect(after).toBe(404);
  });
});

describe("what cannot be imported", () => {
  const cyclic = {
    ...openapi,
    components: { parameters: { a: { $ref: "#/components/parameters/b" }, b: { $ref: "#/components/parameters/a" } } },
    paths: { "/x": { get: { parameters: [{ $ref: "#/components/parameters/a" }], responses: {} } } },
  };
  const remote = {
    ...openapi,
    paths: { "/x": { get: { parameters: [{ $ref: "https://evil.example/p.json" }], responses: {} } } },
  };
  const laughs = `a: &a [1]\n${Array.from(
    { length: 20 },
    (_, level) =>
      `b${level}: &b${level} [${Array(9)
        .fill(level === 0 ? "*a" : `*b${level - 1}`)
        .join(",")}]`,
  ).join("\n")}`;

  it.each<[string, string, string | Uint8Array, string, number]>([
    ["truncated RTFS", "rtfs", rtfs.slice(0, 200), "application/rtfs", 400],
    ["unbalanced brackets", "rtfs", `${rtfs})`, "application/rtfs", 400],
    ["nothing", "rtfs", "", "application/rtfs", 400],
    ["broken UTF-8", "rtfs", new Uint8Array([0x28, 0xff]), "application/rtfs", 400],
    ["a reference that leads to itself", "openapi", JSON.stringify(cyclic), "application/json", 400],
    ["a reference to another document", "openapi", JSON.stringify(remote), "application/json", 400],
    ["a document of another kind", "openapi", "{}", "application/json", 400],
    ["an alias bomb", "openapi", laughs, "application/yaml", 400],
    ["a repeated key", "openapi", '{"openapi":"3.1.0","openapi":"3.0.0"}', "application/json", 400],
    [
      "a number beyond all numbers",
      "openapi",
      JSON.stringify({ ...openapi, "x-a": 0 }).replace('"x-a":0', '"x-a":1e400'),
      "application/json",
      400,
    ],
    ["an unknown type", "graphql", "type Query { a: Nothing }", "application/graphql", 400],
    ["SDL that does not end", "graphql", "type Query {", "application/graphql", 400],
    ["an answer that is no schema", "graphql", '{"data":{}}', "application/json", 400],
    ["no tools at all", "mcp", '"text"', "application/json", 400],
    ["50 MB", "rtfs", "x".repeat(50_000_000), "application/rtfs", 413],
  ])("%s is refused with a reason, and nothing is published", async (what, format, body, type, status) => {
    const name = `bad-${what.replaceAll(/\W+/g, "-")}`;
    const answer = await send(format, name, body, type);
    expect([answer.status, answer.body.success]).toEqual([status, false]);
    expect(answer.body.error.message.length).toBeGreaterThan(10);
    const { status: after } = await registry.send("GET", capabilities("imports", name), { token: member });
    expect(after).toBe(404);
  });

  it("does not empty a server when nothing in the document is valid", async () => {
    await send("mcp", "kept", JSON.stringify({ tools: [{ name: "good" }] }), "application/json");
    const { status, body } = await send(
      "mcp",
      "kept",
      JSON.stringify({ tools: [{ name: "bad name" }] }),
      "application/json",
    );
    expect([status, body.error.code]).toEqual([422, "ErrorMCPServerValidation"]);
    expect((await read("kept")).tools).toHaveLength(1);
  });

  it("leaves out an item with a key that JSON forbids", async () => {
    const text = '(capability "a.b" :name "b" :metadata {:__proto__ {:z 1}}) (capability "a.c" :name "c")';
    const { status, body } = await send("rtfs", "keys", text, "application/rtfs");
    expect([status, body.data.counts, body.data.rejected.length]).toEqual([201, { tool: 1 }, 1]);
  });

  it("says where", async () => {
    const text = await send("rtfs", "where", '(capability "a"\n  :name "b', "application/rtfs");
    expect(text.body.error.details).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
    const graph = await send("graphql", "where", "type Query {\n  a: \n}", "application/graphql");
    expect(graph.body.error.details).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
    const reference = await send("openapi", "where", JSON.stringify(remote), "application/json");
    expect(reference.body.error.details.path).toContain("/paths");
  });

  it("needs a tenant, a name, a known format and a token that may publish", async () => {
    const post = (path: string, who = member) => registry.send("POST", path, { token: who, body: "{}" });
    expect((await post("/api/import/mcp?name=x")).body.error.code).toBe("ErrorTenantRequired");
    expect((await post("/api/import/mcp?tenant=imports")).body.error.code).toBe("ErrorMCPServerNameRequired");
    expect((await post("/api/import/word?tenant=imports&name=x")).status).toBe(404);
    expect((await post("/api/import/mcp?tenant=other&name=x")).status).toBe(403);
    const reader = await token({ tenants: ["imports"], scope: "registry:read" });
    expect((await post("/api/import/mcp?tenant=imports&name=x", reader)).status).toBe(403);
    expect((await registry.send("GET", "/api/import/mcp?tenant=imports&name=x", { token: member })).status).toBe(405);
  });
});
