import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
let acme: string;
let admin: string;

beforeAll(async () => {
  acme = await token({ tenants: ["acme"] });
  admin = await token({ admin: true });
});

describe("GET /api/mcp/capabilities/{tenant}/{name}", () => {
  it("answers with the envelope of the capabilities API", async () => {
    const manifest = {
      serverInfo: { name: "Weather", version: "2.1.0" },
      tools: [
        {
          name: "forecast",
          description: "Tomorrow's weather",
          inputSchema: {
            type: "object",
            properties: {},
            required: [],
            title: "In",
            $defs: { a: {} },
            additionalProperties: false,
          },
          annotations: {
            title: "Forecast",
            destructiveHint: false,
            idempotentHint: true,
            readOnlyHint: false,
            openWorldHint: false,
          },
        },
      ],
      prompts: [
        {
          name: "ask",
          arguments: [{ name: "place", required: true }],
          promptResponse: [{ role: "user", content: { type: "text", text: "?" } }],
        },
      ],
      resources: [{ uri: "weather://stations", name: "Stations", mimeType: "application/json" }],
      resourceTemplates: [
        { uriTemplate: "weather://{place}", parameters: [{ name: "place", type: "string", required: true }] },
      ],
    };
    expect((await registry.send("PUT", capabilities("acme", "weather"), { token: acme, body: manifest })).status).toBe(
      201,
    );

    const { status, body, headers } = await registry.send("GET", capabilities("acme", "weather"), { token: acme });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, message: "MCP capabilities retrieved successfully", data: manifest });
    for (const section of ["tools", "prompts", "resources", "resourceTemplates"]) {
      expect(body.data[section][0]).toMatchObject({ enabled: true, lastSynced: body.data.lastSynced });
    }
    expect(Date.parse(body.data.lastSynced)).not.toBeNaN();
    expect(headers.get("ETag")).toMatch(/^W\/"sha256-[0-9a-f]{64}\.\d+\.c\d+"$/);
    expect(headers.get("Rollcall-Generation")).toBe("1");
    expect(headers.get("Cache-Control")).toBe("private, no-cache");
    expect(headers.get("Server-Timing")).toMatch(/;dur=\d/);
    expect(headers.get("X-Request-Id")).toBeTruthy();
  });

  it("keeps unknown keys of manifest and items", async () => {
    const body = { ...tools("a"), "x-team": "blue", tools: [{ ...tools("a").tools[0], "x-cost": { usd: 1 } }] };
    await registry.send("PUT", capabilities("acme", "keeper"), { token: acme, body });
    const { body: answer } = await registry.send("GET", capabilities("acme", "keeper"), { token: acme });
    expect(answer.data["x-team"]).toBe("blue");
    expect(answer.data.tools[0]["x-cost"]).toEqual({ usd: 1 });
  });

  it("answers with empty lists for a server that has published nothing", async () => {
    await registry.send("POST", "/api/mcp/configs", { token: acme, body: { tenant: "acme", name: "empty" } });
    const { status, body } = await registry.send("GET", capabilities("acme", "empty"), { token: acme });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ tools: [], prompts: [], resources: [], resourceTemplates: [], lastSynced: null });
  });

  it.each([
    ["no token", capabilities("acme", "weather"), undefined, 401, "ErrorUnauthorized", "Unauthorized access"],
    [
      "a foreign tenant",
      capabilities("globex", "x"),
      "acme",
      403,
      "ErrorTenantPermissionError",
      "You do not have permission to access this tenant",
    ],
    ["no such server", capabilities("acme", "nothing"), "acme", 404, "ErrorMCPServerNotFound", "MCP server not found"],
    [
      "an empty tenant",
      "/api/mcp/capabilities//weather",
      "acme",
      400,
      "ErrorTenantRequired",
      "Tenant name is required",
    ],
    [
      "an empty name",
      "/api/mcp/capabilities/acme/",
      "acme",
      400,
      "ErrorMCPServerNameRequired",
      "MCP server name is required",
    ],
    ["a tenant that cannot be", "/api/mcp/capabilities/A!/x", "acme", 400, "ErrorTenantInvalid", undefined],
    ["a name that cannot be", "/api/mcp/capabilities/acme/..%2Fx", "acme", 400, "ErrorMCPServerNameInvalid", undefined],
  ])("refuses %s", async (_, path, who, status, code, message) => {
    const answer = await registry.send("GET", path, who === undefined ? {} : { token: acme });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({
      success: false,
      error: { code, ...(message === undefined ? {} : { message }) },
    });
    if (status === 401) {
      expect(answer.headers.get("WWW-Authenticate")).toContain('resource_metadata="https://registry.test/.well-known/');
    }
  });

  it("lets an admin read every tenant", async () => {
    const { status } = await registry.send("GET", capabilities("acme", "weather"), { token: admin });
    expect(status).toBe(200);
  });

  it("refuses a token without the scope, naming it", async () => {
    const reader = await token({ tenants: ["acme"], scope: "registry:read" });
    const { status, body, headers } = await registry.send("PUT", capabilities("acme", "weather"), {
      token: reader,
      body: tools("a"),
    });
    expect(status).toBe(403);
    expect(body.error).toMatchObject({ code: "ErrorInsufficientScope", details: { scope: "registry:publish" } });
    expect(headers.get("WWW-Authenticate")).toContain('error="insufficient_scope"');
  });

  it("answers HEAD with the headers of GET and no body", async () => {
    const get = await registry.send("GET", capabilities("acme", "weather"), { token: acme });
    const head = await registry.send("HEAD", capabilities("acme", "weather"), { token: acme });
    expect(head.status).toBe(200);
    expect(head.text).toBe("");
    expect(head.headers.get("ETag")).toBe(get.headers.get("ETag"));
  });

  it("answers 304 for the tag it gave, weak or in a list", async () => {
    const get = await registry.send("GET", capabilities("acme", "weather"), { token: acme });
    const etag = get.headers.get("ETag") ?? "";
    for (const tag of [etag, etag.replace("W/", ""), `"other", ${etag}`, "*"]) {
      const again = await registry.send("GET", capabilities("acme", "weather"), {
        token: acme,
        headers: { "If-None-Match": tag },
      });
      expect([tag, again.status, again.text]).toEqual([tag, 304, ""]);
      expect(again.headers.get("ETag")).toBe(etag);
    }
    const other = await registry.send("GET", capabilities("acme", "weather"), {
      token: acme,
      headers: { "If-None-Match": '"x"' },
    });
    expect(other.status).toBe(200);
  });

  it("names the methods a path takes", async () => {
    const { status, headers } = await registry.send("POST", capabilities("acme", "weather"), { token: acme, body: {} });
    expect(status).toBe(405);
    expect(headers.get("Allow")).toBe("GET, HEAD, PUT, PATCH");
  });
});
