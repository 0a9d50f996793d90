import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printRtfs, type RtfsCapability, readRtfs } from "../../../src/formats/rtfs/index.ts";
import { withoutUndefined } from "../../../src/kernel/json.ts";

const reread = (text: string) => {
  const read = readRtfs(text);
  if (!read.ok) throw new Error(`${read.error.line}:${read.error.column} ${read.error.message}\n${text}`);
  return read.value.capabilities;
};

describe("printed RTFS", () => {
  it("is the hierarchical layout with two blanks a level", () => {
    const capability: RtfsCapability = {
      implementation: "(fn [input]\n  ;; why\n  input)",
      id: "mcp.s.t",
      name: "t",
      version: "1.0.0",
      description: 'Says "hi"\n',
      provider: "MCP",
      permissions: ["network.http"],
      effects: ["network_request", "not a keyword"],
      metadata: { mcp: { requires_session: "auto", ports: [1, 2], hosts: [{ name: "a" }] }, discovery: {} },
      inputSchema: {
        type: "object",
        properties: {
          owner: { type: "string" },
          labels: { type: "array", items: { type: "string" } },
          at: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
          "free text": {},
        },
        required: ["owner"],
      },
      outputSchema: { type: "array", items: { type: "object" } },
      cost: null,
    };
    const { text, losses } = printRtfs([capability, { id: "b", name: "b" }]);
    expect(text).toBe(`(capability "mcp.s.t"
  :name "t"
  :version "1.0.0"
  :description "Says \\"hi\\"\\n"
  :provider "MCP"
  :permissions [:network.http]
  :effects [:network_request "not a keyword"]
  :metadata {
    :mcp {
      :requires_session "auto"
      :ports [1 2]
      :hosts [
        {
          :name "a"
        }
      ]
    }
    :discovery {}
  }
  :cost nil
  :input-schema {
    :owner :string
    :labels [:vector :string] ;; optional
    :at {
      :lat :float
    } ;; optional
    "free text" :any ;; optional
  }
  :output-schema [:vector :map]
  :implementation
    (fn [input]
  ;; why
  input))

(capability "b"
  :name "b")
`);
    expect(losses).toEqual([]);
    expect(reread(text)).toEqual([capability, { id: "b", name: "b" }]);
  });

  it("can be written as UTF-8, and keeps numbers as they are", () => {
    const capability = { id: "a", name: "half \ud800 \u{1f600}", numbers: [-0, 0.1, 1e21, 2 ** 60, 5e-324] };
    const { text: printed } = printRtfs([capability]);
    expect(printed.isWellFormed()).toBe(true);
    expect(reread(printed)).toEqual([capability]);
  });

  it("is empty for no capabilities", () => {
    expect(printRtfs([])).toEqual({ text: "", losses: [] });
  });

  it.each([
    ["code", "(f)"],
    ["a word", "later"],
    ["a keyword", ":later"],
    ["prose", "runs the thing (sometimes"],
    ["two forms", "(f) (g)"],
    ["code with a comment after it", "(f) ;; x"],
    ["code between blanks", " (f) "],
    ["nil", "nil"],
    ["a string", '"text"'],
    ["nothing", ""],
    ["code as deep as can be read", `${"(".repeat(512)}${")".repeat(512)}`],
    ["a comment that would hide the bracket", "; x"],
  ])("gives an implementation back: %s", (_, implementation) => {
    const capability = { id: "a", name: "a", implementation, zeta: "after" };
    expect(reread(printRtfs([capability]).text)).toEqual([capability]);
  });

  it("says what it has no words for", () => {
    const inputSchema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        state: { type: "string", enum: ["open", "closed"], description: "Which" },
        "a/b": { type: "string", format: "date" },
        any: true,
        none: false,
        either: { type: ["string", "null"] },
        odd: { type: "string", items: {} },
        pair: { type: "array", items: [{ type: "string" }] },
        loose: { properties: { x: { type: "string" } } },
        bare: { type: "object", required: ["y"] },
      },
      required: ["state", "elsewhere"],
      additionalProperties: false,
    };
    const { text, losses } = printRtfs([
      { id: "a", name: "a" },
      { id: "b", name: "b", inputSchema, "input-schema": "taken" },
    ]);
    const at = "/1/inputSchema";
    expect(losses.sort()).toEqual(
      [
        "/1/input-schema",
        `${at}/$schema`,
        `${at}/required`,
        `${at}/properties/a~1b/format`,
        `${at}/properties/none`,
        `${at}/properties/odd/items`,
        `${at}/properties/pair/items`,
        `${at}/properties/loose/type`,
        `${at}/properties/bare/required`,
      ].sort(),
    );
    const again = reread(text);
    expect(again[1]?.inputSchema).toMatchObject({
      properties: {
        state: { type: "string", enum: ["open", "closed"], description: "Which" },
        either: { type: ["string", "null"] },
        pair: { items: {} },
      },
      additionalProperties: false,
    });
    expect(printRtfs(again)).toEqual({ text, losses: [] });
  });

  it("leaves out what is nested too deeply to be read back, and says so", () => {
    let value: unknown = 1;
    let schema: Record<string, unknown> = {};
    for (let depth = 0; depth < 5_000; depth += 1) {
      value = [value];
      schema = { type: "array", items: schema };
    }
    const { text, losses } = printRtfs([{ id: "a", name: "a", metadata: { value }, outputSchema: schema }]);
    expect(losses).toHaveLength(2);
    expect(printRtfs(reread(text)).text).toBe(text);
  });
});

const json = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });
const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
const key = fc.oneof(text, fc.stringMatching(/^[a-z_.?/-]{1,8}$/));

type Schema = Record<string, unknown>;

const limit = fc.integer({ min: 0, max: 9 });
const described = fc.option(
  fc.oneof(text, fc.constantFrom("What", "optional", "Optional: x", "; x", "a\nb", " blank ", ", x", "x, y")),
  { nil: undefined },
);
const named = fc.dictionary(key, json, { maxKeys: 2 });

/** Every schema that the reader makes of a type. */
const { schema } = fc.letrec<{ schema: Schema; bare: Schema; object: Schema }>((tie) => ({
  schema: fc
    .tuple(tie("bare"), fc.record({ title: text, description: described, default: json }, { requiredKeys: [] }))
    .map(([bare, about]) => ({ ...bare, ...withoutUndefined(about) })),
  bare: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Schema[]>(
      {},
      ...["string", "integer", "number", "boolean", "null"].map((type) => ({ type })),
      { type: "string", format: "uuid" },
      { type: "array", maxItems: 0 },
    ),
    fc.array(fc.string(), { minLength: 1 }).map((values) => ({ type: "string", enum: values })),
    fc.tuple(named, json).map(([first, second]) => ({ enum: [first, second] })),
    json.map((value) => ({ const: value })),
    fc.constantFrom("^a+$", '"\\d"', "").map((pattern) => ({ type: "string", pattern })),
    fc
      .record({ minLength: limit, maxLength: limit }, { requiredKeys: [] })
      .map((limits) => ({ type: "string", ...limits })),
    fc
      .record({ minimum: limit, maximum: limit }, { requiredKeys: [] })
      .map((limits) => ({ type: "number", ...limits })),
    fc.constantFrom("string", "integer", "boolean").map((type) => ({ type: [type, "null"] })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((allOf) => ({ allOf })),
    fc
      .array(tie("schema"), { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: "array", prefixItems, items: false, minItems: prefixItems.length })),
    fc
      .tuple(tie("schema"), fc.record({ minItems: limit, maxItems: limit }, { requiredKeys: [] }), fc.boolean())
      .map(([items, limits, isSet]) => ({ type: "array", items, ...limits, ...(isSet && { uniqueItems: true }) })),
    tie("schema").map((additionalProperties) => ({ type: "object", additionalProperties })),
    tie("object"),
  ),
  object: fc
    .tuple(fc.dictionary(key, fc.tuple(tie("schema"), fc.boolean()), { maxKeys: 5 }), fc.boolean())
    .map(([fields, closed]) => {
      const properties = Object.fromEntries(Object.entries(fields).map(([name, [type]]) => [name, type]));
      const required = Object.keys(fields).filter((name) => fields[name]?.[1]);
      const others = { ...(required.length > 0 && { required }), ...(closed && { additionalProperties: false }) };
      return { type: "object", properties, ...others };
    }),
}));

/** Names with a meaning, or that the flat layout gives one. */
const claimed =
  /^(id|name|version|description|provider|permissions|effects|metadata|(in|out)put.?schema|implementation)$|_/i;

const comments = fc
  .array(fc.oneof(fc.string(), fc.constantFrom('Sample output: {"a": 1}', "", "; x", "a\nb")), { maxLength: 3 })
  .map((texts) => (texts.length > 0 ? { rtfs: { comments: texts } } : {}));

const capability: fc.Arbitrary<RtfsCapability> = fc
  .tuple(
    fc.record({ id: text, name: text }),
    fc.record(
      {
        version: text,
        description: text,
        provider: text,
        permissions: fc.array(key),
        effects: fc.array(key),
        metadata: fc.tuple(fc.dictionary(key, json), comments).map(([parts, rtfs]) => ({ ...parts, ...rtfs })),
        inputSchema: schema,
        outputSchema: schema,
        implementation: fc.oneof(text, fc.constantFrom("(f [x] {:a 1})", "nil", "[1 ;; optional\n]", ":k", '"s"')),
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(
      key.filter((name) => !claimed.test(name)),
      json,
    ),
  )
  .map(([identity, fields, others]) => ({ ...others, ...fields, ...identity }));

describe("whatever is printed", () => {
  it("reads back the same, and prints the same again", () => {
    fc.assert(
      fc.property(fc.array(capability, { maxLength: 3 }), (capabilities) => {
        const { text: printed, losses } = printRtfs(capabilities);
        expect(losses).toEqual([]);
        const again = reread(printed);
        expect(again).toEqual(capabilities);
        expect(printRtfs(again).text).toBe(printed);
      }),
      { numRuns: 500 },
    );
  });

  it("never throws for schemas of any make, and is stable after the first loss", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            "type",
            "properties",
            "items",
            "required",
            "enum",
            "const",
            "anyOf",
            "allOf",
            "oneOf",
            "pattern",
          ),
          fc.oneof(json, fc.array(schema), fc.constantFrom("object", "array", "string", ["string", "integer"])),
        ),
        (anything) => {
          const { text: printed } = printRtfs([{ id: "a", name: "a", inputSchema: anything }]);
          expect(printRtfs(reread(printed))).toEqual({ text: printed, losses: [] });
        },
      ),
      { numRuns: 500 },
    );
  });
});
