import { describe, expect, it } from "vitest";
import {
  answer,
  answering,
  at,
  dangling,
  expectPublishable,
  importedApi,
  type Json,
  json,
  only,
  ref,
  refusedApi,
  schemasOf,
  v20,
  v30,
  v31,
} from "../../support/importing.ts";

describe("references", () => {
  it("are followed to parameters, bodies, responses and paths", () => {
    const components = {
      parameters: { id: { $ref: "#/components/parameters/realId" }, realId: { name: "id", in: "path", schema: {} } },
      requestBodies: { pet: json({ type: "array" }) },
      responses: { pet: json({ type: "integer" }) },
      pathItems: {
        pet: {
          summary: "Any",
          parameters: [{ $ref: "#/components/parameters/id" }],
          get: { responses: { 200: { $ref: "#/components/responses/pet" } } },
          put: { requestBody: { $ref: "#/components/requestBodies/pet" } },
        },
      },
    };
    const paths = { "/a": { $ref: "#/components/pathItems/pet", summary: "Pet" } };
    expect(importedApi(v31({ paths, components })).operations).toMatchObject([
      { title: "Pet", inputSchema: { properties: { id: { "x-in": "path" } } }, outputSchema: { type: "integer" } },
      { title: "Pet", inputSchema: { properties: { id: { "x-in": "path" }, body: { type: "array" } } } },
    ]);
  });

  it("in schemas stay references, to no more than is needed", async () => {
    const schemas = {
      Pet: { type: "object", properties: { owner: ref("Owner"), parent: ref("Pet") } },
      Owner: { type: "object", properties: { pets: { type: "array", items: ref("Pet") } } },
      Error: { type: "object" },
    };
    const { manifest, operations } = importedApi(v31({ ...answering(ref("Pet")), ...schemasOf(schemas) }));
    expect(operations[0]?.outputSchema).toEqual({
      $ref: "#/$defs/Pet",
      $defs: {
        Pet: { type: "object", properties: { owner: { $ref: "#/$defs/Owner" }, parent: { $ref: "#/$defs/Pet" } } },
        Owner: { type: "object", properties: { pets: { type: "array", items: { $ref: "#/$defs/Pet" } } } },
      },
    });
    expect(operations[0]?.inputSchema).not.toHaveProperty("$defs");
    await expectPublishable(manifest);
  });

  it("lead to any place in the document, however it is written", () => {
    const part = { title: "part" };
    const definitions = { "List«Pet»": { title: "list" }, "a/b~c": { title: "odd" }, Pet: { items: { Pet: part } } };
    const properties = {
      list: { $ref: "#/definitions/List%C2%ABPet%C2%BB" },
      odd: { $ref: "#/definitions/a~1b~0c" },
      part: { $ref: "#/definitions/Pet/items/Pet" },
      pet: { $ref: "#/definitions/Pet" },
      n: { $ref: "#/paths/~1%70ets/get/parameters/0/schema" },
    };
    const parameters = [{ name: "n", in: "body", schema: { title: "n" } }];
    const operation = only(v20({ ...at({ parameters, responses: { 200: { schema: { properties } } } }), definitions }));
    expect(dangling(operation)).toEqual([]);
    expect(operation.outputSchema).toMatchObject({
      properties: { part: { $ref: "#/$defs/Pet" }, pet: { $ref: "#/$defs/Pet_2" } },
      $defs: { List_Pet_: { title: "list" }, a_b_c: { title: "odd" }, Pet: part, schema: { title: "n" } },
    });
  });

  it("give each definition a name of its own", () => {
    const definitions = { a: { Pet_2: {} }, b: { Pet: {} }, c: { Pet: {} }, d: { Pet: {} } };
    const items = ["a/Pet_2", "b/Pet", "c/Pet", "d/Pet"].map((path) => ({ $ref: `#/definitions/${path}` }));
    const { outputSchema } = only(v31({ ...answering({ anyOf: items }), definitions }));
    expect(Object.keys(outputSchema?.$defs as Json)).toEqual(["Pet_2", "Pet", "Pet_3", "Pet_4"]);
  });

  it("spread out a body that stands elsewhere", () => {
    const schemas = { Alias: ref("Pet"), Pet: { type: "object", properties: { kind: ref("Kind") } }, Kind: {} };
    const { inputSchema } = only(v31({ ...at({ requestBody: json(ref("Alias")) }, "post"), ...schemasOf(schemas) }));
    expect(inputSchema).toEqual({
      type: "object",
      properties: { kind: { $ref: "#/$defs/Kind" } },
      $defs: { Kind: {} },
    });
  });

  it("leave an endless choice of variants open, where each includes its base", async () => {
    const schemas = {
      Pet: { type: "object", oneOf: [ref("Dog"), ref("Cat")] },
      Dog: { allOf: [ref("Pet"), { properties: { barks: { type: "boolean" } } }] },
      Cat: { allOf: [ref("Pet")] },
    };
    const { manifest, warnings } = importedApi(v31({ ...answering(ref("Pet")), ...schemasOf(schemas) }));
    expect(warnings).toEqual([
      expect.stringMatching(/Dog\/allOf\/0\/\$ref leads back to Pet/),
      expect.stringMatching(/Cat\/allOf\/0\/\$ref leads back to Pet/),
    ]);
    await expectPublishable(manifest);
  });

  const remote = { $ref: "https://evil.example/pet.json" };
  const pet = "/paths/~1pets/get";
  const scheme = { components: { securitySchemes: { k: remote } } };
  it.each<[string, Json, string]>([
    ["a schema", v31(answering(remote)), `${answer}/$ref`],
    ["a file on disk", v31(answering({ $ref: "file:///etc/passwd" })), `${answer}/$ref`],
    [
      "a part",
      v31({ ...answering(ref("A")), ...schemasOf({ A: { items: remote } }) }),
      "/components/schemas/A/items/$ref",
    ],
    ["a parameter", v31(at({ parameters: [{ $ref: "p.json#/id" }] })), `${pet}/parameters/0/$ref`],
    ["a body", v31(at({ requestBody: remote })), `${pet}/requestBody/$ref`],
    ["a response", v31(at({ responses: { 200: remote } })), `${pet}/responses/200/$ref`],
    ["a path", v31({ paths: { "/a": remote } }), "/paths/~1a/$ref"],
    ["a scheme", v31({ ...at({ security: [{ k: [] }] }), ...scheme }), "/components/securitySchemes/k/$ref"],
  ])("that leave the document are refused: %s", (_, document, path) => {
    const fault = refusedApi(document);
    expect(fault).toMatchObject({ path });
    expect(fault.message).toMatch(/leaves the document/);
  });

  const pair = schemasOf({ A: ref("B"), B: { ...ref("A"), description: "b" } });
  const parameters = { ...at({ parameters: [{ $ref: "#/x" }] }), x: { $ref: "#/y" }, y: { $ref: "#/x" } };
  const paths = { "/a": { $ref: "#/paths/~1b" }, "/b": { $ref: "#/paths/~1a" } };
  it.each<[string, Json, string, RegExp]>([
    ["a missing schema", answering(ref("Nope")), `${answer}/$ref`, /points at nothing/],
    ["an inherited member", answering({ $ref: "#/constructor" }), `${answer}/$ref`, /points at nothing/],
    ["an anchor", answering({ $ref: "#pet" }), `${answer}/$ref`, /not a JSON pointer/],
    [
      "itself",
      { ...answering(ref("A")), ...schemasOf({ A: ref("A") }) },
      "/components/schemas/A/$ref",
      /circular \$ref/,
    ],
    ["each other", { ...answering(ref("A")), ...pair }, "/components/schemas/B/$ref", /circular \$ref/],
    ["each other, as parameters", parameters, `${pet}/parameters/0/$ref`, /other references/],
    ["each other, as paths", { paths }, "/paths/~1a/$ref", /other references/],
  ])("that lead nowhere are refused: %s", (_, document, path, message) => {
    const fault = refusedApi(v31(document));
    expect(fault).toMatchObject({ path });
    expect(fault.message).toMatch(message);
  });
});

describe("schemas of older versions", () => {
  const text = { type: "string" };
  const mapping = { d: "Dog" };
  it.each<[string, Json, Json]>([
    ["nullable", { ...text, nullable: true }, { type: ["string", "null"] }],
    ["nullable twice", { type: ["string", "null"], nullable: true }, { type: ["string", "null"] }],
    ["nullable: false", { ...text, nullable: false }, text],
    ["x-nullable", { ...text, "x-nullable": true }, { type: ["string", "null"] }],
    ["nullable with an enum", { enum: ["a"], nullable: true }, { enum: ["a", null] }],
    ["nullable without a type", { title: "t", nullable: true }, { title: "t" }],
    ["nullable around others", { nullable: true, allOf: [text] }, { anyOf: [{ allOf: [text] }, { type: "null" }] }],
    ["an exclusive minimum", { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ["an inclusive maximum", { maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
    ["an exclusive maximum", { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
    ["an example", { example: "a\r\nb" }, { examples: ["a\nb"] }],
    ["a file", { type: "file" }, { type: "string", format: "binary" }],
    ["a discriminator by name", { discriminator: "kind" }, { discriminator: { propertyName: "kind" } }],
    [
      "a discriminator",
      { discriminator: { propertyName: "k", mapping } },
      { discriminator: { propertyName: "k", mapping } },
    ],
    ["a property that calls itself required", { properties: { a: { required: true } } }, { properties: { a: {} } }],
    ["line ends in text, not in data", { title: "a\r\nb", default: "a\r\nb" }, { title: "a\nb", default: "a\r\nb" }],
    ["names of the schema itself", { $id: "https://x", $schema: "https://y", title: "t" }, { title: "t" }],
    [
      "properties of any name",
      { properties: { nullable: text, example: {} } },
      { properties: { nullable: text, example: {} } },
    ],
  ])("say in the words of 2020-12: %s", (_, schema, expected) => {
    expect(only(v30(answering(schema))).outputSchema).toEqual(expected);
  });

  it("ignore what stands beside a reference, but for text; later ones do not", () => {
    const document = {
      ...answering({ items: { ...ref("A"), description: "d", type: "string", nullable: true } }),
      ...schemasOf({ A: {} }),
    };
    const items = { $ref: "#/$defs/A", description: "d" };
    expect(only(v30(document)).outputSchema?.items).toEqual(items);
    expect(only(v31(document)).outputSchema?.items).toEqual({ ...items, type: "string" });
  });

  it("bring along what a discriminator refers to", () => {
    const schema = {
      discriminator: { propertyName: "kind", mapping: { dog: "#/components/schemas/Dog", cat: "Cat" } },
    };
    const { outputSchema } = only(v30({ ...answering(schema), ...schemasOf({ Dog: { title: "dog" } }) }));
    expect(outputSchema).toMatchObject({
      discriminator: { mapping: { dog: "#/$defs/Dog", cat: "Cat" } },
      $defs: { Dog: { title: "dog" } },
    });
  });
});
