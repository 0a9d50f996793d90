import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ReadSource, sourceManifest } from "../../../src/sources/source-manifest.ts";
import { expectPublishable, type Json } from "../../support/importing.ts";

type Offer = ReadSource["offer"];

const url = "https://mcp.example.com/mcp";

function source(id: string, offer: Partial<Offer> = {}, address = url): ReadSource {
  const lists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };
  return { id, url: address, offer: { protocolVersion: "2025-11-25", session: true, ...lists, ...offer } };
}

const tool = (name: string, more: Json = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const made = (...sources: ReadSource[]) => sourceManifest("toolbox", sources);
const names = (items: unknown) => (items as Json[]).map(({ name }) => name);
const metadataOf = (items: unknown) =>
  (items as { metadata: { mcp: Json; discovery: Json } }[]).map((item) => item.metadata);

describe("a manifest of what was read", () => {
  it("has every item as it was declared, and where it came from", async () => {
    const declared = {
      tools: [tool("search", { annotations: { readOnlyHint: false }, $defs: {}, own: [null] })],
      prompts: [{ name: "ask", arguments: [{ name: "a", required: false }] }],
      resources: [{ uri: "db://x", name: "x" }],
      resourceTemplates: [{ uriTemplate: "db://{id}", name: "one" }],
    };
    const serverInfo = { name: "Tools", version: "1.2", icons: [] };
    const { manifest, warnings } = made(source("main", { ...declared, serverInfo, instructions: "Be kind." }));
    expect(manifest).toMatchObject({ ...declared, serverInfo, mcpVersion: "2025-11-25", instructions: "Be kind." });
    const type = (name: string) => ({
      ...{ provider: "mcp", permissions: ["network.http"], effects: ["network_request", "mcp_call"] },
      metadata: {
        mcp: { server_url: url, server_name: "toolbox", protocol_version: "2025-11-25", requires_session: "true" },
        discovery: {
          ...{ method: "mcp_introspection", source_url: url, capability_type: name, introspector_version: "1.0.0" },
        },
      },
    });
    expect(manifest).toMatchObject({
      tools: [type("mcp_tool")],
      prompts: [type("mcp_prompt")],
      resources: [type("mcp_resource")],
      resourceTemplates: [type("mcp_resource_template")],
    });
    expect(metadataOf(manifest.tools)[0]?.mcp.tool_name).toBe("search");
    expect(JSON.stringify(manifest)).not.toContain("created_at");
    expect(warnings).toEqual([]);
    await expectPublishable(manifest);
  });

  it("says whether callers need a session", () => {
    const { manifest } = made(source("main", { tools: [tool("a")], protocolVersion: "2026-07-28", session: false }));
    expect(metadataOf(manifest.tools)[0]?.mcp).toMatchObject({
      ...{ protocol_version: "2026-07-28", requires_session: "false" },
    });
  });

  it("is the same for the same items in any order", () => {
    const tools = ["b", "B", "a", "ä", "10", "9"].map((name) => tool(name));
    const { manifest } = made(source("main", { tools }));
    expect(names(manifest.tools)).toEqual(["10", "9", "B", "a", "b", "ä"]);
    fc.assert(
      fc.property(fc.shuffledSubarray(tools, { minLength: tools.length }), (shuffled) => {
        expect(JSON.stringify(made(source("main", { tools: shuffled })).manifest)).toBe(JSON.stringify(manifest));
      }),
    );
  });

  it("is empty where a server offers nothing", async () => {
    const { manifest } = made(source("main"));
    expect(manifest).toEqual({
      mcpVersion: "2025-11-25",
      tools: [],
      prompts: [],
      resources: [],
      resourceTemplates: [],
    });
    await expectPublishable(manifest);
  });
});

describe("what a server says of itself is not believed", () => {
  it("about where it was found, what it is called by, and whether it is on", () => {
    const lie = { server_url: "https://evil.example", server_name: "bank", tool_name: "pay", requires_session: "auto" };
    const claims = {
      ...{ id: "mcp.bank.pay", enabled: false, lastSynced: "2020-01-01T00:00:00Z", provider: "openapi" },
      metadata: {
        mcp: { ...lie, protocol_version: "0", auth_env_var: "KEY" },
        discovery: { method: "manual", created_at: "1999-01-01T00:00:00Z" },
        own: { a: 1 },
      },
    };
    const { manifest } = made(source("main", { tools: [tool("a", claims)] }));
    const [item] = manifest.tools as Json[];
    expect(item).toEqual({
      ...tool("a"),
      ...{ provider: "mcp", permissions: ["network.http"], effects: ["network_request", "mcp_call"] },
      metadata: {
        own: { a: 1 },
        mcp: {
          ...{ server_url: url, server_name: "toolbox", tool_name: "a", protocol_version: "2025-11-25" },
          ...{ requires_session: "true", auth_env_var: "KEY", server_url_override_env: "MCP_SERVER_URL" },
        },
        discovery: {
          ...{
            method: "mcp_introspection",
            source_url: url,
            capability_type: "mcp_tool",
            introspector_version: "1.0.0",
          },
        },
      },
    });
  });

  it("at any length", async () => {
    const icons = [{ src: `data:,${"x".repeat(300_000)}` }];
    const serverInfo = { name: "Tools", version: "1", icons };
    const { manifest, warnings } = made(source("main", { serverInfo, instructions: "x".repeat(300_000) }));
    expect(manifest.serverInfo).toEqual({ name: "Tools", version: "1" });
    expect(manifest.instructions).toHaveLength(65_536);
    expect(warnings).toEqual([expect.stringContaining("cut to 65536")]);
    await expectPublishable(manifest);
  });
});

describe("an address that readers see", () => {
  it.each([
    ["https://me:secret@a.example/mcp", "https://a.example/mcp"],
    ["https://a.example/mcp?toolsets=all&api_key=secret", "https://a.example/mcp?toolsets=all"],
    [
      "https://a.example/mcp?apiKey=secret&access_token=secret&token=secret&sig=secret&code=secret",
      "https://a.example/mcp",
    ],
    ["https://a.example/mcp?country_code=de&keys=all", "https://a.example/mcp?country_code=de&keys=all"],
  ])("has no credential: %s", (address, shown) => {
    const { manifest } = made(source("main", { tools: [tool("a")] }, address));
    expect(metadataOf(manifest.tools)[0]).toMatchObject({
      mcp: { server_url: shown },
      discovery: { source_url: shown },
    });
    expect(JSON.stringify(manifest)).not.toContain("secret");
  });
});

describe("several sources", () => {
  it("are one manifest, and the first speaks for the server", async () => {
    const first = source("a", { tools: [tool("x")], serverInfo: { name: "A", version: "1" }, instructions: "One." });
    const second = source("b", {
      ...{ tools: [tool("w")], protocolVersion: "2026-07-28", session: false },
      instructions: "Two.",
    });
    const { manifest, warnings } = made(first, { ...second, url: "https://b.example/" });
    expect(manifest).toMatchObject({
      serverInfo: { name: "A" },
      mcpVersion: "2025-11-25",
      instructions: "One.\n\nTwo.",
    });
    expect(metadataOf(manifest.tools).map(({ mcp }) => [mcp.server_url, mcp.protocol_version])).toEqual([
      ["https://b.example/", "2026-07-28"],
      [url, "2025-11-25"],
    ]);
    expect(warnings).toEqual([]);
    await expectPublishable(manifest);
  });

  it("may give one name, which the first keeps", async () => {
    const both = { tools: [tool("same"), tool("own")], prompts: [{ name: "ask" }] };
    const { manifest, warnings } = made(source("first one", both), source("b.2", { ...both, tools: [tool("same")] }));
    expect(names(manifest.tools)).toEqual(["b_2.same", "own", "same"]);
    expect(metadataOf(manifest.tools).map(({ mcp }) => mcp.tool_name)).toEqual(["same", "own", "same"]);
    expect(names(manifest.prompts)).toEqual(["ask", "b_2.ask"]);
    expect(metadataOf(manifest.prompts).map(({ mcp }) => mcp.prompt_name)).toEqual([undefined, "ask"]);
    expect(warnings).toEqual([
      'tools: "same" is the name of an item of first one, so that of b.2 is called b_2.same',
      'prompts: "ask" is the name of an item of first one, so that of b.2 is called b_2.ask',
    ]);
    await expectPublishable(manifest);
  });

  it("get names that no third one has", () => {
    const { manifest } = made(
      source("a", { tools: [tool("x")] }),
      source("b", { tools: [tool("x")] }),
      source("c", { tools: [tool("b.x")] }),
    );
    expect(names(manifest.tools)).toEqual(["b.x", "c.b.x", "x"]);
  });

  it("keep the names that they had, in whatever order they come and whoever goes", () => {
    const [a, b] = [source("a", { tools: [tool("x")] }), source("b", { tools: [tool("x"), tool("y")] })];
    const first = made(a, b);
    expect(names(first.manifest.tools)).toEqual(["b.x", "x", "y"]);
    const copied = (one: ReadSource) => ({ ...one, copy: { offer: one.offer, names: first.names.get(one.id) ?? {} } });
    expect(made(copied(b), copied(a)).manifest.tools).toEqual(first.manifest.tools);
    // A name does not pass to another source because its holder is gone.
    expect(names(made(copied(b)).manifest.tools)).toEqual(["b.x", "y"]);
    // Who comes later has the prefix, although configured first.
    const newcomer = source("new", { tools: [tool("y")] });
    expect(names(made(newcomer, copied(a), copied(b)).manifest.tools)).toEqual(["b.x", "new.y", "x", "y"]);
  });

  it("keep a URI with the one that had it first", () => {
    const resources = [{ uri: "db://x", name: "x" }];
    const [a, b] = [source("a", { resources }), source("b", { resources }, "https://b.example/")];
    const first = made(b);
    const held = { ...b, copy: { offer: b.offer, names: first.names.get("b") ?? {} } };
    const second = made(a, held);
    expect(metadataOf(second.manifest.resources).map(({ mcp }) => mcp.server_url)).toEqual(["https://b.example/"]);
    const left = { ...a, copy: { offer: a.offer, names: second.names.get("a") ?? {} } };
    expect(metadataOf(made(left, held).manifest.resources)).toMatchObject([
      { mcp: { server_url: "https://b.example/" } },
    ]);
    expect(metadataOf(made(left).manifest.resources)).toMatchObject([{ mcp: { server_url: url } }]);
  });

  it("of which one has another address now describe the server without it", () => {
    const info = (name: string) => ({ serverInfo: { name, version: "1" }, instructions: `${name}.` });
    const former = { ...source("a", { tools: [tool("x")], ...info("A") }), isFormer: true };
    const { manifest } = made(former, source("b", info("B")));
    expect(manifest).toMatchObject({ serverInfo: { name: "B" }, instructions: "B.", tools: [{ name: "x" }] });
  });

  it("share an address, which the first one has", () => {
    const resources = [{ uri: "db://x", name: "x" }];
    const { manifest, warnings } = made(source("a", { resources }), source("b", { resources }, "https://b.example/"));
    expect(metadataOf(manifest.resources).map(({ mcp }) => mcp.server_url)).toEqual([url]);
    expect(warnings).toEqual(['resources: "db://x" of b is left out, because a has it']);
  });

  it("are never two items of the same name, whatever they offer", () => {
    const name = fc.constantFrom("x", "a.x", "a.a.x", "b.x", "b.a.x");
    const offered = fc.array(name, { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom("a", "b", "a.a"), offered), { maxLength: 4 }), (sources) => {
        const { manifest } = made(...sources.map(([id, tools]) => source(id, { tools: tools.map((x) => tool(x)) })));
        const all = names(manifest.tools);
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });
});

describe("an item that a source lists twice", () => {
  it("is there once", () => {
    const { manifest, warnings } = made(source("a", { tools: [tool("x", { title: "1" }), tool("x", { title: "2" })] }));
    expect(manifest.tools).toMatchObject([{ name: "x", title: "1" }]);
    expect(warnings).toEqual(['a lists "x" twice; the first is kept']);
  });
});
