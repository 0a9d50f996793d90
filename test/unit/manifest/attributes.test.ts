import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adjustAttributes, attributesOf, countAttributes, maxValues } from "../../../src/manifest/attributes.ts";

describe("the attributes of an item", () => {
  it("are what it declares, each once", () => {
    expect(
      attributesOf({
        name: "t",
        provider: "OpenAPI",
        category: "storage",
        permissions: ["files:read", "files:read", "net"],
        effects: ["write, then read"],
        metadata: { discovery: { capability_type: "rest_api" } },
      }),
    ).toEqual([
      ["provider", "openapi"],
      ["category", "storage"],
      ["permission", "files:read"],
      ["permission", "net"],
      ["effect", "write, then read"],
      ["capability_type", "rest_api"],
    ]);
  });

  it.each([
    ["the name it declares", { provider: "Acme", metadata: { graphql: {} } }, ["acme"]],
    [
      "else what its metadata is about",
      { metadata: { openapi: {}, graphql: {}, discovery: {} } },
      ["openapi", "graphql"],
    ],
    ["else mcp, as in its id", { metadata: { openapi: "no" } }, ["mcp"]],
  ])("have as provider %s", (_, declared, expected) => {
    expect(attributesOf(declared)).toEqual(expected.map((value) => ["provider", value]));
  });

  it("leave out what is no value, and what is too long to be one", () => {
    const declared = {
      category: 7,
      permissions: ["", null, "x".repeat(129), "x".repeat(128)],
      effects: "write",
      metadata: { discovery: [] },
    };
    expect(attributesOf(declared).slice(1)).toEqual([["permission", "x".repeat(128)]]);
  });
});

describe("the attributes of a server", () => {
  it("count its items, the most frequent first and then by name", () => {
    const counts = countAttributes([
      [["category", "b"]],
      [["category", "a"]],
      [["category", "c"]],
      [["category", "c"]],
    ]);
    expect(counts).toEqual({
      values: [
        ["category", "c", 2],
        ["category", "a", 1],
        ["category", "b", 1],
      ],
    });
  });

  it("are at most so many in a dimension, and say so", () => {
    const items = Array.from({ length: maxValues + 1 }, (_, at) => attributesOf({ category: `c${at}` }));
    const { values, cut } = countAttributes(items);
    expect([values.length, cut]).toEqual([maxValues + 1, ["category"]]);
    expect(adjustAttributes({ values, cut: ["category"] }, [])).toBeUndefined();
  });

  it("are the same whether counted anew or adjusted", () => {
    const item = fc.array(
      fc.tuple(fc.constantFrom("category" as const, "effect" as const), fc.constantFrom("a", "b", "__proto__")),
    );
    fc.assert(
      fc.property(fc.array(item), fc.array(item), fc.nat(), (before, come, seed) => {
        const gone = before.filter((_, at) => (seed >> (at % 30)) % 2 === 1);
        const stayed = before.filter((_, at) => (seed >> (at % 30)) % 2 === 0);
        const adjusted = adjustAttributes(countAttributes(before), [
          ...gone.map((attributes) => ({ attributes, by: -1 as const })),
          ...come.map((attributes) => ({ attributes, by: 1 as const })),
        ]);
        expect(adjusted).toEqual(countAttributes([...stayed, ...come]));
      }),
    );
  });
});
