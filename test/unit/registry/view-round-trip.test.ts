import fc from "fast-check";
import { expect, it } from "vitest";
import { defaultBounds } from "../../../src/kernel/bounds.ts";
import { withoutPauses } from "../../../src/kernel/pace/pace.ts";
import { readJson } from "../../../src/kernel/read-json.ts";
import { readIntake } from "../../../src/manifest/intake/intake.ts";
import { prepareManifest } from "../../../src/manifest/prepare.ts";
import type { StoredManifest } from "../../../src/manifest/stored.ts";
import type { Head } from "../../../src/registry/contract.ts";
import { namedView } from "../../../src/registry/views/named.ts";
import type { GeneratorsView, ResourcesView, ServerView, ToolsView } from "../../../src/registry/views/schema.ts";

const head: Head = {
  ...{ tenant: "t", name: "s", visibility: "tenant", status: "active" },
  ...{ generation: 1, asOf: 1, overlay: 1, disabled: [], flags: [] },
};

/** What is stored of a document. */
async function published(value: unknown): Promise<StoredManifest> {
  const intake = readIntake({ value, issues: [] });
  if (!intake.ok) throw new Error(intake.error.message);
  const prepared = await prepareManifest(intake.value, {
    ...{ server: "s", partial: false, bounds: defaultBounds, charactersBeforeLookup: 0 },
    knownTokens: async () => new Map(),
    loadTokenizer: async () => (text) => text.length,
    pace: withoutPauses,
  });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
  const { digest, header, capabilities } = prepared.value;
  const stored = capabilities.map(({ text, ...item }) => ({
    ...item,
    declared: readJson(text) as Record<string, unknown>,
  }));
  return { digest, header, capabilities: stored };
}

interface Views {
  server: ServerView;
  tools: ToolsView;
  resources: ResourcesView;
  generators: GeneratorsView;
}

function viewsOf(manifest: StoredManifest): Views {
  const shown = (name: keyof Views) => readJson(namedView(name).render(manifest, head) ?? "null");
  const names = ["server", "tools", "resources", "generators"] as const;
  return Object.fromEntries(names.map((name) => [name, shown(name)])) as unknown as Views;
}

/** A manifest put together from what the views print, in their own spelling. */
function fromViews({ server, tools, resources, generators }: Views): Record<string, unknown> {
  const { name, version, mcp_version, features, limits, runtime, concurrency_limits } = server;
  return {
    ...{ server_info: { name, version }, mcp_version, features, limits, runtime, concurrency_limits },
    ...(version === "" ? {} : { version }),
    selection_strategy: generators.selection_strategy,
    tools: Object.values(tools.tools_by_category)
      .flat()
      .map(({ version: of, ...tool }) => (of === "" ? tool : { ...tool, version: of })),
    resource_templates: Object.entries(resources.resources).map(([family, rest]) => ({ name: family, ...rest })),
    generators: Object.values(generators.generators).map(({ version: of, ...rest }) =>
      of === "" ? rest : { ...rest, version: of },
    ),
  };
}

const word = fc.string({ unit: fc.constantFrom(..."abcdefg"), minLength: 1, maxLength: 6 });
const words = fc.uniqueArray(word, { maxLength: 3 });
/** Few schemes and MIME types, so that families meet. */
const scheme = fc.constantFrom("a", "b");
const mimeType = fc.constantFrom("", "t/a", "t/b");
const uri = (path: string) => fc.tuple(scheme, word).map(([of, text]) => `${of}://${path}-${text}`);
const schema = fc.record({
  type: fc.constant("object"),
  properties: fc.dictionary(word, fc.record({ type: word, best_for: word })),
});
const named = <T extends Record<string, fc.Arbitrary<unknown>>>(members: T, key: keyof T & string) =>
  fc.uniqueArray(fc.record(members, { requiredKeys: [key] }), { maxLength: 4, selector: (item) => item[key] });

const manifest = fc.record(
  {
    version: word,
    mcpVersion: word,
    serverInfo: fc.record({ name: word, version: word }),
    features: fc.dictionary(word, fc.boolean()),
    limits: fc.dictionary(word, fc.nat()),
    runtime: fc.dictionary(word, word),
    concurrencyLimits: fc.dictionary(word, fc.nat()),
    selectionStrategy: fc.record({ type: word, explanation: word, fallback: word }),
    tools: named(
      {
        ...{ name: word, title: word, description: word, version: word, inputSchema: schema, outputSchema: schema },
        category: fc.constantFrom("content", "query", "storage", "own"),
        examples: fc.array(fc.record({ input: fc.jsonValue(), description: word }), { maxLength: 2 }),
        commonErrors: fc.array(fc.record({ code: word, message: word }), { maxLength: 2 }),
        performance: fc.record({ typicalMs: word, timeoutMs: word }, { requiredKeys: [] }),
      },
      "name",
    ),
    resources: named({ uri: uri("r"), name: word, description: word, mimeType }, "uri"),
    resourceTemplates: named(
      {
        ...{ uriTemplate: uri("t-{id}"), name: fc.oneof(word, scheme), description: word, mimeType },
        patterns: words.map((list) => list.map((text) => `a://p-${text}-{id}`)),
        parameters: fc.array(fc.record({ name: word, type: word, description: word, enum: words }), { maxLength: 2 }),
        examples: words,
      },
      "uriTemplate",
    ),
    generators: named(
      {
        ...{
          type: word,
          name: word,
          version: word,
          pluginPath: word,
          capabilities: words,
          bestFor: words,
          docsUri: word,
        },
        source: fc.constantFrom("builtin", "plugin"),
        status: fc.constantFrom("stable", "experimental", "deprecated"),
        indicators: fc.record({ configFields: words, confidence: fc.constant("high") }, { requiredKeys: [] }),
        requirements: fc.record({ fields: words, dependencies: words, envVars: words }, { requiredKeys: [] }),
        upstreamDependencies: fc.option(
          fc.record({
            ...{ services: fc.constant(["s"]), credentialsRequired: words, optionalServices: words },
            expectedLatencyMs: fc.constant({ p50: 1, p95: 2 }),
            stability: fc.constantFrom("stable", "beta"),
            concurrencySafe: fc.boolean(),
          }),
        ),
      },
      "type",
    ),
  },
  { requiredKeys: ["tools"] },
);

/** Views show a part of an item; digest and cost are of the whole. */
function withoutRecords(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, member) => (key === "registry" ? undefined : member)));
}

it("what views print can be published, and is printed again", async () => {
  await fc.assert(
    fc.asyncProperty(manifest, async (document) => {
      const first = viewsOf(await published(document));
      const sent = readJson(JSON.stringify(fromViews(first)));
      expect(withoutRecords(viewsOf(await published(sent)))).toEqual(withoutRecords(first));
    }),
  );
});
