import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importOpenApi } from "../../../src/formats/openapi/import-openapi.ts";
import {
  answering,
  at,
  dangling,
  expectPublishable,
  importedApi,
  type Json,
  json,
  membersOf,
  type Operation,
  only,
  range,
  ref,
  refusedApi,
  schemasOf,
  v31,
  v32,
} from "../../support/importing.ts";

const many = (count: number, schema: (index: number) => unknown) => schemasOf(membersOf(count, (n) => `S${n}`, schema));
/** Paths that all answer with the same schema. */
const sharing = (count: number) => ({
  paths: membersOf(
    count,
    (index) => `/p${index}`,
    () => ({ get: { responses: { 200: json(ref("S0")) } } }),
  ),
});
/** A circle of schemas of one kilobyte each. */
const circle = (count: number) =>
  many(count, (index) => ({ description: "x".repeat(1_000), properties: { next: ref(`S${(index + 1) % count}`) } }));

let deep: Json = {};
for (const _ of range(100_000)) deep = { items: deep };

describe("documents made to be large", () => {
  it("do not unfold", async () => {
    const fanOut = (index: number) => ({
      properties: membersOf(10, String, () => (index < 29 ? ref(`S${index + 1}`) : {})),
    });
    const { manifest } = importedApi(v31({ ...answering(ref("S0")), ...many(30, fanOut) }));
    expect(JSON.stringify(manifest).length).toBeLessThan(20_000);
    await expectPublishable(manifest);
  });

  it("keep each operation in its bounds, with references that lead somewhere", async () => {
    const { manifest, operations, warnings } = importedApi(v31({ ...answering(ref("S0")), ...circle(1_000) }));
    expect(operations.flatMap(dangling)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/1 operations need more than/)]);
    await expectPublishable(manifest);
  });

  it("keep what an operation takes and returns together in its bounds", async () => {
    const both = at({ requestBody: json({ type: "array", items: ref("S0") }), responses: { 200: json(ref("S0")) } });
    const { manifest, operations } = importedApi(v31({ ...both, ...circle(1_000) }));
    expect(operations.flatMap(dangling)).toEqual([]);
    await expectPublishable(manifest);
  });

  it.each<[string, (inside: Json) => Json]>([
    ["lists", (inside) => ({ type: "array", items: inside })],
    ["objects", (inside) => ({ properties: { a: inside } })],
    ["choices that may be null", (inside) => ({ nullable: true, oneOf: [inside] })],
  ])("nest no deeper than a manifest may: %s", async (_, around) => {
    let schema: Json = { type: "string", enum: ["a"] };
    const depths: number[] = [];
    for (const depth of range(70)) {
      const result = importOpenApi(v31(answering(schema)), { server: "s" });
      if (result.ok) {
        await expectPublishable(result.value.manifest);
        depths.push(depth);
      }
      schema = around(schema);
    }
    expect(depths.length).toBeGreaterThan(12);
    expect(depths.length).toBeLessThan(60);
  });

  it("keep all operations together in the bounds of a manifest", async () => {
    const { manifest, operations } = importedApi(v31({ ...sharing(1_000), ...circle(100) }));
    expect(operations.flatMap(dangling)).toEqual([]);
    expect(operations[0]?.outputSchema?.$defs).toMatchObject({ S0: { description: expect.any(String) } });
    await expectPublishable(manifest);
  }, 30_000);

  it("may have ten thousand operations", async () => {
    const { manifest, counts } = importedApi(v31({ ...sharing(10_000), ...many(1, () => ({ type: "object" })) }));
    expect(counts).toEqual({ operation: 10_000 });
    await expectPublishable(manifest);
  }, 60_000);

  it("take data nested without end for nothing", async () => {
    await expectPublishable(importedApi(v31(answering({ example: deep, default: deep }))).manifest);
  });

  it("cannot reach the prototype of anything", () => {
    const properties = JSON.parse('{"__proto__": {}, "a": {"__proto__": 1, "default": {"__proto__": 2}}}');
    const { outputSchema } = only(v31(answering({ properties })));
    expect(Object.keys(outputSchema?.properties as Json)).toEqual(["a"]);
    expect(outputSchema).toEqual({ properties: { a: { default: {} } } });
    expect(refusedApi(v31(at({ parameters: [{ name: "__proto__", in: "query" }] }))).message).toMatch(/__proto__/);
  });
});

describe("documents made to be slow", () => {
  const query = (index: number) => ({ name: `q${index}`, in: "query" });
  const everywhere = (count: number, item: unknown) => ({
    paths: membersOf(
      count,
      (index) => `/${index}`,
      () => item,
    ),
  });
  const methods = membersOf(
    5_000,
    (index) => `M${index}`,
    () => ({}),
  );
  const repeated = { parameters: range(5_000).map(() => ({ $ref: "#/p" })), get: {} };
  const long = { ...query(0), description: "x".repeat(100_000) };
  it.each<[string, Json, RegExp]>([
    ["one operation too many", everywhere(10_001, { get: {} }), /more than 10000 operations/],
    ["schemas nested without end", answering(deep), /nests too deeply/],
    ["a version nested without end", { openapi: deep }, /version/],
    ["a circle", { ...answering(ref("S0")), ...many(5_000, (n) => ref(`S${(n + 1) % 5_000}`)) }, /circular \$ref/],
    ["a long parameter", { ...everywhere(1_000, { get: { parameters: [{ $ref: "#/p" }] } }), p: long }, /larger than/],
    [
      "a long list",
      { paths: { "/x": { parameters: range(5_000).map(query), additionalOperations: methods } } },
      /have \d+ values \(documentNodes: 500000\)/,
    ],
    [
      "one list again and again",
      { ...everywhere(5_000, { $ref: "#/x" }), x: repeated, p: query(0) },
      /shared by too many/,
    ],
  ])(
    "are refused in good time: %s",
    (_, document, message) => {
      const start = performance.now();
      expect(refusedApi(v32(document)).message).toMatch(message);
      expect(performance.now() - start).toBeLessThan(10_000);
    },
    30_000,
  );
});

describe("whatever comes in", () => {
  const keys = [
    ...["$ref", "paths", "/a", "get", "parameters", "name", "in", "schema", "properties", "items", "allOf", "200"],
    ...["responses", "content", "application/json", "requestBody", "security", "servers", "url", "components", "A"],
  ];
  const values = ["#/components/schemas/A", "#/paths", "#", "query", "path", "object", "x"];
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 8, withCrossShrink: true },
      fc.oneof(fc.constantFrom(...values), fc.boolean(), fc.integer(), fc.constant(null)),
      fc.dictionary(fc.constantFrom(...keys), tie("tree"), { maxKeys: 6 }),
      fc.array(tie("tree"), { maxLength: 3 }),
    ),
  }));
  const versions = [{ swagger: "2.0" }, { openapi: "3.0.0" }, { openapi: "3.1.0" }, { openapi: "3.2.0" }];

  it("is answered with a result", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        expect(importOpenApi(document, { server: "s" })).toHaveProperty("ok");
      }),
    );
  });

  it("is answered with references that lead somewhere, where it looks like a document", () => {
    fc.assert(
      fc.property(fc.constantFrom<Json>(...versions), tree, tree, tree, (head, pathItem, response, schema) => {
        const responses = { 200: { ...json(schema), schema }, 201: response };
        const paths = { "/a": pathItem, "/b": { get: { responses: { 200: response } } }, "/c": { get: { responses } } };
        const result = importOpenApi({ ...head, paths, ...schemasOf({ A: schema }) }, { server: "s" });
        if (result.ok) expect((result.value.manifest.operations as Operation[]).flatMap(dangling)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
