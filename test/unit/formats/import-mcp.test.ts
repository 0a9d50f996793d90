import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importMcp, type McpOptions } from "../../../src/formats/mcp/import-mcp.ts";
import { describeFixture } from "../../support/fixtures.ts";
import { expectPublishable, type Json, range } from "../../support/importing.ts";

function imported(document: unknown, options: McpOptions = { server: "github" }) {
  const result = importMcp(document, options);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const discovery = (type: string) => ({
  method: "mcp_introspection",
  capability_type: type,
  introspector_version: "1.0.0",
});
const common = { permissions: ["network.http"], effects: ["network_request", "mcp_call"] };
const variables = { auth_env_var: "MCP_AUTH_TOKEN", server_url_override_env: "MCP_SERVER_URL" };
const tool = (name: string) => ({
  name,
  ...common,
  metadata: {
    mcp: { server_name: "github", tool_name: name, requires_session: "auto", ...variables },
    discovery: discovery("mcp_tool"),
  },
});

describe("which documents hold capabilities", () => {
  const tools = [{ name: "a" }, { name: "b" }];
  it.each<[string, unknown]>([
    ["a list result", { tools }],
    ["a list result with its end", { tools, nextCursor: null }],
    ["a JSON-RPC response", { jsonrpc: "2.0", id: 1, result: { tools } }],
    ["a response without its envelope", { result: { tools } }],
    ["an array of tools", tools],
  ])("takes %s", (_, document) => {
    const { manifest, counts, warnings } = imported(document);
    expect(manifest).toEqual({ tools: [tool("a"), tool("b")] });
    expect({ counts, warnings }).toEqual({ counts: { tool: 2 }, warnings: [] });
  });

  it("takes every kind of list, and what the server says of itself", async () => {
    const uri = "db://x";
    const { manifest, counts } = imported({
      serverInfo: { name: "GitHub", version: "1" },
      tools: [],
      prompts: [{ name: "ask" }],
      resources: [{ uri }],
      resourceTemplates: [{ uriTemplate: "db://{id}" }],
    });
    const kept = { ...common, metadata: { mcp: { server_name: "github", requires_session: "auto" } } };
    expect(manifest).toMatchObject({
      serverInfo: { name: "GitHub", version: "1" },
      prompts: [{ name: "ask", ...kept, metadata: { ...kept.metadata, discovery: discovery("mcp_prompt") } }],
      resources: [{ uri, ...kept, metadata: { discovery: discovery("mcp_resource") } }],
      resourceTemplates: [{ ...kept, metadata: { discovery: discovery("mcp_resource_template") } }],
    });
    expect(JSON.stringify(manifest)).not.toContain("tool_name");
    expect(counts).toEqual({ tool: 0, prompt: 1, resource: 1, resourceTemplate: 1 });
    await expectPublishable(manifest);
  });

  it("leaves out what is about the message alone", () => {
    const { manifest } = imported({ tools, nextCursor: "", ttlMs: 1, cacheScope: "public", resultType: "complete" });
    expect(manifest).toEqual({ tools: [tool("a"), tool("b")] });
  });

  it.each<[string, unknown, string, RegExp]>([
    ["one page of a list", { tools, nextCursor: "p2" }, "/nextCursor", /more pages/],
    [
      "one page in a response",
      { jsonrpc: "2.0", id: 1, result: { tools, nextCursor: "p2" } },
      "/result/nextCursor",
      /pages/,
    ],
    ["nothing", null, "", /neither/],
    ["text", "tools", "", /neither/],
    ["an empty object", {}, "", /no tools, prompts/],
    ["an empty response", { jsonrpc: "2.0", id: 1, result: {} }, "/result", /no tools/],
    ["a response without a result", { jsonrpc: "2.0", id: 1 }, "/result", /no tools/],
    ["an error", { jsonrpc: "2.0", id: 1, error: { code: -32601 } }, "/error", /error/],
    ["tools that are no list", { tools: {} }, "/tools", /array/],
    ["a tool that is text", { result: { tools: [{ name: "a" }, "b"] } }, "/result/tools/1", /object/],
    ["an array of something else", [1], "/0", /object/],
  ])("refuses %s", (_, document, path, message) => {
    expect(importMcp(document, { server: "s" })).toMatchObject({
      ok: false,
      error: { path, message: expect.stringMatching(message) },
    });
  });
});

describe("what a tool says of itself", () => {
  it("is kept as it is", () => {
    const declared = {
      name: "delete_repo",
      title: "Delete",
      annotations: { readOnlyHint: false, destructiveHint: false },
      inputSchema: { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { default: "a\r\nb" } } },
      icons: [{ src: "data:image/png;base64,AA==" }],
      _meta: { "x/y": null },
      own: 1,
    };
    expect(imported([declared]).manifest.tools).toMatchObject([declared]);
  });

  it("goes before what is assumed", () => {
    const declared = {
      name: "a",
      permissions: [],
      effects: ["none"],
      metadata: {
        mcp: { tool_name: "other", requires_session: "false" },
        discovery: { method: "manual" },
        own: { a: 1 },
      },
    };
    expect(imported([declared]).manifest.tools).toEqual([
      {
        ...declared,
        metadata: {
          mcp: { server_name: "github", tool_name: "other", requires_session: "false", ...variables },
          discovery: { ...discovery("mcp_tool"), method: "manual" },
          own: { a: 1 },
        },
      },
    ]);
  });

  it("is left for the rules to judge where it is wrong", () => {
    expect(imported([{ name: "a", metadata: "x" }]).manifest.tools).toEqual([{ name: "a", metadata: "x" }]);
    expect(imported([{ name: 7, metadata: { mcp: 1 } }]).manifest.tools).toMatchObject([
      { name: 7, metadata: { mcp: 1 } },
    ]);
  });

  it("names the server's address and protocol where they are known, never a password", () => {
    const options = { server: "github", serverUrl: "https://me:secret@mcp.example.com/" };
    const { manifest } = imported({ protocolVersion: "2025-06-18", tools: [{ name: "a" }] }, options);
    expect(manifest).toMatchObject({
      protocolVersion: "2025-06-18",
      tools: [
        {
          metadata: {
            mcp: { server_url: "https://mcp.example.com/", protocol_version: "2025-06-18" },
            discovery: { source_url: "https://mcp.example.com/" },
          },
        },
      ],
    });
  });

  it("has one kind of line end in its descriptions", () => {
    const text = "a\r\nb";
    const schema = (description: string) => ({
      properties: { description: { description, default: text } },
      anyOf: [{ description }],
    });
    const declared = { name: "a", description: text, inputSchema: schema(text) };
    expect(imported([declared]).manifest.tools).toMatchObject([{ description: "a\nb", inputSchema: schema("a\nb") }]);
    expect(declared.description).toBe(text);
  });
});

describe("whatever comes in", () => {
  it("is answered with a result", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const document of [
          value,
          [value],
          { tools: value },
          { prompts: [value] },
          { result: { tools: [value] } },
        ]) {
          expect(importMcp(document, { server: "s" })).toHaveProperty("ok");
        }
      }),
    );
  });

  it("may nest without end", () => {
    let deep: Json = {};
    for (const _ of range(100_000)) deep = { a: deep };
    expect(importMcp([{ name: "a", inputSchema: deep }], { server: "s" }).ok).toBe(true);
  });
});

describeFixture("GitHub's tools", "catalog/github-toolsnaps", (folder) => {
  const tools = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Json);

  it("import whole, each as it was", async () => {
    const { manifest, counts, warnings } = imported({ jsonrpc: "2.0", id: 1, result: { tools } });
    expect({ counts, warnings }).toEqual({ counts: { tool: 117 }, warnings: [] });
    expect(manifest.tools).toMatchObject(tools);
    expect(manifest.tools).toMatchObject(tools.map(({ name }) => ({ metadata: { mcp: { tool_name: name } } })));
    await expectPublishable(manifest);
  });
});
