import fc from "fast-check";
import { buildClientSchema, buildSchema, type IntrospectionQuery, introspectionFromSchema, printSchema } from "graphql";
import { describe, expect, it } from "vitest";
import { importGraphqlIntrospection, importGraphqlSdl } from "../../../src/formats/graphql/import-graphql.ts";
import type { Imported, ImportFault } from "../../../src/formats/imported.ts";
import { defaultBounds } from "../../../src/kernel/bounds.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";
import { dangling, expectPublishable, type Json, type Operation, range } from "../../support/importing.ts";

type Answer = Awaited<ReturnType<typeof importGraphqlSdl>>;
const options = { server: "shop", endpointUrl: "https://api.example.com/graphql" };

function accepted(result: Answer): Imported & { operations: Operation[] } {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return { ...result.value, operations: result.value.manifest.operations as Operation[] };
}

async function refused(text: string): Promise<ImportFault> {
  const result = await importGraphqlSdl(text, options);
  if (result.ok) throw new Error("was accepted");
  return result.error;
}

const imported = async (sdl: string) => accepted(await importGraphqlSdl(sdl, options));
const introspected = async (document: unknown) => accepted(await importGraphqlIntrospection(document, options));

/** The operation of a schema whose query has one field. */
async function only(field: string, types = ""): Promise<Operation> {
  const [operation] = (await imported(`type Query { ${field} } ${types}`)).operations;
  if (operation === undefined) throw new Error("no operation");
  return operation;
}

describe("an operation", () => {
  it("carries everything that its kind of capability has", async () => {
    const sdl = 'type Query { "One\\r\\npet" pet(id: ID!): String! @deprecated(reason: "Use animal") }';
    const { operations, counts, warnings, manifest } = await imported(sdl);
    expect({ counts, warnings }).toEqual({ counts: { operation: 1 }, warnings: [] });
    expect(manifest).toMatchObject({ title: "shop", serverInfo: { name: "shop" } });
    expect(operations).toEqual([
      {
        name: "pet",
        description: "One\npet",
        provider: "graphql",
        deprecated: true,
        deprecationReason: "Use animal",
        inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
        outputSchema: { type: "string" },
        annotations: { readOnlyHint: true },
        permissions: ["network.http"],
        effects: ["network_request", "network_read"],
        metadata: {
          graphql: {
            endpoint_url: "https://api.example.com/graphql",
            operation_type: "query",
            operation_name: "pet",
            schema_hash: expect.stringMatching(/^sha256-[0-9a-f]{64}$/),
            requires_introspection: false,
          },
          discovery: {
            method: "graphql_introspection",
            source_url: "https://api.example.com/graphql",
            capability_type: "graphql_operation",
            introspector_version: "1.0.0",
          },
        },
      },
    ]);
    await expectPublishable(manifest);
  });

  it.each<[string, boolean, string[]]>([
    ["query", true, ["network_request", "network_read"]],
    ["mutation", false, ["network_request", "network_write"]],
    ["subscription", true, ["network_request", "network_read", "stream"]],
  ])("of type %s says what it does", async (type, readOnlyHint, effects) => {
    const { operations } = await imported(`schema { ${type}: Root } type Root { x: Int }`);
    expect(operations).toMatchObject([
      { name: "x", annotations: { readOnlyHint }, effects, metadata: { graphql: { operation_type: type } } },
    ]);
  });

  it("is named by its type as well where another has its name", async () => {
    const { operations, warnings } = await imported("type Query { a: Int b: Int } type Mutation { a: Int }");
    expect(operations.map(({ name }) => name)).toEqual(["query.a", "b", "mutation.a"]);
    expect(operations.map(({ metadata }) => metadata.graphql.operation_name)).toEqual(["a", "b", "a"]);
    expect(warnings).toEqual([expect.stringMatching(/query\.a/), expect.stringMatching(/mutation\.a/)]);
  });

  it("has a name that fits", async () => {
    const { operations } = await imported(`type Query { ${"x".repeat(200)}: Int }`);
    expect(operations.map(({ name }) => name)).toEqual(["x".repeat(128)]);
  });

  it("may be repeated word for word, as real schemas do", async () => {
    const { operations, warnings } = await imported('type Query { "Once" a(x: Int): Int\n "Again" a(x: Int): Int }');
    expect(operations).toMatchObject([{ name: "a", inputSchema: { properties: { x: { type: "integer" } } } }]);
    expect(warnings).toEqual(["line 2: a is defined twice; the definitions are the same"]);
  });

  it("has a document and an endpoint, which may differ", async () => {
    const sourceUrl = "https://docs.example.com/schema.graphql";
    const result = await importGraphqlSdl("type Query { a: Int }", { ...options, sourceUrl });
    expect(accepted(result).operations[0]?.metadata).toMatchObject({
      graphql: { endpoint_url: "https://api.example.com/graphql" },
      discovery: { source_url: sourceUrl },
    });
  });

  it("does not publish a password", async () => {
    const url = "https://me:secret@api.example.com/graphql";
    const result = await importGraphqlSdl("type Query { a: Int }", { server: "s", endpointUrl: url });
    expect(accepted(result).operations[0]?.metadata).toMatchObject({
      graphql: { endpoint_url: "https://api.example.com/graphql" },
      discovery: { source_url: "https://api.example.com/graphql" },
    });
  });
});

describe("the hash of a schema", () => {
  const hashOf = ({ operations }: { operations: Operation[] }) => operations[0]?.metadata.graphql.schema_hash;
  const sdl = "type Query { a(x: Int = 1): Kind b: [Int!]! } enum Kind { ONE TWO }";

  it("does not depend on order or spelling", async () => {
    const shuffled = "enum Kind{TWO,ONE}\n# Roots\ntype Query{b:[Int!]! a(x:Int=1):Kind}";
    expect(hashOf(await imported(shuffled))).toBe(hashOf(await imported(sdl)));
    expect(hashOf(await imported(sdl.replace("Int!", "Int")))).not.toBe(hashOf(await imported(sdl)));
  });

  it("is the same from either source", async () => {
    const data = introspectionFromSchema(buildSchema(sdl));
    const { operations } = await introspected({ data });
    expect(hashOf({ operations })).toBe(hashOf(await imported(sdl)));
    expect(operations[0]?.metadata.graphql.requires_introspection).toBe(true);
  });
});

describe("what an operation takes", () => {
  it.each<[string, string, Json]>([
    ["Int", "", { type: "integer" }],
    ["Float", "", { type: "number" }],
    ["String", "", { type: "string" }],
    ["Boolean", "", { type: "boolean" }],
    ["ID", "", { type: "string" }],
    ["[[Int!]!]", "", { type: "array", items: { type: "array", items: { type: "integer" } } }],
    ["Int = 3", "", { type: "integer", default: 3 }],
    ['[String] = ["a"]', "", { type: "array", items: { type: "string" }, default: ["a"] }],
    ["String = null", "", { type: "string", default: null }],
    ["Int @deprecated", "", { type: "integer", deprecated: true }],
    ["Kind = ONE", "enum Kind { ONE }", { $ref: "#/$defs/Kind", default: "ONE" }],
    ["Box = {side: 1.5}", "input Box { side: Float }", { $ref: "#/$defs/Box", default: { side: 1.5 } }],
  ])("as %s", async (type, types, expected) => {
    const { inputSchema } = await only(`f(x: ${type}): Int`, types);
    expect(inputSchema).toMatchObject({ type: "object", properties: { x: expected } });
    expect(inputSchema.properties.x).toEqual(expected);
    expect(inputSchema.required).toBeUndefined();
  });

  it("is required where it cannot be null and has no default", async () => {
    const { inputSchema } = await only("f(a: Int!, b: Int! = 1, c: Int): Int");
    expect(inputSchema.required).toEqual(["a"]);
  });

  it("brings its types along, those that contain themselves too", async () => {
    const types = `
      "Where" input Where { and: [Where!] by: Field! = NAME at: DateTime odd: Odd }
      enum Field { NAME AGE } scalar DateTime "Odd" scalar Odd
      input One @oneOf { id: ID name: String } input Unused { a: Int }`;
    const { inputSchema } = await only("f(where: Where!, one: One): Int", types);
    expect(inputSchema.$defs).toEqual({
      Where: {
        type: "object",
        description: "Where",
        properties: {
          and: { type: "array", items: { $ref: "#/$defs/Where" } },
          by: { $ref: "#/$defs/Field", default: "NAME" },
          at: { $ref: "#/$defs/DateTime" },
          odd: { $ref: "#/$defs/Odd" },
        },
        additionalProperties: false,
      },
      One: {
        type: "object",
        properties: { id: { type: "string" }, name: { type: "string" } },
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
      },
      Field: { type: "string", enum: ["NAME", "AGE"] },
      DateTime: { title: "DateTime", type: "string", format: "date-time" },
      Odd: { title: "Odd", description: "Odd" },
    });
  });
});

describe("what an operation returns", () => {
  it.each<[string, Json]>([
    ["Int!", { type: "integer" }],
    ["Int", { type: ["integer", "null"] }],
    ["[Int!]!", { type: "array", items: { type: "integer" } }],
    ["[Int]", { type: ["array", "null"], items: { type: ["integer", "null"] } }],
    ["Kind!", { $ref: "#/$defs/Kind", $defs: { Kind: { type: "string", enum: ["ONE"] } } }],
    [
      "Either!",
      {
        title: "Either",
        anyOf: [
          { type: "object", title: "Pet" },
          { type: "object", title: "Owner" },
        ],
      },
    ],
  ])("as %s", async (type, expected) => {
    const types = "enum Kind { ONE } union Either = Pet | Owner type Pet { a: Int } type Owner { a: Int }";
    expect((await only(`f: ${type}`, types)).outputSchema).toEqual(expected);
  });

  it("is told one level deep", async () => {
    const types = `
      "A pet" type Pet implements Named { name: String! owner: Owner! kind: Kind friends: [Pet!] any: Either }
      interface Named { name: String! } type Owner { pets: [Pet] } enum Kind { ONE } union Either = Pet | Owner`;
    const pet = {
      type: "object",
      title: "Pet",
      description: "A pet",
      properties: {
        name: { type: "string" },
        owner: { type: "object", title: "Owner" },
        kind: { anyOf: [{ $ref: "#/$defs/Kind" }, { type: "null" }] },
        friends: { type: ["array", "null"], items: { type: "object", title: "Pet" } },
        any: { type: ["object", "null"], title: "Either" },
      },
      $defs: { Kind: { type: "string", enum: ["ONE"] } },
    };
    expect((await only("f: Pet!", types)).outputSchema).toEqual(pet);
    expect((await only("f: Named!", types)).outputSchema).toMatchObject({ title: "Named", properties: { name: {} } });
  });
});

describe("schemas that are none", () => {
  it.each<[string, string, RegExp, number, number]>([
    ["an unknown type", "type Query {\n  a: Nope\n}", /unknown type Nope/, 2, 6],
    ["an unknown argument type", "type Query {\n  a(x: [Nope!]): Int\n}", /unknown type Nope/, 2, 9],
    ["an unknown interface", "type Query implements Nope { a: Int }", /unknown type Nope/, 1, 23],
    ["an unknown member", "type Query { a: Int }\nunion U = Nope", /unknown type Nope/, 2, 11],
    ["an unknown root", "schema { query: Nope }", /unknown type Nope/, 1, 17],
    ["an extension of nothing", "type Query { a: Int }\nextend type Nope { a: Int }", /unknown type Nope/, 2, 13],
    ["an object as an argument", "type Query { a(x: Query): Int }", /Query is not an input type/, 1, 19],
    ["an input object as a result", "input I { a: Int } type Query { a: I }", /I is not an output type/, 1, 36],
    ["a type twice", "type Query { a: Int }\ntype Query { b: Int }", /Query is defined twice/, 2, 6],
    ["a field twice", "type Query { a: Int a: ID }", /a is defined twice, and differs/, 1, 21],
    ["an argument twice", "type Query { a(x: Int, x: Int!): Int }", /x is defined twice, and differs/, 1, 24],
    ["no end", "type Query {\n  a: Int", /Expected Name, found <EOF>/, 2, 9],
    ["text without an end", 'type Query { "a\n a: Int }', /Unterminated string/, 1, 16],
    ["a query", "{ pets { name } }", /a query, not part of a schema/, 1, 1],
    ["nothing", "", /Unexpected <EOF>/, 1, 1],
    ["a megabyte of braces", "{".repeat(1_000_000), /Expected Name/, 1, 2],
  ])("are refused where it is: %s", async (_, text, message, line, column) => {
    const fault = await refused(text);
    expect(fault).toMatchObject({ line, column });
    expect(fault.message).toMatch(message);
  });

  it.each<[string, string, RegExp]>([
    ["no roots", "type Pet { a: Int }", /no query, mutation or subscription/],
    ["a root that is no object", "scalar Query", /no query, mutation or subscription/],
    ["lists without end", `type Query { a: ${"[".repeat(1_000_000)}`, /nested too deeply/],
    ["a default without end", `type Query { a(x: Int = ${"[".repeat(1_000_000)}`, /nested too deeply/],
    ["too many tokens", `type Query { ${"a: Int ".repeat(100_000)} }`, /more than 80000 tokens/],
    ["too much text", " ".repeat(5_000_000), /more than 4194304/],
    ["too many comments", "#\n".repeat(100_000), /more than 50000 comments/],
    [
      "results too large",
      `type Query { ${range(3_000).map((n) => `q${n}: T`)} } type T { ${range(3_000).map((n) => `f${n}: Int`)} }`,
      /have \d+ values \(documentNodes: 500000\)/,
    ],
  ])(
    "are refused in good time: %s",
    async (_, text, message) => {
      const start = performance.now();
      expect((await refused(text)).message).toMatch(message);
      expect(performance.now() - start).toBeLessThan(10_000);
    },
    30_000,
  );

  it("do not include federated ones, whose directives are defined elsewhere", async () => {
    const sdl = 'type Query { a: Pet } extend type Query { b: Int @own(x: 1) } type Pet @key(fields: "id") { id: ID! }';
    expect((await imported(sdl)).counts).toEqual({ operation: 2 });
  });

  it("may name any number of unknown types", async () => {
    const types = range(10_000).map((index) => `type A${index} { a: B${index} }`);
    expect(await refused(`type Query { a: Int }\n${types.join("\n")}`)).toMatchObject({ line: 2 });
  });
});

describe("what an operation carries is bounded", () => {
  it("where input objects refer to each other without end", async () => {
    const inputs = range(300).map(
      (index) => `input E${index} { ${range(30).map((field) => `f${field}: E${(index * 31 + field * 17) % 300}`)} }`,
    );
    const sdl = `type Query { ${range(300).map((index) => `q${index}(where: E${index}): Int`)} } ${inputs.join("\n")}`;
    const { manifest, operations, warnings } = await imported(sdl);
    expect(operations.flatMap(dangling)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/300 operations need more than/)]);
    await expectPublishable(manifest);
  }, 30_000);

  it("where lists and defaults nest", async () => {
    const nested = (inside: string, depth: number) => `${"[".repeat(depth)}${inside}${"]".repeat(depth)}`;
    const { manifest } = await imported(
      `type Query { a(x: ${nested("Int", 100)} = ${nested("1", 100)}): ${nested("Int", 100)} }`,
    );
    await expectPublishable(manifest);
  });
});

describe("introspection answers that are none", () => {
  const query = { kind: "OBJECT", name: "Query", fields: [], interfaces: [] };
  const types = (...all: unknown[]) => ({ data: { __schema: { queryType: { name: "Query" }, types: all } } });
  it.each<[string, unknown, string, RegExp]>([
    ["nothing", null, "", /no __schema/],
    ["errors", { errors: [{ message: "no" }], data: null }, "", /no __schema/],
    ["another answer", { data: { pets: [] } }, "/data", /no __schema/],
    ["no types", { __schema: {} }, "/__schema/types", /array/],
    ["a root that is not there", types(), "/data/__schema", /unknown type: Query/],
    ["an unknown kind", types({ kind: "THING", name: "T" }), "/data/__schema", /incomplete/],
    ["a type that is null", types(null), "/data/__schema", /incomplete/],
    ["a field of no type", types({ ...query, fields: [{ name: "a", args: [] }] }), "/data/__schema", /incomplete/],
  ])("are refused: %s", async (_, document, path, message) => {
    const result = await importGraphqlIntrospection(document, options);
    expect(result).toMatchObject({ ok: false, error: { path, message: expect.stringMatching(message) } });
  });

  it("cannot reach the prototype of anything", async () => {
    const args = [{ name: "__proto__", type: { kind: "NON_NULL", ofType: { kind: "SCALAR", name: "Int" } } }];
    const fields = [{ name: "a", args, type: { kind: "SCALAR", name: "Int" } }];
    const { operations } = await introspected(types({ ...query, fields }, { kind: "SCALAR", name: "Int" }));
    expect(operations[0]?.inputSchema).toEqual({ type: "object", properties: {} });
  });
});

describe("whatever comes in", () => {
  it("is answered with a result", async () => {
    const words = fc.constantFrom(
      "type ",
      "Query ",
      "{ ",
      "} ",
      "a: Int ",
      "input ",
      "(x: ",
      ") ",
      "[",
      "] ",
      "! ",
      "= ",
      "| ",
      "@a ",
    );
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.array(words, { maxLength: 20 }), async (value, parts) => {
        for (const document of [value, { __schema: value }, { data: { __schema: { types: value } } }]) {
          expect(await importGraphqlIntrospection(document, options)).toHaveProperty("ok");
        }
        expect(await importGraphqlSdl(parts.join(""), options)).toHaveProperty("ok");
      }),
    );
  });
});

describeFixture("GitHub's schema", "graphql/github-introspection.json", (location) => {
  const document = readJson(location) as { data: IntrospectionQuery & { __schema: { types: Json[] } } };
  const { __schema } = document.data;
  const roots = [__schema.queryType, __schema.mutationType, __schema.subscriptionType].map((type) => type?.name);
  const fields = (__schema.types as Json[])
    .filter(({ name }) => roots.includes(name as string))
    .map((type) => type.fields);
  const expected = fields.reduce<number>((sum, all) => sum + (all as unknown[]).length, 0);

  it("imports whole, in its bounds", async () => {
    const { manifest, counts, operations, warnings } = await introspected(document);
    expect(expected).toBeGreaterThan(80);
    expect({ counts, warnings }).toEqual({ counts: { operation: expected }, warnings: [] });
    expect(operations.flatMap(dangling)).toEqual([]);
    for (const operation of operations)
      expect(JSON.stringify(operation).length).toBeLessThan(defaultBounds.capabilityBytes);
    await expectPublishable(manifest);
  }, 30_000);

  it("means the same in its definition language", async () => {
    const sdl = printSchema(buildClientSchema(document.data));
    const withoutSource = ({ operations }: { operations: Operation[] }) =>
      operations.map(({ metadata: { graphql, ...rest }, ...operation }) => ({
        ...operation,
        metadata: { ...rest, graphql: { ...graphql, requires_introspection: null } },
      }));
    expect(withoutSource(await imported(sdl))).toEqual(withoutSource(await introspected(document)));
  }, 30_000);
});
