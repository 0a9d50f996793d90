import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Tool as AnthropicTool } from "@anthropic-ai/sdk/resources/messages";
import type { Tool as McpTool } from "@modelcontextprotocol/server";
import fc from "fast-check";
import type { ChatCompletionFunctionTool } from "openai/resources/chat/completions";
import type { FunctionTool } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { digestOfTextSync } from "../../../../src/kernel/digest.ts";
import { definitionText } from "../../../../src/manifest/definition.ts";
import { shownFlags } from "../../../../src/manifest/flag.ts";
import {
  type DefinableItem,
  type DefinitionFormat,
  definitionFormats,
  maxCandidates,
  maxDefinitions,
  modelDefinitions,
  selectForModel,
} from "../../../../src/manifest/model/definitions.ts";
import { sendableNames } from "../../../../src/manifest/model/names.ts";
import { scanCapability } from "../../../../src/manifest/scan.ts";
import { loadTokenizer } from "../../../../src/manifest/tokens.ts";
import { obstacleTo } from "../../../../src/registry/record.ts";
import { describeFixture } from "../../../support/fixtures.ts";

const count = await loadTokenizer();
const inputSchema = { properties: { place: { type: "string" } }, required: ["place"], type: "object" };

function item(name: string, more: Partial<DefinableItem> = {}): DefinableItem {
  const { server = "weather", tenant = "demo", kind = "tool" } = more;
  const declared = { name, description: `Does ${name}.`, inputSchema, ...more.declared };
  const text = JSON.stringify(declared);
  return {
    ...{ tenant, server, kind, name, id: `${server}.${name}`, flags: [] },
    digest: digestOfTextSync(text),
    tokens: count(definitionText("tool", text)),
    ...more,
    declared,
  };
}

const define = (format: DefinitionFormat, ...items: DefinableItem[]) =>
  modelDefinitions(items, format, async () => count);

/** The types of the official packages, which the compiler compares with what is sent. */
interface Sent {
  mcp: McpTool;
  openai: FunctionTool;
  "openai-chat": ChatCompletionFunctionTool;
  anthropic: AnthropicTool;
}

const expected: { [Format in DefinitionFormat]: Sent[Format] } = {
  mcp: {
    name: "get_rain",
    description: "Does get_rain.",
    inputSchema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  },
  openai: {
    ...{ type: "function", name: "get_rain", description: "Does get_rain." },
    ...{ parameters: inputSchema, strict: false },
  },
  "openai-chat": {
    type: "function",
    function: { name: "get_rain", description: "Does get_rain.", parameters: inputSchema },
  },
  anthropic: {
    name: "get_rain",
    description: "Does get_rain.",
    input_schema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  },
};

/** Members that the packages' types have; the compiler refuses a name that they lack. */
const members: { [Format in DefinitionFormat]: (keyof Sent[Format])[] } = {
  mcp: ["name", "description", "inputSchema"],
  openai: ["type", "name", "description", "parameters", "strict"],
  "openai-chat": ["type", "function"],
  anthropic: ["name", "description", "input_schema"],
};

/** What each API says about names. */
const validName: Record<DefinitionFormat, RegExp> = {
  mcp: /^.{1,128}$/s,
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  "openai-chat": /^[a-zA-Z0-9_-]{1,64}$/,
  anthropic: /^[a-zA-Z0-9_-]{1,128}$/,
};

/** Name and schema wherever a format has them. */
function partsOf(definition: Record<string, unknown>): { name: string; schema: Record<string, unknown> } {
  const { function: inner, ...outer } = definition;
  const parts = { ...outer, ...(inner as object | undefined) } as Record<string, unknown>;
  const schema = parts.inputSchema ?? parts.parameters ?? parts.input_schema;
  return { name: parts.name as string, schema: schema as Record<string, unknown> };
}

describe.each(definitionFormats)("definitions for %s", (format) => {
  it("are what the official package takes", async () => {
    const { definitions, tokens, names, leftOut } = await define(format, item("get_rain"));
    expect(definitions).toEqual([expected[format]]);
    expect(Object.keys(definitions[0] ?? {})).toEqual(members[format]);
    expect(tokens).toBe(count(JSON.stringify(definitions[0])));
    const { tenant, server, kind, name, id, digest } = item("get_rain");
    expect(names).toEqual({ get_rain: { tenant, server, kind, name, id, digest, flags: [] } });
    expect(leftOut).toEqual([]);
  });

  it("come without a description as well", async () => {
    const { definitions } = await define(format, item("a", { declared: { description: undefined } }));
    expect(JSON.stringify(definitions)).not.toContain("description");
  });

  it("never have what the registry knows inside", async () => {
    const [low] = shownFlags([{ rule: "base64-run", path: "/description", message: "A long run" }]);
    const found = await define(format, item("a", { flags: low === undefined ? [] : [low] }));
    expect(JSON.stringify(found.definitions)).not.toMatch(/base64|sha256|demo|weather|deprecated/);
    expect(found.names.a?.flags).toEqual([{ ...low, severity: "low" }]);
  });

  it.each<[string, Partial<DefinableItem>, string, RegExp]>([
    [
      "what keeps it out of choices",
      { obstacle: { reason: "flagged", message: "Its text is flagged: exfiltration" } },
      "flagged",
      /exfiltration/,
    ],
    [
      "a schema of another type",
      { declared: { inputSchema: { type: "array" } } },
      "schema",
      /must be "object".*"array"/,
    ],
    ["several types", { declared: { inputSchema: { type: ["object", "null"] } } }, "schema", /\["object","null"\]/],
    ["a schema that says true", { declared: { inputSchema: true } }, "schema", /no object/],
    ["a reference alone", { declared: { inputSchema: { $ref: "#/$defs/a" } } }, "schema", /not given/],
    [
      "properties that are none",
      { declared: { inputSchema: { type: "object", properties: [] } } },
      "schema",
      /propert/,
    ],
    [
      "names that are no list",
      { declared: { inputSchema: { type: "object", required: "x" } } },
      "schema",
      /\/required/,
    ],
    [
      "an unknown type",
      { declared: { inputSchema: { properties: { x: { type: "strng" } } } } },
      "schema",
      /\/properties\/x\/type.*"strng"/,
    ],
    [
      "an unknown type in a list of types",
      { declared: { inputSchema: { type: "object", $defs: { x: { type: ["string", "any"] } } } } },
      "schema",
      /\/\$defs\/x\/type/,
    ],
    [
      "a property that is no schema",
      { declared: { inputSchema: { type: "object", properties: { x: "string" } } } },
      "schema",
      /\/properties\/x is no schema/,
    ],
    [
      "names that are no list deep inside",
      {
        declared: {
          inputSchema: { type: "object", properties: { x: { items: { anyOf: [true, { required: true }] } } } },
        },
      },
      "schema",
      /\/properties\/x\/items\/anyOf\/1\/required/,
    ],
    [
      "a reference elsewhere",
      { declared: { inputSchema: { type: "object", properties: { a: { $ref: "https://x.example/s.json" } } } } },
      "schema",
      /another document at \/properties\/a\/\$ref/,
    ],
  ])("leave out %s by name", async (_, more, reason, message) => {
    const found = await define(format, item("bad", more), item("good"));
    expect(Object.keys(found.names)).toEqual(["good"]);
    expect(found.leftOut).toEqual([
      { tenant: "demo", server: "weather", name: "bad", reason, message: expect.stringMatching(message) },
    ]);
  });

  it("keep values that only look like schemas", async () => {
    const properties = {
      type: { type: "string", default: { type: "strng" } },
      required: true,
      a: { const: { required: 1 } },
    };
    const found = await define(format, item("a", { declared: { inputSchema: { type: "object", properties } } }));
    expect(found.leftOut).toEqual([]);
  });

  it("keep references inside the schema as they are", async () => {
    const local = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { type: "object", properties: { b: { $ref: "#/$defs/a" } } } },
    };
    const { definitions } = await define(format, item("a", { declared: { inputSchema: local } }));
    expect(partsOf(definitions[0] ?? {}).schema).toEqual(local);
  });

  it.each([
    ["no schema", undefined, { type: "object", properties: {} }],
    ["an empty schema", {}, { type: "object", properties: {} }],
    ["properties without a type", { properties: { a: {} } }, { properties: { a: {} }, type: "object" }],
  ])("make arguments an object where there is %s", async (_, declared, sent) => {
    const found = await define(format, item("a", { declared: { inputSchema: declared } }));
    expect(partsOf(found.definitions[0] ?? {}).schema).toEqual(sent);
    expect(found.tokens).toBe(count(JSON.stringify(found.definitions[0])));
  });
});

describe("what only some APIs refuse", () => {
  const all = ["mcp", "openai", "openai-chat", "anthropic"];
  it.each([
    [{ type: "object", anyOf: [{ required: ["a"] }] }, ["mcp"]],
    [{ type: "object", oneOf: [{ required: ["a"] }] }, ["mcp"]],
    [{ type: "object", allOf: [{ required: ["a"] }] }, ["mcp"]],
    [{ type: "object", enum: [{}] }, ["mcp", "anthropic"]],
    [{ type: "object", const: {} }, ["mcp", "anthropic"]],
    [{ type: "object", not: { required: ["a"] } }, ["mcp", "anthropic"]],
    [{ type: "object", properties: { $filter: {} } }, ["mcp", "openai", "openai-chat"]],
    [{ type: "object", properties: { ["a".repeat(65)]: {} } }, ["mcp", "openai", "openai-chat"]],
    [{ type: "object", properties: { a: { anyOf: [{}], enum: [1] } } }, all],
  ])("%j is taken by %j", async (schema, takers) => {
    const taken = await Promise.all(
      definitionFormats.map(async (format) => {
        const { definitions } = await define(format, item("a", { declared: { inputSchema: schema } }));
        return definitions.length === 1 ? [format] : [];
      }),
    );
    expect(taken.flat()).toEqual(takers);
  });

  it("an object without properties gets empty ones for OpenAI", async () => {
    const bare = item("a", { declared: { inputSchema: { type: "object" } } });
    const schemas = await Promise.all(
      definitionFormats.map(async (format) => partsOf((await define(format, bare)).definitions[0] ?? {}).schema),
    );
    const filled = { type: "object", properties: {} };
    expect(schemas).toEqual([{ type: "object" }, filled, filled, { type: "object" }]);
  });
});

describe("names", () => {
  const openai = { maxLength: 64, replaceOthers: true };
  const mcp = { maxLength: 128, replaceOthers: false };
  const named = (name: string, server = "s", tenant = "t", kind = "tool") => ({ tenant, server, kind, name });

  it.each([
    ["weather.get/rain", "weather_get_rain"],
    ["get rain!", "get_rain"],
    ["a".repeat(64), "a".repeat(64)],
    ["a".repeat(65), expect.stringMatching(/^a{55}_[0-9a-f]{8}$/)],
    ["天気", expect.stringMatching(/^tool_[0-9a-f]{8}$/)],
    ["__proto__", "s____proto__"],
  ])("%s becomes %s", (name, sent) => {
    expect(sendableNames([named(name)], openai)).toEqual([sent]);
  });

  it("that clash all get their server's, and stay if the order changes", () => {
    const items = [named("get", "a"), named("put", "a"), named("get", "b"), named("a__get", "c")];
    const names = sendableNames(items, mcp);
    expect(names.slice(1, 3)).toEqual(["put", "b__get"]);
    // The third item's own name is what the first would get: both move on.
    expect(names[0]).toMatch(/^a__get_[0-9a-f]{8}$/);
    expect(names[3]).toBe("c__a__get");
    expect(sendableNames(items.toReversed(), mcp)).toEqual(names.toReversed());
  });

  it("that clash in one server, or in servers of one name, differ by a hash", () => {
    const items = [named("a.b"), named("a/b"), named("a_b", "s", "other"), named("a_b", "s", "other", "operation")];
    const names = sendableNames(items, openai);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^s__a_b_[0-9a-f]{8}$/);
  });

  it("are valid and unique for whatever was published, in any order", () => {
    const text = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_.\-/]{1,128}$/),
      fc.constantFrom("a", "a.b", "a_b", "s__a", "__proto__", "constructor", ".", "x".repeat(128)),
      fc.string(),
    );
    const one = fc.record({ tenant: text, server: text, kind: fc.constantFrom("tool", "operation"), name: text });
    fc.assert(
      fc.property(fc.uniqueArray(one, { maxLength: 20, selector: (item) => JSON.stringify(item) }), (items) => {
        const names = sendableNames(items, openai);
        expect(new Set(names).size).toBe(items.length);
        for (const name of names) expect(name).toMatch(validName.openai);
        expect(sendableNames(items.toReversed(), openai)).toEqual(names.toReversed());
      }),
    );
  });
});

describe("the selection", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => item(`t${n}`, { kind: n % 2 === 0 ? "tool" : "operation" }));

  it("takes tools and operations, as many as are read, and names the others", () => {
    const { selected, leftOut } = selectForModel([item("p", { kind: "prompt" }), ...many(maxCandidates + 1)]);
    expect(selected.map(({ name }) => name)).toEqual(Array.from({ length: maxCandidates }, (_, n) => `t${n}`));
    expect(leftOut.map(({ name, reason }) => [name, reason])).toEqual([
      ["p", "kind"],
      ["t100", "limit"],
    ]);
  });

  it("gives the twenty places to what can be sent", async () => {
    const obstacle = { reason: "flagged", message: "Its text is flagged" } as const;
    const wrong = { inputSchema: { type: "array" } };
    const chosen = [
      ...[item("flagged", { obstacle }), item("wrong", { declared: wrong })],
      ...many(maxDefinitions + 1),
      ...[item("flagged_late", { obstacle }), item("wrong_late", { declared: wrong })],
    ];
    const { definitions, leftOut } = await define("openai", ...chosen);
    expect(definitions).toHaveLength(maxDefinitions);
    expect(leftOut.map(({ name, reason }) => [name, reason])).toEqual([
      ["flagged", "flagged"],
      ["wrong", "schema"],
      ["t20", "limit"],
      ["flagged_late", "flagged"],
      ["wrong_late", "schema"],
    ]);
  });
});

describe("the cost for mcp", () => {
  it("is the sum of the items' own, unless one is renamed; the tokenizer is not loaded for it", async () => {
    const items = [item("a"), item("b")];
    const never = () => Promise.reject(new Error("loaded"));
    const { tokens } = await modelDefinitions(items, "mcp", never);
    expect(tokens).toBe(items.reduce((sum, one) => sum + (one.tokens ?? 0), 0));
    const clash = await define("mcp", item("a"), item("a", { server: "other" }));
    expect(clash.tokens).toBe(clash.definitions.reduce((sum, one) => sum + count(JSON.stringify(one)), 0));
  });
});

describe("the demo catalogue", () => {
  const folder = join(import.meta.dirname, "../../../../examples/demo");
  const items = ["weather", "compose", "shop"].flatMap((server) => {
    const { manifest } = JSON.parse(readFileSync(join(folder, `${server}.json`), "utf8"));
    const callable: { name: string }[] = [...(manifest.tools ?? []), ...(manifest.operations ?? [])];
    return callable.map((declared) => item(declared.name, { server, declared }));
  });

  it.each(definitionFormats)("goes through to %s whole", async (format) => {
    const { definitions, leftOut } = await define(format, ...items);
    expect([items.length > 0, definitions.length, leftOut]).toEqual([true, items.length, []]);
  });
});

describeFixture("the real catalogue", "catalog/mcp-servers.ndjson.gz", (location) => {
  const lines = gunzipSync(readFileSync(location)).toString("utf8").trim().split("\n");
  const servers = lines.map((line) => JSON.parse(line) as { identifier: string; tools: { name: string }[] });
  const items = servers.flatMap(({ identifier, tools }) =>
    tools.map((declared) => {
      const flags = shownFlags(scanCapability({ kind: "tool", name: declared.name, declared }));
      const obstacle = obstacleTo({ flags, status: "active" });
      const [tenant = "", ...server] = identifier.split("/");
      return item(declared.name, { tenant, server: server.join("/"), tokens: 0, flags, obstacle, declared });
    }),
  );
  /** As many as one answer has. */
  const pages = Array.from({ length: Math.ceil(items.length / maxDefinitions) }, (_, page) =>
    items.slice(page * maxDefinitions, (page + 1) * maxDefinitions),
  );

  it.each(definitionFormats)("goes through to %s, all but a few by name", { timeout: 120_000 }, async (format) => {
    const reasons: Record<string, number> = {};
    let sent = 0;
    for (const page of pages) {
      const { definitions, names, leftOut } = await modelDefinitions(page, format, async () => () => 1);
      for (const { reason } of leftOut) reasons[reason] = (reasons[reason] ?? 0) + 1;
      const own = definitions.map((definition) => partsOf(definition));
      for (const { name, schema } of own) {
        expect(name).toMatch(validName[format]);
        expect(schema.type).toBe("object");
      }
      // Every name leads back to one item of the page, and every item of the page is sent or named.
      expect(own.map(({ name }) => name)).toEqual(Object.keys(names).sort(byPlace(own.map(({ name }) => name))));
      const back = Object.values(names).map(({ id, digest }) => `${id} ${digest}`);
      expect(back.every((one) => page.some(({ id, digest }) => one === `${id} ${digest}`))).toBe(true);
      expect(definitions.length + leftOut.length).toBe(page.length);
      sent += definitions.length;
    }
    const refused = { mcp: 14, openai: 46, "openai-chat": 46, anthropic: 47 }[format];
    expect(items).toHaveLength(11_890);
    expect([sent + (reasons.flagged ?? 0) + (reasons.schema ?? 0), reasons.schema ?? 0]).toEqual([11_890, refused]);
  });

  it("has names that are unique and valid even all at once", () => {
    const names = sendableNames(items, { maxLength: 64, replaceOthers: true });
    expect(new Set(names).size).toBe(items.length);
    expect(names.filter((name) => !validName.openai.test(name))).toEqual([]);
  });
});

function byPlace(order: readonly string[]): (a: string, b: string) => number {
  return (a, b) => order.indexOf(a) - order.indexOf(b);
}
