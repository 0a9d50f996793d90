import { describe, expect, it } from "vitest";
import { schemaRows } from "../../../src/console/schema/rows.ts";

const rows = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  (schemaRows({ type: "object", properties, ...more })?.rows ?? []).map(({ name, depth, type, limits, required }) =>
    [`${"  ".repeat(depth)}${name}${required ? "*" : ""}`, type, ...limits].join(" | "),
  );

describe("a schema in rows", () => {
  it("has types, limits and required marks in words", () => {
    expect(
      rows(
        {
          at: { type: "string", format: "date-time" },
          units: { enum: ["metric", "imperial"] },
          days: { type: "integer", minimum: 1, maximum: 10, default: 3 },
          text: { type: "string", maxLength: 200 },
          tags: { type: "array", items: { type: "string" }, uniqueItems: true, maxItems: 5 },
          kind: { const: "x" },
          any: {},
          never: false,
        },
        { required: ["at", "days"] },
      ),
    ).toEqual([
      "at* | string · date-time",
      'units | "metric" or "imperial"',
      "days* | integer | 1–10",
      "text | string | ≤ 200 chars",
      "tags | list of string | ≤ 5 items | no repeats",
      'kind | "x"',
      "any | anything",
      "never | nothing",
    ]);
  });

  it("collapses a union with null, and lists other unions", () => {
    expect(
      rows({
        a: { anyOf: [{ type: "number" }, { type: "null" }] },
        b: { type: ["string", "null"] },
        c: { oneOf: [{ type: "string" }, { type: "object", properties: { x: { type: "integer" } } }] },
        d: { nullable: true, type: "boolean" },
        e: { anyOf: [{ type: "object", properties: { y: { type: "string" } } }, { type: "null" }] },
      }),
    ).toEqual([
      "a | number or null",
      "b | string or null",
      "c | string or object",
      "  option 2 | object",
      "    x | integer",
      "d | boolean or null",
      "e | object or null",
      "  y | string",
    ]);
  });

  it("follows local references, and stops at a cycle", () => {
    const $defs = {
      place: { type: "object", properties: { name: { type: "string" } } },
      node: {
        type: "object",
        properties: { next: { $ref: "#/$defs/node" }, all: { type: "array", items: { $ref: "#/$defs/node" } } },
      },
    };
    expect(
      rows(
        {
          from: { $ref: "#/$defs/place" },
          stops: { type: "array", items: { $ref: "#/$defs/place" } },
          root: { $ref: "#/$defs/node" },
        },
        { $defs },
      ),
    ).toEqual([
      "from | place",
      "  name | string",
      "stops | list of place",
      "  name | string",
      "root | node",
      "  next | node, see above",
      "  all | list of node",
    ]);
  });

  it("merges allOf, and shows members without fixed names", () => {
    expect(
      rows({
        map: { type: "object", additionalProperties: { type: "integer" } },
        both: {
          allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "null" } } }],
        },
      }),
    ).toEqual(["map | object of integer", "  (any name) | integer", "both | object", "  a* | string", "  b | null"]);
  });

  it("is bounded, whatever it is given", () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, { type: "string" }]));
    expect(schemaRows({ properties: wide }, 60)).toMatchObject({ cut: true, rows: { length: 60 } });
    let deep: Record<string, unknown> = { type: "string" };
    for (let level = 0; level < 60; level += 1) deep = { type: "object", properties: { down: deep } };
    expect(schemaRows(deep)?.rows.length).toBeLessThan(20);
    for (const odd of [
      { properties: { a: { $ref: "#/nowhere" } } },
      { properties: { a: { $ref: "#" } } },
      { properties: { "": 5 } },
      { anyOf: "no" },
      { properties: { a: { $ref: "https://elsewhere.example/x" } } },
    ])
      expect(schemaRows(odd)).toBeDefined();
    for (const none of [undefined, null, 5, "x", [], true]) expect(schemaRows(none)).toBeUndefined();
  });
});

it("ends where unions of references multiply, and where properties are many", () => {
  const levels = Array.from({ length: 7 }, (_, at) => [
    `l${at}`,
    { anyOf: Array.from({ length: 25 }, () => (at === 6 ? { type: "string" } : { $ref: `#/$defs/l${at + 1}` })) },
  ]);
  const multiplied = {
    type: "object",
    properties: { x: { $ref: "#/$defs/l0" } },
    $defs: Object.fromEntries(levels),
  };
  expect(schemaRows(multiplied)?.rows[0]).toMatchObject({ name: "x" });
  const names = Array.from({ length: 25_000 }, (_, at) => `p${at}`);
  const wide = { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])), required: names };
  expect(schemaRows(wide)).toMatchObject({ cut: true });
});
