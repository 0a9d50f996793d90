import { describe, expect, it } from "vitest";
import type { CapabilityKind } from "../../../src/manifest/schema/capability.ts";
import { sections } from "../../../src/manifest/schema/manifest.ts";
import type { StoredManifest } from "../../../src/manifest/stored.ts";
import { fillFromLast, lastReading } from "../../../src/sources/last-reading.ts";
import { type ReadSource, sourceManifest } from "../../../src/sources/source-manifest.ts";

const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } });

function source(id: string, tools: string[], prompts: string[] = []): ReadSource {
  return {
    id,
    url: `https://${id}.example/mcp`,
    reading: {
      tools: tools.map(tool),
      prompts: prompts.map((name) => ({ name })),
      resources: [{ uri: `file:///${id}`, name: id }],
      resourceTemplates: [],
      protocolVersion: "2025-11-25",
      session: id === "one",
      ...(id === "one" ? { serverInfo: { name: "one", version: "1" }, instructions: "Ask." } : {}),
    },
  };
}

/** What is stored once a manifest was published. */
function stored({ tools, prompts, resources, resourceTemplates, ...header }: Record<string, unknown>): StoredManifest {
  const lists = { tools, prompts, resources, resourceTemplates } as Record<
    keyof typeof sections,
    Record<string, unknown>[]
  >;
  const capabilities = Object.entries(lists).flatMap(([section, items]) =>
    items.map((declared) => {
      const { kind, key } = sections[section as keyof typeof sections];
      return { kind: kind as CapabilityKind, key: key(declared), id: "", digest: "", tokens: 0, flags: [], declared };
    }),
  );
  return { digest: "", header, capabilities };
}

/** Of a published manifest what one source offered. */
function offered(manifest: Record<string, unknown>, url: string): StoredManifest {
  const { capabilities, ...rest } = stored(manifest);
  const isOwn = ({ declared }: StoredManifest["capabilities"][number]) =>
    (declared.metadata as { mcp: { server_url: string } }).mcp.server_url === url;
  return { ...rest, capabilities: capabilities.filter(isOwn) };
}

describe("the last reading of a source", () => {
  it.each([
    ["one", 0],
    ["two", 1],
  ])("stands in for %s so that nothing changes, qualified names included", (_, missing) => {
    const sources = [source("one", ["same", "a"], ["ask"]), source("two", ["same", "b"], ["ask"])];
    const { manifest } = sourceManifest("s", sources);
    expect((manifest.tools as { name: string }[]).map(({ name }) => name)).toEqual(["a", "b", "one.same", "two.same"]);
    const kept = sources.map((one, index) =>
      index === missing ? { ...one, reading: lastReading(offered(manifest, one.url), index === 0) } : one,
    );
    expect(sourceManifest("s", kept).manifest).toEqual(manifest);
  });

  it("fills a list that could not be read to its end, without bringing back what the rest replaced", () => {
    const [before, now] = [source("one", ["a", "b"]), source("one", ["b", "c"])];
    const { tools } = fillFromLast(now.reading, ["tools"], before.reading);
    expect(tools.map(({ name }) => name)).toEqual(["b", "c", "a"]);
    expect(fillFromLast(now.reading, [], before.reading).tools).toHaveLength(2);
  });
});
