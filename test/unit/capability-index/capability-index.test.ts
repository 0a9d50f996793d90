import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  actionTriggers,
  declaredVerbs,
  TriggerCollector,
  type TriggerElement,
} from "../../../src/capability-index/action-triggers.ts";
import { advertisedBy } from "../../../src/capability-index/advertise.ts";
import { elementBlock, labelOf, summaryLine } from "../../../src/capability-index/elements.ts";
import { flow, flowList, keyLine, scalar, valueText } from "../../../src/capability-index/print-yaml.ts";
import { AdvertiseSettings } from "../../../src/capability-index/schema.ts";
import {
  contextHint,
  elementsBlocks,
  indexUri,
  metadataBlock,
  notesBlock,
  statsText,
  triggersBlock,
  withComments,
} from "../../../src/capability-index/text.ts";
import { estimateTokens, sizeOfText, smallestContext } from "../../../src/capability-index/token-estimate.ts";
import { canonicalVerb, verbOfName } from "../../../src/capability-index/verbs.ts";
import type { CapabilityKind } from "../../../src/manifest/schema/capability.ts";
import type { SectionName } from "../../../src/manifest/schema/manifest.ts";
import { type CountTokens, loadTokenizer } from "../../../src/manifest/tokens.ts";
import { Advertise } from "../../../src/registry/schema.ts";

let count: CountTokens;
beforeAll(async () => {
  count = await loadTokenizer();
});

/** As readers of both versions take it. */
const readings = (text: string) => (["1.1", "1.2"] as const).map((version) => parse(text, { version }));
const twice = (value: unknown) => [value, value];

describe("the estimate", () => {
  it.each([
    [6_675, 646, 1_254],
    [280_832, 20_311, 48_306],
    [0, 0, 0],
    [4, 1, 1],
    [1, 1, 1],
  ])("of %i characters and %i words is %i tokens", (chars, words, tokens) => {
    expect(estimateTokens({ chars, words })).toBe(tokens);
  });

  it.each([
    ["", 0, 0, 0],
    ["one", 3, 1, 1],
    ["one\n", 4, 1, 1],
    [" one  two\n\nthree\t\n", 18, 3, 3],
    ["a\u00a0b", 3, 2, 1],
    ["\n", 1, 0, 1],
  ])("takes %j for so many characters, words and lines", (text, chars, words, lines) => {
    expect(sizeOfText(text)).toEqual({ chars, words, lines });
  });

  it.each([
    [50, "8K"],
    [800, "8K"],
    [801, "32K"],
    [1_254, "32K"],
    [3_201, "128K"],
    [12_801, "200K"],
    [20_000, "200K"],
    [20_001, "500K"],
    [48_306, "500K"],
    [50_001, "1M"],
    [150_000, "2M"],
    [400_000, "4M"],
    [400_001, undefined],
  ])("of %i suits a context of %s", (tokens, context) => {
    expect(smallestContext(tokens)).toBe(context);
    expect(contextHint(tokens)).toContain(context ?? "more than a tenth of a context of 4M");
  });
});

describe("verbs", () => {
  it.each([
    ["create", "create"],
    ["Creating", "create"],
    ["generated", "create"],
    ["removes", "delete"],
    ["stopped", "stop"],
    ["copies", "copy"],
    ["searches", "search"],
    ["analysing", "analyze"],
    ["debugging", "debug"],
    ["issue", undefined],
    ["", undefined],
    ["constructor", undefined],
    ["__proto__", undefined],
  ])("%s means %s", (word, verb) => {
    expect(canonicalVerb(word)).toBe(verb);
  });

  it("that stand for others stand for themselves", () => {
    for (const word of ["get", "list", "update", "send", "run", "query", "fetch", "find"]) {
      const verb = canonicalVerb(word);
      expect(verb).toBeDefined();
      expect(canonicalVerb(verb ?? "")).toBe(verb);
    }
  });

  it.each([
    ["create_issue", "create"],
    ["issues/create", "create"],
    ["listOpenIssues", "list"],
    ["get-open-orders", "get"],
    ["userList", "list"],
    ["bulk_update_items", "update"],
    ["HTTPFetch", "fetch"],
    ["weather", undefined],
    ["", undefined],
    ["___", undefined],
  ])("in %s are %s", (name, verb) => {
    expect(verbOfName(name)).toBe(verb);
  });
});

const tool = (key: string, more: Partial<TriggerElement> = {}): TriggerElement => ({
  ...{ label: key, server: "s", kind: "tool", key, id: `mcp.s.${key}` },
  ...more,
});

describe("action triggers", () => {
  it("come from names, in order of the alphabet", () => {
    const triggers = actionTriggers([
      tool("search_b"),
      tool("create_a"),
      tool("find_c"),
      tool("query_a"),
      tool("misc"),
    ]);
    expect([...triggers]).toEqual([
      ["create", ["create_a"]],
      ["find", ["find_c"]],
      ["search", ["search_b", "query_a"]],
    ]);
  });

  it("have those that were declared first, by key or id, then those that items declare, then those by name", () => {
    const elements = [tool("create_a"), tool("b", { declared: ["Create"] }), tool("c"), tool("d")];
    const declared = [{ server: "s", triggers: { create: ["d", "mcp.s.c"], " Chant ": ["c"] } }];
    expect(Object.fromEntries(actionTriggers(elements, declared))).toEqual({
      chant: ["c"],
      create: ["d", "c", "b", "create_a"],
    });
  });

  it("are the same for elements that come one by one", () => {
    const verb = fc.constantFrom("create", "get", "hum", "bite", "slither");
    const element = fc.record({
      key: fc.constantFrom("create_a", "get_b", "c", "d_list", "e", "f"),
      server: fc.constantFrom("s", "t"),
      declared: fc.array(verb, { maxLength: 3 }),
    });
    const wanted = fc.dictionary(verb, fc.array(fc.constantFrom("create_a", "get_b", "c", "mcp.s.e", "none")));
    fc.assert(
      fc.property(fc.array(element, { maxLength: 40 }), wanted, wanted, (some, ofS, ofT) => {
        const all = some
          .map(({ key, ...rest }, at) => tool(key, { ...rest, label: `${rest.server}/${key}${at}` }))
          .sort((a, b) => (a.server < b.server ? -1 : 1));
        const collector = new TriggerCollector();
        for (const [server, triggers] of Object.entries({ s: ofS, t: ofT })) {
          const own = all.filter((one) => one.server === server);
          for (const one of own) collector.addElement(one);
          collector.addDeclared(triggers, own);
        }
        const declared = [
          { server: "s", triggers: ofS },
          { server: "t", triggers: ofT },
        ];
        expect([...collector.triggers()]).toEqual([...actionTriggers(all, declared)]);
      }),
    );
  });

  it("name no element that is not there, nor another server's", () => {
    const elements = [tool("a"), tool("x", { server: "other", label: "other/x" })];
    const declared = [{ server: "s", triggers: { chant: ["a", "off", "x", 7, null], hum: ["off"] } }];
    expect(Object.fromEntries(actionTriggers(elements, declared))).toEqual({ chant: ["a"] });
  });

  it("have ten elements at most, each once, the declared before the others", () => {
    const elements = Array.from({ length: 30 }, (_, index) => tool(`get_${index}`));
    const declared = [{ server: "s", triggers: { get: ["get_29", "get_29", "get_28"] } }];
    const labels = actionTriggers(elements, declared).get("get");
    expect(labels).toHaveLength(10);
    expect(labels?.slice(0, 3)).toEqual(["get_29", "get_28", "get_0"]);
  });

  it("read no verbs from URIs and types", () => {
    expect(
      actionTriggers([tool("file:///get", { kind: "resource" }), tool("create", { kind: "generator" })]).size,
    ).toBe(0);
    expect(actionTriggers([tool("list_prompts", { kind: "prompt" })]).size).toBe(1);
  });

  it("are bounded, whatever is declared", () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`verb${index}`, ["a"]]));
    expect(actionTriggers([tool("a")], [{ server: "s", triggers: many }]).size).toBe(500);
    for (const odd of [null, 7, "x", [], [["a"]], { get: "a" }, { ["g".repeat(65)]: ["a"] }, { "": ["a"] }]) {
      expect(actionTriggers([tool("a")], [{ server: "s", triggers: odd }]).size).toBe(0);
    }
  });

  it.each([
    ["Fix", ["fix"]],
    [
      ["fix", "FIX", "mend"],
      ["fix", "mend"],
    ],
    [[1, null, "fix"], ["fix"]],
    [{ fix: true }, []],
    [undefined, []],
  ])("that an item declares as %j are %j", (value, verbs) => {
    expect(declaredVerbs(value)).toEqual(verbs);
  });
});

describe("advertising", () => {
  const off = { summary: false, full: false, stats: false };
  it.each([
    ["nothing said", undefined, off],
    ["nothing in it", {}, off],
    ["variants without the switch", { variants: { summary: true, full: true, stats: true } }, off],
    ["the switch off", { advertiseResources: false, variants: { summary: true } }, off],
    ["the switch alone", { advertiseResources: true }, { ...off, stats: true }],
    ["the other spelling", { advertise_resources: true }, { ...off, stats: true }],
    ["the figures off", { advertiseResources: true, variants: { stats: false } }, off],
    ["summary", { advertiseResources: true, variants: { summary: true } }, { ...off, summary: true, stats: true }],
    ["full alone", { advertiseResources: true, variants: { full: true, stats: false } }, { ...off, full: true }],
  ])("with %s", (_, settings, advertised) => {
    expect(advertisedBy(settings)).toEqual(advertised);
  });

  it("cannot be said in two ways at once", () => {
    for (const schema of [Advertise, AdvertiseSettings]) {
      expect(schema.safeParse({ advertiseResources: true, advertise_resources: false }).success).toBe(false);
      expect(schema.safeParse({ advertiseResources: true, advertise_resources: true }).success).toBe(true);
    }
    expect(AdvertiseSettings.safeParse({ advertise: true }).success).toBe(false);
    expect(Advertise.safeParse({ mine: 1 }).success).toBe(true);
  });
});

const trap = fc.constantFrom(
  ...["yes", "No", "on", "OFF", "y", "null", "~", "true", "1e3", "0x1f", "0o17", "017", "1_000", "12:30:45", ".inf"],
  ...[
    "2025-10-16",
    "<<",
    "=",
    "- a",
    "a: b",
    "a #b",
    "# a",
    "!!js/x",
    "&a",
    "*a",
    "|",
    ">",
    "%",
    "@",
    "`",
    "",
    " ",
    "{}",
  ],
  ...[
    "a\nb",
    "a\u2028b",
    "a\u0085b",
    "\ufeff",
    "'",
    '"',
    "\\",
    "a,",
    "[",
    "---",
    "...",
    "__proto__",
    "e5",
    "🙂",
    "\u0000",
  ],
);
const anyText = fc.oneof(
  trap,
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.string({ unit: "binary", maxLength: 30 }),
);
const anyJson = fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)));

describe("YAML", () => {
  it("reads back as any text, as key and value, to readers of both versions", () => {
    fc.assert(
      fc.property(anyText, anyText, (key, value) => {
        // A text that no UTF-8 can carry cannot be published either.
        fc.pre(key.isWellFormed() && value.isWellFormed());
        const text = `${keyLine("", key)} ${scalar(value)}\n`;
        for (const read of readings(text)) expect(Object.entries(read)).toEqual([[key, value]]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("reads back as any value, on one line that every reader takes for one", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = valueText(value);
        expect(text).not.toMatch(/[\n\r\u0085\u2028\u2029\ufeff]/);
        expect(readings(`v: ${text}\n`)).toEqual(twice({ v: value }));
      }),
      { numRuns: 500 },
    );
  });

  it("reads back as any list of texts", () => {
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        fc.pre(texts.every((text) => text.isWellFormed()));
        expect(readings(`v: ${flowList(texts)}\n`)).toEqual(twice({ v: texts }));
      }),
    );
  });

  it.each(["yes", "No", "1e3", "null", "2025-10-16", "0o17", "12:30", "y", "<<"])("quotes %s", (text) => {
    expect(scalar(text)).toBe(JSON.stringify(text));
    expect(flowList([text])).toBe(`[${JSON.stringify(text)}]`);
  });

  it.each(["Create an issue.", "shop/create_order", "Reads, writes (and deletes)"])("leaves %s as it is", (text) => {
    expect(scalar(text)).toBe(text);
  });

  it("writes numbers that are numbers to both", () => {
    for (const number of [0, -1, 1.5, 1e21, -1e-7, 1e300, 2 ** 53]) {
      expect(readings(`v: ${flow(number)}\n`)).toEqual(twice({ v: number }));
    }
    expect(flow(1e21)).toBe("1.0e+21");
  });

  it("writes keys that are too long for a line", () => {
    const key = `file:///${"x".repeat(2_000)}`;
    expect(readings(`a:\n${keyLine("  ", key)}\n    b: 1\n`)).toEqual(twice({ a: { [key]: { b: 1 } } }));
  });
});

const kinds: CapabilityKind[] = ["tool", "prompt", "resource", "resourceTemplate", "generator", "operation"];
const anyElement = fc.record({
  server: fc.constantFrom("shop", "Git.1"),
  kind: fc.constantFrom(...kinds),
  key: anyText.filter((text) => text.isWellFormed()),
  id: fc.string({ unit: "grapheme-ascii", minLength: 1 }),
  declared: fc.dictionary(
    fc.oneof(
      anyText,
      fc.constantFrom("id", "server", "inputSchema", "input_schema", "semantic", "triggers", "effects"),
    ),
    anyJson,
  ),
});

describe("blocks", () => {
  it("cost together what they cost one by one, and read back", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyElement, { maxLength: 8, selector: ({ server, kind, key }) => `${server} ${kind} ${key}` }),
        fc.dictionary(
          anyText,
          fc.array(
            anyText.filter((text) => text.isWellFormed()),
            { maxLength: 3 },
          ),
        ),
        (elements, triggers) => {
          fc.pre(Object.keys(triggers).every((verb) => verb.isWellFormed()));
          const sections = Map.groupBy(elements, ({ kind }) => `${kind}s` as SectionName);
          const blocks = [
            metadataBlock({ created: null, lastUpdated: "2025-10-16T00:00:00.000Z", totalElements: elements.length }),
            triggersBlock(new Map(Object.entries(triggers))),
            ...elementsBlocks(
              new Map(
                [...sections].map(([name, some]) => [name, some.map((one) => elementBlock(one, true, "9 tokens"))]),
              ),
              (text) => text,
            ),
            notesBlock([
              { name: "shop", elements: 3, notice: "deprecated", relationships: { a: [1] }, semantic: "yes" },
            ]),
          ];
          const text = blocks.join("");
          const tokens = blocks.reduce((sum, block) => sum + count(block), 0);
          expect(tokens).toBe(count(text));

          const size = sizeOfText(text);
          const whole = withComments("full", { tenant: "acme" }, elements.length, { text, tokens, size }, count);
          expect(whole.tokens).toBe(count(whole.text));
          expect(whole.size).toEqual(sizeOfText(whole.text));
          const estimated = estimateTokens(whole.size);
          expect(whole.text).toContain(`# Tokens: ${whole.tokens} measured (cl100k_base), ${estimated} estimated;`);

          for (const read of readings(whole.text)) {
            expect(Object.keys(read)).toEqual(["metadata", "action_triggers", "elements", "relationships", "semantic"]);
            expect(read.metadata).toEqual({
              version: "1.0.0",
              created: null,
              last_updated: "2025-10-16T00:00:00.000Z",
              total_elements: elements.length,
            });
            expect(read.action_triggers).toEqual(triggers);
            for (const element of elements) {
              const shown = read.elements[`${element.kind}s`][labelOf(element, true)];
              expect(shown).toMatchObject({ id: element.id, server: element.server });
            }
            expect(read.semantic).toEqual({ shop: "yes" });
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  it("of an empty index are an index", () => {
    const text = [
      metadataBlock({ created: null, lastUpdated: null, totalElements: 0 }),
      triggersBlock(new Map()),
      ...elementsBlocks<string>(new Map(), (line) => line),
      notesBlock([]),
    ].join("");
    expect(readings(text)).toEqual(
      twice({
        metadata: { version: "1.0.0", created: null, last_updated: null, total_elements: 0 },
        action_triggers: {},
        elements: {},
        relationships: { servers: {} },
        semantic: {},
      }),
    );
  });

  it("show what was declared, its own names apart from ours", () => {
    const declared = {
      name: "pay",
      description: "Pays.\nAt once.",
      inputSchema: { type: "object", properties: { yes: { type: "string" } } },
      annotations: { destructiveHint: false },
      category: "storage",
      permissions: ["pay:write"],
      actionTriggers: ["Pay"],
      id: "x",
      icons: [{ src: "data:" }],
      metadata: { mcp: {} },
      server: "mine",
    };
    const [read] = readings(
      elementBlock({ server: "shop", kind: "tool", key: "pay", id: "mcp.shop.pay", declared }, true, "9 tokens"),
    );
    expect(read).toEqual({
      "shop/pay": {
        id: "mcp.shop.pay",
        server: "shop",
        triggers: ["pay"],
        semantic: { category: "storage", permissions: ["pay:write"], annotations: { destructiveHint: false } },
        description: "Pays.\nAt once.",
        input_schema: declared.inputSchema,
      },
    });
  });
});

describe("comments", () => {
  const body = { text: "a: 1\n", tokens: 5, size: { chars: 5, words: 2, lines: 1 } };
  it.each([
    ["summary", {}, "# Full index available at: rollcall://capability-index/full\n"],
    ["full", { tenant: "acme" }, "# Summary version available at: rollcall://capability-index/acme/summary\n"],
    [
      "full",
      { tenant: "acme", name: "s" },
      "# Summary version available at: rollcall://capability-index/acme/s/summary\n",
    ],
  ] as const)("of %s of %j point to the other variant", (variant, owner, line) => {
    const { text } = withComments(variant, owner, 42, body, count);
    expect(text).toMatch(/^# Capability Index (Summary|\(Full\))\n(# .*\n)+\na: 1\n$/);
    expect(text).toContain(line);
    expect(text).toContain("# Total elements: 42\n");
  });

  it("are right about themselves however many digits that takes", () => {
    for (const tokens of [0, 899, 900, 930, 940, 950, 960, 999, 99_900, 99_950, 999_940, 1e7]) {
      const size = { chars: tokens * 4, words: tokens, lines: 1 };
      const whole = withComments("summary", { tenant: "t" }, 1, { ...body, tokens, size }, count);
      const comments = whole.text.slice(0, -body.text.length);
      expect(whole.tokens).toBe(count(comments) + tokens);
      const estimated = estimateTokens({
        chars: comments.length + size.chars,
        words: sizeOfText(comments).words + size.words,
      });
      expect(comments).toContain(`# Tokens: ${whole.tokens} measured (cl100k_base), ${estimated} estimated;`);
    }
  });

  it("are not in the figures' own words", () => {
    const stats = JSON.parse(
      statsText(body, { ...body, size: { chars: 280_832, words: 20_311, lines: 9_363 }, tokens: 7 }),
    );
    expect(stats).toEqual({
      ...{ summarySize: 5, summaryWords: 2, summaryLines: 1, fullSize: 280_832, fullWords: 20_311, fullLines: 9_363 },
      ...{ estimatedSummaryTokens: 2, estimatedFullTokens: 48_306, measuredSummaryTokens: 5, measuredFullTokens: 7 },
    });
    expect(Object.keys(stats).slice(0, 8)).toEqual(
      "summarySize summaryWords summaryLines fullSize fullWords fullLines estimatedSummaryTokens estimatedFullTokens".split(
        " ",
      ),
    );
    expect(indexUri({ tenant: "a", name: "b" }, "stats")).toBe("rollcall://capability-index/a/b/stats");
  });
});

describe("a line of summary", () => {
  it.each([
    ["Creates an order. Needs a cart.", "Creates an order."],
    ["Creates an order\nin the shop", "Creates an order"],
    ["  Uses v1.2 of it  ", "Uses v1.2 of it"],
    ["", ""],
    ["x".repeat(200), `${"x".repeat(160)}…`],
    [`${"x".repeat(159)}🙂🙂`, `${"x".repeat(159)}…`],
  ])("of %j is %j", (description, line) => {
    expect(summaryLine(description)).toBe(line);
  });
});
