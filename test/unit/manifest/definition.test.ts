import { countTokens } from "gpt-tokenizer/encoding/cl100k_base";
import { describe, expect, it } from "vitest";
import { defaultBounds } from "../../../src/kernel/bounds.ts";
import { withoutPauses } from "../../../src/kernel/pace/pace.ts";
import { definitionOf } from "../../../src/manifest/definition.ts";
import { readIntake } from "../../../src/manifest/intake/intake.ts";
import { prepareManifest } from "../../../src/manifest/prepare.ts";
import type { CapabilityKind } from "../../../src/manifest/schema/capability.ts";
import { loadTokenizer } from "../../../src/manifest/tokens.ts";
import { sourceManifest } from "../../../src/sources/source-manifest.ts";

const extra = {
  ...{ id: "my.id", title: "T", provider: "mcp", permissions: ["p"], effects: ["e"], version: "1" },
  metadata: { mcp: { server_url: "https://up.example/mcp" }, discovery: { method: "mcp" } },
  _meta: { note: "a note of the publisher" },
};
const inputSchema = { type: "object", properties: { zeta: { type: "string" }, alpha: { type: "number" } } };

const cases: [kind: CapabilityKind, section: string, item: Record<string, unknown>, definition: string][] = [
  [
    "tool",
    "tools",
    { name: "add", description: "Adds.", inputSchema, outputSchema: { type: "object" }, annotations: { title: "A" } },
    '{"name":"add","description":"Adds.","inputSchema":{"properties":{"alpha":{"type":"number"},"zeta":{"type":"string"}},"type":"object"}}',
  ],
  ["operation", "operations", { name: "getPet", inputSchema: {} }, '{"name":"getPet","inputSchema":{}}'],
  [
    "prompt",
    "prompts",
    {
      name: "ask",
      arguments: [{ name: "q" }],
      promptResponse: [{ role: "user", content: { type: "text", text: "x" } }],
    },
    '{"name":"ask","arguments":[{"name":"q"}]}',
  ],
  [
    "resource",
    "resources",
    { uri: "db://x", name: "X", description: "An x.", mimeType: "text/plain", size: 7 },
    '{"uri":"db://x","name":"X","description":"An x.","mimeType":"text/plain"}',
  ],
  [
    "resourceTemplate",
    "resourceTemplates",
    { uriTemplate: "db://{x}", name: "X", parameters: [{ name: "x" }] },
    '{"uriTemplate":"db://{x}","name":"X"}',
  ],
  [
    "resourceTemplate",
    "resourceTemplates",
    { patterns: ["db://{x}", "db://{x}/{y}"], mimeType: "text/plain" },
    '{"uriTemplate":"db://{x}","mimeType":"text/plain"}',
  ],
  [
    "generator",
    "generators",
    { type: "jinja2", name: "J", bestFor: ["text"], requirements: { fields: ["a"] }, capabilities: ["c"] },
    '{"type":"jinja2","name":"J","bestFor":["text"],"requirements":{"fields":["a"]}}',
  ],
];

async function prepared(document: Record<string, unknown>) {
  const intake = readIntake({ value: document, issues: [] });
  if (!intake.ok) throw new Error(JSON.stringify(intake.error));
  const result = await prepareManifest(intake.value, {
    ...{ server: "s", partial: false, bounds: defaultBounds, charactersBeforeLookup: 0 },
    knownTokens: async () => new Map(),
    loadTokenizer,
    pace: withoutPauses,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.capabilities;
}

describe("the definition of an item", () => {
  it.each(cases)(
    "of a %s is what its cost counts, whatever else it declares",
    async (kind, section, item, definition) => {
      const [bare] = await prepared({ [section]: [item] });
      const [rich] = await prepared({ [section]: [{ ...extra, ...item, enabled: true, lastSynced: "now" }] });
      expect(JSON.stringify(definitionOf(kind, JSON.parse(rich?.text ?? "")))).toBe(definition);
      expect([bare?.tokens, rich?.tokens]).toEqual([countTokens(definition), countTokens(definition)]);
    },
  );

  it("costs the same pushed or read from a source", async () => {
    const tools = [{ name: "only_a", description: "Does a.", inputSchema }];
    const prompts = [{ name: "ask", description: "Asks.", arguments: [{ name: "q", required: true }] }];
    const resources = [{ uri: "db://x", name: "x" }];
    const resourceTemplates = [{ uriTemplate: "db://{x}", name: "x" }];
    const lists = { tools, prompts, resources, resourceTemplates };
    const offer = { protocolVersion: "2025-11-25", session: true, ...lists };
    const { manifest } = sourceManifest("s", [{ id: "a", url: "https://up.example/mcp", offer }]);
    const [pushed, read] = [await prepared(lists), await prepared(manifest)];
    expect(read.map(({ digest }) => digest)).not.toEqual(pushed.map(({ digest }) => digest));
    expect(read.map(({ key, tokens }) => [key, tokens])).toEqual(pushed.map(({ key, tokens }) => [key, tokens]));
  });

  it("does not depend on the order in which a schema was published", async () => {
    const properties = { alpha: { type: "number" }, zeta: { type: "string" } };
    const [one, other] = await prepared({
      tools: [
        { name: "aa", inputSchema },
        { name: "bb", inputSchema: { properties, type: "object" } },
      ],
    });
    expect(one?.tokens).toBe(other?.tokens);
  });
});
