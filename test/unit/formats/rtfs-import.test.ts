import { describe, expect, it } from "vitest";
import { exportRtfs, flatten, importRtfs, printRtfs } from "../../../src/formats/rtfs/index.ts";

const imported = (text: string) => {
  const result = importRtfs(text);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

describe("an RTFS import", () => {
  it("makes tools of MCP capabilities and of whatever else can be called", () => {
    const { manifest, counts, warnings } = imported(`
      (capability "mcp.github.get_me"
        :version "1.0.0"
        :description "Who am I"
        :provider "MCP"
        :permissions []
        :effects [:mcp_call]
        :metadata {:mcp {:tool_name "get_me"} :discovery {:method "mcp_introspection"}}
        :input-schema :map
        :output-schema :any
        :category "query"
        :implementation (fn [input] input))
      (capability "local.add" :input-schema {:a :int})`);
    expect(manifest).toEqual({
      tools: [
        {
          id: "mcp.github.get_me",
          name: "get_me",
          version: "1.0.0",
          description: "Who am I",
          provider: "MCP",
          permissions: [],
          effects: ["mcp_call"],
          metadata: {
            mcp: {
              tool_name: "get_me",
              requires_session: "auto",
              auth_env_var: "MCP_AUTH_TOKEN",
              server_url_override_env: "MCP_SERVER_URL",
            },
            discovery: { method: "mcp_introspection" },
          },
          inputSchema: { type: "object" },
          outputSchema: {},
          category: "query",
          implementation: "(fn [input] input)",
        },
        {
          id: "local.add",
          name: "add",
          inputSchema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
          metadata: { discovery: { method: "rtfs_import", introspector_version: "1.0.0" } },
        },
      ],
    });
    expect(counts).toEqual({ tool: 2 });
    expect(warnings).toEqual([]);
  });

  it("makes operations of API capabilities, free text being their title", () => {
    const { manifest, counts } = imported(`
      (capability "weather.get_forecast" :name "Get 5 Day Weather Forecast" :metadata {:openapi {:endpoint_method "GET"}})
      (capability "hub.repository" :metadata {:graphql {:operation_type "query"}})
      (capability "weather.now" :discovery_method "api_introspection")`);
    expect(counts).toEqual({ operation: 3 });
    expect(manifest.operations).toMatchObject([
      { id: "weather.get_forecast", name: "get_forecast", title: "Get 5 Day Weather Forecast" },
      { name: "repository", permissions: ["network.http"], effects: ["network_request"] },
      { name: "now", metadata: { discovery: { method: "api_introspection" } } },
    ]);
  });

  it("goes by the declared tool name first", () => {
    const { manifest } = imported('(capability "mcp.s.a" :name "b" :metadata {:mcp {:tool_name "c"}})');
    expect(manifest.tools).toMatchObject([
      { id: "mcp.s.a", name: "c", title: "b", effects: ["network_request", "mcp_call"] },
    ]);
    expect(imported('(capability "mcp.s.a" :metadata {:mcp {:tool_name "c"}})').manifest.tools).toEqual([
      expect.not.objectContaining({ title: expect.anything() }),
    ]);
  });

  it("keeps ids with slashes, and takes what follows the last one as the tool's name", () => {
    const { manifest, warnings } = imported(
      '(capability "github/list_issues") (capability "mcp.github/list-issues.v2") (capability "a//b") (capability "a/../c")',
    );
    expect(manifest.tools).toMatchObject([
      { id: "github/list_issues", name: "list_issues" },
      { id: "mcp.github/list-issues.v2", name: "list-issues.v2" },
      { name: "b", metadata: { rtfs: { id: "a//b" } } },
      { name: "c", metadata: { rtfs: { id: "a/../c" } } },
    ]);
    expect(warnings).toEqual([expect.stringMatching(/^a\/\/b: invalid id/), expect.stringMatching(/^a\/\.\.\/c: /)]);
  });

  it("keeps the provenance that flat keys inside metadata declare, and the source of a document without one", () => {
    const flat =
      '(capability "mcp.s.a" :metadata {:mcp_server_url "https://s/" :discovery_method "manual" :openapi {:base_url "b"}})';
    const result = importRtfs(`${flat} (capability "b")`, { sourceUrl: "https://docs.example/caps.rtfs" });
    expect(result.ok && result.value.manifest.tools).toMatchObject([
      { metadata: { mcp: { server_url: "https://s/" }, discovery: { method: "manual" } } },
      { metadata: { discovery: { method: "rtfs_import", source_url: "https://docs.example/caps.rtfs" } } },
    ]);
  });

  it("warns of names and ids that cannot be used", () => {
    const { manifest, warnings } = imported('(capability "open weather" :name "open weather API")');
    expect(manifest.tools).toEqual([
      {
        name: "open_weather",
        title: "open weather API",
        metadata: {
          rtfs: { id: "open weather" },
          discovery: { method: "rtfs_import", introspector_version: "1.0.0" },
        },
      },
    ]);
    expect(warnings).toEqual([
      "open weather: no valid name, renamed to open_weather",
      "open weather: invalid id, kept as metadata.rtfs.id",
    ]);
  });

  it("warns of what is there twice", () => {
    const { manifest, warnings } = imported(`
      (capability "mcp.a.t") (capability "mcp.b.t") (capability "mcp.a.t" :version "2") (capability "~.t")`);
    expect(manifest.tools).toMatchObject([
      { id: "mcp.a.t", name: "t" },
      { id: "mcp.b.t", name: "mcp.b.t" },
    ]);
    expect(warnings).toEqual([
      "mcp.b.t: the name t is taken: goes by its id",
      "mcp.a.t: the id is given twice: the later capability is left out",
      "~.t: the name t is taken, and the id is no name: left out",
    ]);
  });

  it("passes on what the reader has to say", () => {
    expect(imported('(capability "a"\n :output-schema :instant)').warnings).toEqual([
      "line 2, column 17: the type :instant cannot be expressed: anything is admitted",
    ]);
    expect(importRtfs("(")).toMatchObject({ ok: false, error: { line: 1, column: 1 } });
    expect(importRtfs("; nothing")).toMatchObject({
      ok: false,
      error: { message: /no \(capability/ },
    });
  });
});

/** The items of a text, printed as the registry prints them and imported again. */
function again(text: string): [before: unknown, after: unknown, losses: string[]] {
  const { manifest } = imported(text);
  const items = Object.values(manifest).flat() as Record<string, unknown>[];
  const withIds = items.map((item, index) => ({
    ...item,
    id: String(item.id ?? `registry.s.${item.name}`),
    at: index,
  }));
  const { text: printed, losses } = printRtfs(withIds.map(exportRtfs));
  const reread = Object.values(imported(printed).manifest).flat();
  return [withIds, reread, losses];
}

describe("RTFS that was imported and printed", () => {
  it.each([
    [
      "a name for readers",
      '(capability "mcp.s.a" :name "List the Issues" :metadata {:mcp {:tool_name "list_issues"}})',
    ],
    ["a name that is its tool name", '(capability "mcp.s.a" :name "a" :metadata {:mcp {:tool_name "b"}})'],
    ["a name and a title", '(capability "mcp.s.a" :name "N" :title "T" :metadata {:mcp {:tool_name "b"}})'],
    ["a title that is its name", '(capability "x.get" :name "get" :title "get")'],
    ["an id that is none", '(capability "open weather" :name "open weather API")'],
    ["comments", ';; Sample output: 1\n(capability "a" :input-schema {:s :string ;; optional, one of a|b\n})'],
  ])("is the same item: %s", (_, text) => {
    const [before, after, losses] = again(text);
    expect(after).toEqual(before);
    expect(losses).toEqual([]);
  });

  it("keeps :name as it was written, and the tool name apart", () => {
    const [item] = imported(
      '(capability "mcp.github.list_issues" :name "List the Issues" :metadata {:mcp {:tool_name "list_issues"}})',
    ).manifest.tools as (Record<string, unknown> & { id: string })[];
    expect(item).toMatchObject({ name: "list_issues", title: "List the Issues" });
    const { text } = printRtfs(item === undefined ? [] : [exportRtfs(item)]);
    expect(text).toContain(':name "List the Issues"');
    expect(text).not.toContain(":title");
  });

  it("never goes by an id that only its metadata has", () => {
    const item = { id: "mcp.s.a", name: "a", metadata: { rtfs: { id: "mcp.other.tool" } } };
    expect(exportRtfs(item).id).toBe("mcp.s.a");
  });
});

describe("the flat view of metadata", () => {
  it("joins keys with underscores and drops lists and nil", () => {
    const metadata = {
      mcp: { server_url: "https://s/", timeout: 30, nested: { deep: true }, tags: ["a"], none: null },
      discovery: { method: "m" },
      note: "n",
    };
    const { flat, collisions } = flatten(metadata);
    expect(Object.entries(flat)).toEqual([
      ["mcp_server_url", "https://s/"],
      ["mcp_timeout", 30],
      ["mcp_nested_deep", true],
      ["discovery_method", "m"],
      ["note", "n"],
    ]);
    expect(collisions).toEqual([]);
  });

  it("reports keys that several paths lead to, the first keeping it", () => {
    expect(flatten({ mcp: { a_b: 1, a: { b: 2 } }, mcp_a: { b: 3, c: 4 }, "x/y": null })).toEqual({
      flat: { mcp_a_b: 1, mcp_a_c: 4 },
      collisions: [{ key: "mcp_a_b", paths: ["/mcp/a_b", "/mcp/a/b", "/mcp_a/b"] }],
    });
  });
});
