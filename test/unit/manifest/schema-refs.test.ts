import { describe, expect, test } from "vitest";
import { schemaFlags, schemaIssues } from "../../../src/manifest/schema-refs.ts";

function places(found: { rule: string; path: string }[]): string[] {
  return found.map(({ rule, path }) => `${rule} ${path}`);
}

describe("schemaIssues", () => {
  const tree = { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } };
  const chain = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
  );

  test.each([
    ["the root refers to itself", { $ref: "#" }, ["/$ref"]],
    ["a definition refers to itself", { $defs: { a: { $ref: "#/$defs/a" } } }, ["/$defs/a/$ref"]],
    [
      "two refer to each other",
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      ["/$defs/b/$ref"],
    ],
    ["through allOf", { allOf: [{ type: "object" }, { $ref: "#" }] }, ["/allOf/1/$ref"]],
    ["through if and else", { if: {}, else: { anyOf: [{ $ref: "#" }] } }, ["/else/anyOf/0/$ref"]],
    ["through an anchor", { $defs: { a: { $anchor: "x", $ref: "#x" } } }, ["/$defs/a/$ref"]],
    ["through its own id", { $id: "https://a.example/s", $ref: "https://a.example/s#" }, ["/$ref"]],
    ["in escaped places", { $defs: { "a/b c": { $ref: "#/$defs/a~1b%20c" } } }, ["/$defs/a~1b c/$ref"]],
    ["where only a reference leads", { $ref: "#/own/x", own: { x: { $ref: "#/own/x" } } }, ["/own/x/$ref"]],
    [
      "in two places",
      { $defs: { a: { $ref: "#/$defs/a" }, b: { not: { $ref: "#/$defs/b" } } } },
      ["/$defs/a/$ref", "/$defs/b/not/$ref"],
    ],
    ["at the end of a long chain", { $defs: { ...chain, d5000: { $ref: "#/$defs/d0" } } }, ["/$defs/d5000/$ref"]],
  ])("refuses a cycle: %s", (_, schema, expected) => {
    expect(places(schemaIssues(schema, ""))).toEqual(expected.map((path) => `cyclic-ref ${path}`));
  });

  test.each([
    ["a tree", tree],
    ["a linked list", { $ref: "#/$defs/n", $defs: { n: { properties: { next: { $ref: "#/$defs/n" } } } } }],
    [
      "a tree entered from within",
      { items: { $ref: "#/own/properties/x" }, own: { properties: { x: { $ref: "#/own" } } } },
    ],
    ["what is no schema", { properties: { a: true, b: null, c: [1], d: "x" }, allOf: [true, null], items: [null] }],
    ["a recursive map", { additionalProperties: { $ref: "#" } }],
    ["an optional node", { $defs: { n: { anyOf: [{ type: "null" }, { items: { $ref: "#/$defs/n" } }] } } }],
    ["a diamond", { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: { type: "object" } } }],
    ["a long chain that ends", { $defs: chain }],
    ["nowhere", { $ref: "#/missing/0/x" }],
    ["an inherited name", { $ref: "#/constructor/prototype" }],
    ["a malformed escape", { $ref: "#/%zz" }],
    ["a property called $ref", { properties: { $ref: { type: "string" } } }],
    ["data that looks like a reference", { default: { $ref: "#" }, enum: [{ $ref: "#" }], const: { $ref: "#" } }],
    ["another document", { $ref: "https://a.example/s#" }],
  ])("accepts %s", (_, schema) => {
    expect(schemaIssues(schema, "")).toEqual([]);
  });

  test.each([undefined, null, true, "x", 1, []])("%j is no schema and no issue", (schema) => {
    expect(schemaIssues(schema, "")).toEqual([]);
    expect(schemaFlags(schema, "")).toEqual([]);
  });

  const withHeader = (header: unknown) => ({ properties: { a: { type: "string", "x-mcp-header": header } } });

  test.each(["X\r\nEvil: 1", "", "a b", "a:b", "é", "a,b", 'a"b', "a\n", 4, null, ["a"], {}])(
    "refuses the header name %j",
    (header) => {
      const issues = schemaIssues(withHeader(header), "/tools/0/inputSchema");
      expect(places(issues)).toEqual(["header-token /tools/0/inputSchema/properties/a/x-mcp-header"]);
    },
  );

  test.each(["Region", "x-region", "!#$%&'*+-.^_`|~09azAZ"])("accepts the header name %j", (header) => {
    expect(schemaIssues(withHeader(header), "")).toEqual([]);
  });

  test("finds header names in every part of the schema, and leaves a property of that name alone", () => {
    const bad = () => ({ "x-mcp-header": "a b" });
    const schema = {
      properties: { "x-mcp-header": { type: "string" }, deep: { items: { oneOf: [bad()] } } },
      $ref: "#/own",
      own: { patternProperties: { "^x": bad() } },
    };
    expect(schemaIssues(schema, "").map(({ path }) => path)).toEqual([
      "/properties/deep/items/oneOf/0/x-mcp-header",
      "/own/patternProperties/^x/x-mcp-header",
    ]);
  });

  test("many schemas, references and cycles stay cheap, and at most 100 are reported", { timeout: 60_000 }, () => {
    const names = Array.from({ length: 150_000 }, (_, index) => `p${index}`);
    const loops = Object.fromEntries(names.map((name) => [name, { $ref: `#/properties/${name}` }]));
    expect(schemaIssues({ properties: loops }, "")).toHaveLength(100);
    // Everything refers to everything: steps, not paths, are what is walked.
    const all = { allOf: names.slice(0, 300).map((name) => ({ $ref: `#/$defs/${name}` })) };
    const dense = Object.fromEntries(names.slice(0, 300).map((name) => [name, structuredClone(all)]));
    expect(schemaIssues({ $defs: dense }, "").length).toBeGreaterThan(0);
  });
});

describe("schemaFlags", () => {
  test("flags references that leave the document", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "https://a.example/own",
      properties: {
        a: { $ref: "https://evil.example/s.json" },
        b: { $ref: "other.json#/a" },
        c: { $ref: "#/properties/a" },
        d: { $ref: "https://a.example/own#/properties/a" },
        e: { $dynamicRef: "file:///etc/x" },
        f: { $ref: "" },
        $ref: { type: "string" },
      },
      default: { $ref: "https://evil.example/data" },
    };
    expect(places(schemaFlags(schema, "/inputSchema"))).toEqual([
      "remote-ref /inputSchema/properties/a/$ref",
      "remote-ref /inputSchema/properties/b/$ref",
      "remote-ref /inputSchema/properties/e/$dynamicRef",
    ]);
  });
});
