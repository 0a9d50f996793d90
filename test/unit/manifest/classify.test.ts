import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/kernel/digest.ts";
import { classifyCapability, classifyHeader, type Verdict } from "../../../src/manifest/classify/classify.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";

type Json = Record<string, unknown>;
type Case = [behaviour: string, before: unknown, after: unknown, expected: Verdict["classification"]];

const tool = (fields: Json): Json => ({ name: "find", ...fields });
const withInput = (schema: unknown) => tool({ inputSchema: schema });
const withOutput = (schema: unknown) => tool({ outputSchema: schema });
/** A tool with one optional property of that schema. */
const taking = (schema: unknown) => withInput({ type: "object", properties: { a: schema } });
const returning = (schema: unknown) => withOutput({ type: "object", properties: { a: schema } });

function expectClass(before: Json, after: Json, expected: string): void {
  const verdict = classifyCapability(before, after);
  expect(verdict, JSON.stringify(verdict.reasons)).toMatchObject({ classification: expected });
  expect(verdict.reasons.length).toBeGreaterThan(0);
}

const object = (properties: Json, required: string[] = []) => ({ type: "object", properties, required });

describe("which inputs there are", () => {
  const text = { type: "string" };
  it.each<Case>([
    ["a new required input", object({}), object({ a: text }, ["a"]), "breaking"],
    ["a new optional input", object({}), object({ a: text }), "additive"],
    ["a removed input", object({ a: text, b: text }), object({ b: text }), "breaking"],
    ["a removed required input", object({ a: text }, ["a"]), object({}), "breaking"],
    ["an optional input that becomes required", object({ a: text }), object({ a: text }, ["a"]), "breaking"],
    ["a required input that becomes optional", object({ a: text }, ["a"]), object({ a: text }), "additive"],
    ["a required name without a property", object({}), object({}, ["a"]), "breaking"],
    [
      "the order of required names",
      object({ a: text, b: text }, ["a", "b"]),
      object({ a: text, b: text }, ["b", "a"]),
      "cosmetic",
    ],
    [
      "a new required input one level down",
      object({ a: object({}) }),
      object({ a: object({ b: text }, ["b"]) }),
      "breaking",
    ],
    ["an input named like a member of every object", object({}), object({ constructor: text }), "additive"],
    ["properties that are no object", object({}), { type: "object", properties: [] }, "breaking"],
    ["required that is no list", object({}), { type: "object", properties: {}, required: true }, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expectClass(withInput(before), withInput(after), expected);
  });

  it("is told once where a required input comes or goes", () => {
    const [without, having] = [withInput(object({})), withInput(object({ a: text }, ["a"]))];
    expect(classifyCapability(without, having).reasons.map(({ message }) => message)).toEqual([
      "a is new and required",
    ]);
    expect(classifyCapability(having, without).reasons.map(({ message }) => message)).toEqual(["a was removed"]);
  });

  it("takes a missing input schema for one of an object without properties", () => {
    expectClass(tool({}), withInput(object({ a: text })), "additive");
    expectClass(tool({}), withInput(object({ a: text }, ["a"])), "breaking");
    expectClass(withInput(object({ a: text })), tool({}), "breaking");
  });
});

describe("which values an input accepts", () => {
  it.each<Case>([
    ["a narrowed enum", { enum: ["x", "y"] }, { enum: ["x"] }, "breaking"],
    ["a widened enum", { enum: ["x"] }, { enum: ["x", "y"] }, "additive"],
    ["an enum that swaps a value", { enum: ["x"] }, { enum: ["y"] }, "breaking"],
    ["an enum in another order", { enum: ["x", "y"] }, { enum: ["y", "x"] }, "cosmetic"],
    ["an added enum", { type: "string" }, { type: "string", enum: ["x"] }, "breaking"],
    ["a dropped enum", { type: "string", enum: ["x"] }, { type: "string" }, "additive"],
    ["an added const", {}, { const: 1 }, "breaking"],
    ["a const that becomes an enum with it", { const: 1 }, { enum: [1, 2] }, "additive"],
    ["an enum of objects, members reordered", { enum: [{ a: 1, b: 2 }] }, { enum: [{ b: 2, a: 1 }, 3] }, "additive"],
    ["another type", { type: "string" }, { type: "number" }, "breaking"],
    ["a type widened by null", { type: "string" }, { type: ["string", "null"] }, "additive"],
    ["a type narrowed by null", { type: ["string", "null"] }, { type: "string" }, "breaking"],
    ["integer to number", { type: "integer" }, { type: "number" }, "additive"],
    ["number to integer", { type: "number" }, { type: "integer" }, "breaking"],
    ["an added type", {}, { type: "string" }, "breaking"],
    ["a dropped type", { type: "string" }, {}, "additive"],
    ["a type that is no type", { type: "string" }, { type: 3 }, "breaking"],
    ["lower maxLength", { maxLength: 9 }, { maxLength: 8 }, "breaking"],
    ["higher maxLength", { maxLength: 9 }, { maxLength: 10 }, "additive"],
    ["added maxLength", {}, { maxLength: 9 }, "breaking"],
    ["dropped maxLength", { maxLength: 9 }, {}, "additive"],
    ["higher minLength", { minLength: 1 }, { minLength: 2 }, "breaking"],
    ["lower minLength", { minLength: 2 }, { minLength: 1 }, "additive"],
    ["minLength 0, which asks for nothing", {}, { minLength: 0 }, "cosmetic"],
    ["higher minimum", { minimum: 1 }, { minimum: 2 }, "breaking"],
    ["lower minimum", { minimum: 2 }, { minimum: 1 }, "additive"],
    ["added minimum below zero", {}, { minimum: -5 }, "breaking"],
    ["lower maximum", { maximum: 2 }, { maximum: 1 }, "breaking"],
    ["higher maximum", { maximum: 1 }, { maximum: 2 }, "additive"],
    ["higher exclusiveMinimum", { exclusiveMinimum: 1 }, { exclusiveMinimum: 2 }, "breaking"],
    ["dropped exclusiveMinimum", { exclusiveMinimum: 1 }, {}, "additive"],
    ["lower exclusiveMaximum", { exclusiveMaximum: 2 }, { exclusiveMaximum: 1 }, "breaking"],
    ["higher exclusiveMaximum", { exclusiveMaximum: 1 }, { exclusiveMaximum: 2 }, "additive"],
    ["exclusiveMaximum of an old draft", { maximum: 1 }, { maximum: 1, exclusiveMaximum: true }, "breaking"],
    ["added multipleOf", {}, { multipleOf: 2 }, "breaking"],
    ["dropped multipleOf", { multipleOf: 2 }, {}, "additive"],
    ["multipleOf 2 to 4", { multipleOf: 2 }, { multipleOf: 4 }, "breaking"],
    ["multipleOf 4 to 2", { multipleOf: 4 }, { multipleOf: 2 }, "additive"],
    ["multipleOf 2 to 3", { multipleOf: 2 }, { multipleOf: 3 }, "breaking"],
    ["added pattern", {}, { pattern: "^a" }, "breaking"],
    ["changed pattern", { pattern: "^a" }, { pattern: "^b" }, "breaking"],
    ["dropped pattern", { pattern: "^a" }, {}, "additive"],
    ["added format", {}, { format: "date" }, "breaking"],
    ["changed format", { format: "date" }, { format: "email" }, "breaking"],
    ["dropped format", { format: "date" }, {}, "additive"],
    ["lower maxItems", { maxItems: 2 }, { maxItems: 1 }, "breaking"],
    ["higher maxItems", { maxItems: 1 }, { maxItems: 2 }, "additive"],
    ["higher minItems", { minItems: 1 }, { minItems: 2 }, "breaking"],
    ["lower minItems", { minItems: 2 }, { minItems: 1 }, "additive"],
    ["uniqueItems on", {}, { uniqueItems: true }, "breaking"],
    ["uniqueItems off", { uniqueItems: true }, { uniqueItems: false }, "additive"],
    ["higher minProperties", {}, { minProperties: 1 }, "breaking"],
    ["lower minProperties", { minProperties: 1 }, {}, "additive"],
    ["lower maxProperties", {}, { maxProperties: 1 }, "breaking"],
    ["higher maxProperties", { maxProperties: 1 }, { maxProperties: 2 }, "additive"],
    ["nullable on", { type: "string" }, { type: "string", nullable: true }, "additive"],
    ["a changed default", { default: 1 }, { default: 2 }, "breaking"],
    ["an added default", {}, { default: 2 }, "breaking"],
    ["a dropped default", { default: 2 }, {}, "breaking"],
    ["a schema that becomes false", { type: "string" }, false, "breaking"],
    ["a schema that is no longer false", false, { type: "string" }, "additive"],
    ["true to a constraint", true, { type: "string" }, "breaking"],
    ["true to an empty schema", true, {}, "cosmetic"],
    ["a schema that is none", { type: "string" }, 7, "breaking"],
    ["a schema that is null", {}, null, "breaking"],
    ["an unknown keyword added", {}, { "x-mode": "fast" }, "breaking"],
    ["an unknown keyword changed", { "x-mode": "fast" }, { "x-mode": "slow" }, "breaking"],
    ["an unknown keyword removed", { "x-mode": "fast" }, {}, "breaking"],
    ["a changed if", { if: { type: "string" } }, { if: { type: "number" } }, "breaking"],
    ["a changed not", { not: { type: "string" } }, { not: {} }, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expectClass(taking(before), taking(after), expected);
  });

  it("does not mind a default for what every old call carried", () => {
    const before = withInput(object({ a: { type: "string" } }, ["a"]));
    expectClass(before, withInput(object({ a: { type: "string", default: "x" } })), "additive");
  });
});

describe("what only describes a schema", () => {
  it.each(["description", "title", "examples", "$comment"])("%s", (keyword) => {
    expectClass(taking({ [keyword]: "old" }), taking({ [keyword]: "new" }), "cosmetic");
  });
  it("deprecated", () => {
    expectClass(taking({}), taking({ deprecated: true }), "cosmetic");
  });
  it("another dialect of json-schema.org", () => {
    const draft7 = withInput({ $schema: "http://json-schema.org/draft-07/schema#", type: "object" });
    expectClass(withInput({ type: "object" }), draft7, "cosmetic");
    expectClass(draft7, withInput({ $schema: "https://example.com/dialect", type: "object" }), "breaking");
  });
  it("a property that happens to be called description", () => {
    expectClass(withInput(object({ description: {} })), withInput(object({})), "breaking");
  });
});

describe("schemas inside schemas", () => {
  const [text, number, none] = [{ type: "string" }, { type: "number" }, { type: "null" }];
  it.each<Case>([
    ["closing an object", {}, { additionalProperties: false }, "breaking"],
    [
      "closing an object that said it was open",
      { additionalProperties: true },
      { additionalProperties: false },
      "breaking",
    ],
    ["opening an object", { additionalProperties: false }, {}, "additive"],
    ["saying that an open object is open", {}, { additionalProperties: true }, "cosmetic"],
    ["typing further properties", {}, { additionalProperties: text }, "breaking"],
    ["loosening further properties", { additionalProperties: text }, { additionalProperties: {} }, "additive"],
    ["narrowed items", { items: {} }, { items: text }, "breaking"],
    ["widened items", { items: text }, { items: { type: ["string", "null"] } }, "additive"],
    ["narrowed prefixItems", { prefixItems: [{}] }, { prefixItems: [text] }, "breaking"],
    ["another number of positions", { prefixItems: [text] }, { prefixItems: [text, text] }, "breaking"],
    ["items that become a tuple", { items: text }, { items: [text] }, "breaking"],
    [
      "narrowed patternProperties",
      { patternProperties: { "^a": {} } },
      { patternProperties: { "^a": text } },
      "breaking",
    ],
    ["a removed pattern", { patternProperties: { "^a": {} } }, {}, "breaking"],
    ["a pattern in an open object", {}, { patternProperties: { "^a": text } }, "breaking"],
    [
      "a pattern in a closed object",
      { additionalProperties: false },
      { additionalProperties: false, patternProperties: { "^a": text } },
      "additive",
    ],
    ["an anyOf branch removed", { anyOf: [text, number] }, { anyOf: [text] }, "breaking"],
    ["an anyOf branch added", { anyOf: [text] }, { anyOf: [number, text] }, "additive"],
    ["a oneOf branch removed", { oneOf: [text, number] }, { oneOf: [number] }, "breaking"],
    ["a oneOf branch added", { oneOf: [text] }, { oneOf: [text, number] }, "additive"],
    ["an allOf branch removed", { allOf: [text, { maxLength: 3 }] }, { allOf: [text] }, "breaking"],
    ["an allOf branch added", { allOf: [text] }, { allOf: [text, { maxLength: 3 }] }, "breaking"],
    ["branches in another order", { anyOf: [text, number] }, { anyOf: [number, text] }, "cosmetic"],
    [
      "a branch widened in place",
      { anyOf: [{ maxLength: 1 }, number] },
      { anyOf: [{ maxLength: 2 }, number] },
      "additive",
    ],
    [
      "a branch narrowed in place",
      { anyOf: [{ maxLength: 2 }, number] },
      { anyOf: [{ maxLength: 1 }, number] },
      "breaking",
    ],
    ["anyOf beside other constraints added", text, { ...text, anyOf: [{ maxLength: 2 }] }, "breaking"],
    ["anyOf beside other constraints dropped", { ...text, anyOf: [{ maxLength: 2 }] }, text, "additive"],
    ["allOf added", text, { ...text, allOf: [{ maxLength: 2 }] }, "breaking"],
    ["allOf dropped", { ...text, allOf: [{ maxLength: 2 }] }, text, "breaking"],
    ["a schema that becomes one of several", { ...text, title: "A" }, { anyOf: [text, none], title: "A" }, "additive"],
    ["one of several that stands alone", { anyOf: [text, none] }, text, "breaking"],
    ["anyOf that is no list", { anyOf: [text] }, { anyOf: 1 }, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expectClass(taking(before), taking(after), expected);
  });
});

describe("references", () => {
  const node = (value: unknown) => ({
    type: "object",
    properties: { root: { $ref: "#/$defs/node" } },
    $defs: { node: { type: "object", properties: { value, next: { $ref: "#/$defs/node" } } } },
  });
  const text = { type: "string" };
  it.each<Case>([
    ["a narrowed definition", node({}), node(text), "breaking"],
    ["a widened definition", node(text), node({}), "additive"],
    ["a described definition", node(text), node({ ...text, description: "x" }), "cosmetic"],
    [
      "a definition under another name",
      { $ref: "#/$defs/a", $defs: { a: text } },
      { $ref: "#/$defs/b", $defs: { b: text } },
      "cosmetic",
    ],
    ["a definition put in place", { $ref: "#/$defs/a", $defs: { a: text } }, text, "cosmetic"],
    ["a schema moved to a definition", text, { $ref: "#/definitions/a", definitions: { a: text } }, "cosmetic"],
    ["a schema moved and narrowed", {}, { $ref: "#/$defs/a", $defs: { a: text } }, "breaking"],
    ["moved, with more beside it", text, { $ref: "#/$defs/a", maxLength: 2, $defs: { a: text } }, "breaking"],
    [
      "a constraint beside a reference",
      { $ref: "#/$defs/a", maxLength: 2, $defs: { a: text } },
      { $ref: "#/$defs/a", maxLength: 1, $defs: { a: text } },
      "breaking",
    ],
    [
      "an escaped pointer",
      { $ref: "#/$defs/a~1b%25", $defs: { "a/b%": {} } },
      { $ref: "#/$defs/a~1b%25", $defs: { "a/b%": text } },
      "breaking",
    ],
    ["a pointer through a list", { $ref: "#/allOf/0", allOf: [{}] }, { $ref: "#/allOf/0", allOf: [text] }, "breaking"],
    ["a remote reference", { $ref: "https://a.example/1" }, { $ref: "https://a.example/2" }, "breaking"],
    ["a reference to what is no schema", text, { $ref: "#/$defs/a", $defs: { a: null } }, "breaking"],
    ["a reference to nothing", { $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }, "breaking"],
    ["a reference that cannot be decoded", { $ref: "#/%zz" }, { $ref: "#/%zy" }, "breaking"],
    ["a definition nobody uses", { $defs: { a: {} } }, { $defs: { a: text } }, "cosmetic"],
    [
      "a definition that an anchor may reach",
      { $ref: "#here", $defs: { a: { $anchor: "here" } } },
      { $ref: "#here", $defs: { a: { $anchor: "here", ...text } } },
      "breaking",
    ],
    [
      "a definition that an unknown keyword reaches",
      { if: { $ref: "#/$defs/a" }, $defs: { a: {} } },
      { if: { $ref: "#/$defs/a" }, $defs: { a: text } },
      "breaking",
    ],
    ["a schema that refers to itself", { $ref: "#" }, { $ref: "#", title: "x" }, "cosmetic"],
  ])("%s", (_, before, after, expected) => {
    expectClass(withInput(before), withInput(after), expected);
  });

  it("names the definition that changed", () => {
    const { reasons } = classifyCapability(withInput(node({})), withInput(node(text)));
    expect(reasons.map(({ path }) => path)).toEqual(["/inputSchema/$defs/node/properties/value/type"]);
  });
});

describe("what an output promises", () => {
  const text = { type: "string" };
  it.each<Case>([
    ["a property removed", object({ a: text }), object({}), "breaking"],
    ["a property that may now be missing", object({ a: text }, ["a"]), object({ a: text }), "breaking"],
    ["a property that is now always there", object({ a: text }), object({ a: text }, ["a"]), "additive"],
    ["a new property", object({}), object({ a: text }), "additive"],
    ["a new property that is always there", object({}), object({ a: text }, ["a"]), "additive"],
    ["closing an object", {}, { additionalProperties: false }, "additive"],
    ["opening an object", { additionalProperties: false }, {}, "additive"],
    ["properties of a new pattern", {}, { patternProperties: { "^a": {} } }, "additive"],
  ])("%s", (_, before, after, expected) => {
    expectClass(withOutput(before), withOutput(after), expected);
  });

  it.each<Case>([
    ["enum widened", { enum: ["x"] }, { enum: ["x", "y"] }, "breaking"],
    ["enum narrowed", { enum: ["x", "y"] }, { enum: ["x"] }, "additive"],
    ["type widened", { type: "string" }, { type: ["string", "null"] }, "breaking"],
    ["type narrowed", { type: ["string", "null"] }, { type: "string" }, "additive"],
    ["number to integer", { type: "number" }, { type: "integer" }, "additive"],
    ["another type", { type: "string" }, { type: "number" }, "breaking"],
    ["maxLength raised", { maxLength: 1 }, { maxLength: 2 }, "breaking"],
    ["maxLength lowered", { maxLength: 2 }, { maxLength: 1 }, "additive"],
    ["pattern changed", { pattern: "a" }, { pattern: "b" }, "breaking"],
    ["format dropped", { format: "date" }, {}, "breaking"],
    ["a branch added", { anyOf: [{ type: "string" }] }, { anyOf: [{ type: "string" }, { type: "null" }] }, "breaking"],
    [
      "a branch removed",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { anyOf: [{ type: "string" }] },
      "additive",
    ],
    ["a default", {}, { default: 1 }, "cosmetic"],
    ["a schema that becomes false", {}, false, "breaking"],
    ["an unknown keyword", {}, { "x-unit": "m" }, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expectClass(returning(before), returning(after), expected);
  });

  it("is new or gone as a whole", () => {
    expectClass(tool({}), returning({}), "additive");
    expectClass(returning({}), tool({}), "breaking");
  });
});

describe("arguments and parameters", () => {
  it.each<Case>([
    ["a new required one", [], [{ name: "a", required: true }], "breaking"],
    ["a new optional one", undefined, [{ name: "a" }], "additive"],
    ["a removed one", [{ name: "a" }, { name: "b" }], [{ name: "b" }], "breaking"],
    ["optional to required", [{ name: "a" }], [{ name: "a", required: true }], "breaking"],
    ["required to optional", [{ name: "a", required: true }], [{ name: "a", required: false }], "additive"],
    ["another type", [{ name: "a", type: "string" }], [{ name: "a", type: "number" }], "breaking"],
    ["a narrowed enum", [{ name: "a", enum: ["x", "y"] }], [{ name: "a", enum: ["x"] }], "breaking"],
    ["a widened enum", [{ name: "a", enum: ["x"] }], [{ name: "a", enum: ["x", "y"] }], "additive"],
    ["a description", [{ name: "a" }], [{ name: "a", description: "x" }], "cosmetic"],
    ["the order", [{ name: "a" }, { name: "b" }], [{ name: "b" }, { name: "a" }], "cosmetic"],
    ["two of one name", [{ name: "a" }], [{ name: "a" }, { name: "a" }], "breaking"],
    ["something that is no list", [{ name: "a" }], { a: {} }, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expectClass({ name: "p", arguments: before }, { name: "p", arguments: after }, expected);
    expectClass({ uriTemplate: "a:{a}", parameters: before }, { uriTemplate: "a:{a}", parameters: after }, expected);
  });
});

describe("safety hints", () => {
  it.each<Case>([
    ["no longer read-only", { readOnlyHint: true }, { readOnlyHint: false }, "breaking"],
    ["no longer said to be read-only", { readOnlyHint: true }, {}, "breaking"],
    ["said to be read-only", {}, { readOnlyHint: true }, "additive"],
    ["now destructive", { destructiveHint: false }, { destructiveHint: true }, "breaking"],
    ["no longer said to be harmless, which means destructive", { destructiveHint: false }, {}, "breaking"],
    ["said to be harmless", { destructiveHint: true }, { destructiveHint: false }, "additive"],
    ["said to be destructive, as was assumed", {}, { destructiveHint: true }, "additive"],
    ["no longer idempotent", { idempotentHint: true }, { idempotentHint: false }, "breaking"],
    ["now idempotent", {}, { idempotentHint: true }, "additive"],
    ["now in the open world", { openWorldHint: false }, { openWorldHint: true }, "breaking"],
    ["no longer in the open world", {}, { openWorldHint: false }, "additive"],
    ["a hint that is no boolean", { readOnlyHint: false }, { readOnlyHint: "true" }, "breaking"],
    ["a title", { title: "a" }, { title: "b" }, "cosmetic"],
    ["an unknown annotation changed", { audience: ["user"] }, { audience: ["assistant"] }, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expectClass(tool({ annotations: before }), tool({ annotations: after }), expected);
  });

  it("are compared with what the protocol assumes when there were none at all", () => {
    expectClass(tool({}), tool({ annotations: { readOnlyHint: true } }), "additive");
    expectClass(tool({ annotations: { destructiveHint: false } }), tool({}), "breaking");
  });
});

describe("other fields of a capability", () => {
  it.each(
    "description title icons examples commonErrors performance bestFor docsUri implementation version category _meta status".split(
      " ",
    ),
  )("%s is cosmetic", (field) => {
    expectClass(tool({ [field]: "old" }), tool({ [field]: "new" }), "cosmetic");
    expectClass(tool({}), tool({ [field]: "new" }), "cosmetic");
  });

  const upstream = (fields: Json) => ({ upstreamDependencies: { services: ["s"], ...fields } });
  it.each<Case>([
    ["a permission added", { permissions: ["r"] }, { permissions: ["r", "w"] }, "breaking"],
    ["a permission removed", { permissions: ["r", "w"] }, { permissions: ["r"] }, "additive"],
    ["permissions in another order", { permissions: ["r", "w"] }, { permissions: ["w", "r"] }, "cosmetic"],
    ["a first effect", {}, { effects: ["network"] }, "breaking"],
    ["an effect removed", { effects: ["network"] }, {}, "additive"],
    [
      "another server URL",
      { metadata: { mcp: { server_url: "a" } } },
      { metadata: { mcp: { server_url: "b" } } },
      "breaking",
    ],
    ["a provider that appears", {}, { metadata: { mcp: { server_url: "b" } } }, "breaking"],
    ["a provider of an odd shape", {}, { metadata: { mcp: "b" } }, "breaking"],
    [
      "provenance",
      { metadata: { discovery: { method: "a" } } },
      { metadata: { discovery: { method: "b" } } },
      "cosmetic",
    ],
    ["another media type", { mimeType: "text/plain" }, { mimeType: "text/html" }, "breaking"],
    ["another name", { name: "find" }, { name: "search" }, "breaking"],
    ["the label of a resource", { uri: "a:b", name: "A" }, { uri: "a:b", name: "B" }, "cosmetic"],
    ["another address", { uri: "a:b" }, { uri: "a:c" }, "breaking"],
    ["a pattern of a family removed", { patterns: ["a", "b"] }, { patterns: ["a"] }, "breaking"],
    ["a pattern of a family added", { patterns: ["a"] }, { patterns: ["a", "b"] }, "additive"],
    ["an unknown key added", {}, { "x-a": 1 }, "additive"],
    ["an unknown key changed", { "x-a": 1 }, { "x-a": 2 }, "breaking"],
    ["an unknown key removed", { "x-a": 1 }, {}, "breaking"],
    [
      "a generator that needs a field more",
      { requirements: { fields: ["a"] } },
      { requirements: { fields: ["a", "b"] } },
      "breaking",
    ],
    [
      "a generator that needs a field less",
      { requirements: { fields: ["a", "b"] } },
      { requirements: { fields: ["a"] } },
      "additive",
    ],
    [
      "a requirement in a map",
      { requirements: { subfields: {} } },
      { requirements: { subfields: { a: ["b"] } } },
      "breaking",
    ],
    ["a requirement of another shape", { requirements: {} }, { requirements: { runtime: ">=3" } }, "breaking"],
    ["a requirement of another shape dropped", { requirements: { runtime: ">=3" } }, { requirements: {} }, "additive"],
    ["a first dependency", { upstreamDependencies: null }, upstream({}), "breaking"],
    ["a credential added", upstream({}), upstream({ credentialsRequired: ["K"] }), "breaking"],
    ["a credential removed", upstream({ credentialsRequired: ["K"] }), upstream({}), "additive"],
    ["dependencies gone", upstream({}), { upstreamDependencies: null }, "additive"],
    ["no dependencies, said differently", {}, { upstreamDependencies: null }, "cosmetic"],
    ["an optional service", upstream({}), upstream({ optionalServices: ["o"] }), "additive"],
    ["latency", upstream({}), upstream({ expectedLatencyMs: { p50: 3 } }), "cosmetic"],
    ["no longer safe to run at once", upstream({ concurrencySafe: true }), upstream({}), "breaking"],
    ["a generator deprecated", { type: "t", status: "stable" }, { type: "t", status: "deprecated" }, "cosmetic"],
    [
      "something a generator can no longer do",
      { type: "t", capabilities: ["a"] },
      { type: "t", capabilities: [] },
      "breaking",
    ],
    ["another way to recognise a generator's config", { indicators: { a: 1 } }, { indicators: { a: 2 } }, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expectClass(before as Json, after as Json, expected);
  });
});

describe("a manifest's own fields", () => {
  it.each<Case>([
    ["a feature turned off", { features: { a: true } }, { features: { a: false } }, "breaking"],
    ["a feature no longer named", { features: { a: true } }, {}, "breaking"],
    ["a feature turned on", { features: { a: false } }, { features: { a: true } }, "additive"],
    ["a lowered limit", { limits: { a: 2 } }, { limits: { a: 1 } }, "breaking"],
    ["a raised limit", { limits: { a: 1 } }, { limits: { a: 2 } }, "additive"],
    ["a new limit", {}, { limits: { a: 2 } }, "breaking"],
    ["a limit lifted", { concurrencyLimits: { a: 2 } }, {}, "additive"],
    ["a limit that is no number", { limits: { a: 1 } }, { limits: { a: "2" } }, "breaking"],
    ["version", { version: "1" }, { version: "2" }, "cosmetic"],
    ["description", { description: "a" }, {}, "cosmetic"],
    ["another protocol", { protocolVersion: "1" }, { protocolVersion: "2" }, "breaking"],
    ["an address removed", { remotes: [{ url: "a" }] }, { remotes: [] }, "breaking"],
    ["an address added", { remotes: [{ url: "a" }] }, { remotes: [{ url: "a" }, { url: "b" }] }, "additive"],
    ["an address changed", { remotes: [{ url: "a" }] }, { remotes: [{ url: "b" }] }, "breaking"],
    [
      "why a strategy is what it is",
      { selectionStrategy: { explanation: "a" } },
      { selectionStrategy: {} },
      "cosmetic",
    ],
    [
      "another fallback",
      { selectionStrategy: { fallback: "a" } },
      { selectionStrategy: { fallback: "b" } },
      "breaking",
    ],
    ["an unknown key added", {}, { a: 1 }, "additive"],
    ["an unknown key removed", { a: 1 }, {}, "breaking"],
  ])("%s", (_, before, after, expected) => {
    expect(classifyHeader(before as Json, after as Json)).toMatchObject({ classification: expected });
  });
});

describe("a verdict", () => {
  it("has no reasons where nothing changed but the order of members", () => {
    expect(classifyCapability({ a: 1, b: [2] }, { b: [2], a: 1 })).toEqual({ classification: "cosmetic", reasons: [] });
  });

  it("gives the worst reason first, with pointers that escape names", () => {
    const verdict = classifyCapability(
      tool({ description: "a", inputSchema: object({ "a/b~c": {} }) }),
      tool({ description: "b", inputSchema: object({ d: {} }) }),
    );
    expect(verdict.reasons.map(({ path, classification }) => [classification, path])).toEqual([
      ["breaking", "/inputSchema/properties/a~1b~0c"],
      ["additive", "/inputSchema/properties/d"],
      ["cosmetic", "/description"],
    ]);
  });

  it("keeps 50 reasons, the breaking ones above all, and none longer than a log can hold", () => {
    const names = Array.from({ length: 100 }, (_, index) => [`p${index}`, {}]);
    const long = "n".repeat(100_000);
    const verdict = classifyCapability(
      tool({ title: "a", inputSchema: object({ [long]: { properties: { x: {} } } }) }),
      tool({
        title: "b",
        inputSchema: object({ ...Object.fromEntries(names), [long]: { properties: { [long]: {} } } }),
      }),
    );
    expect(verdict.classification).toBe("breaking");
    expect(verdict.reasons).toHaveLength(50);
    expect(verdict.reasons[0]).toMatchObject({ classification: "breaking", path: "/inputSchema/properties" });
    expect(JSON.stringify(verdict).length).toBeLessThan(50_000);
  });
});

describe("hostile schemas", () => {
  const within = (milliseconds: number, before: Json, after: Json) => {
    const start = performance.now();
    const verdict = classifyCapability(before, after);
    expect(performance.now() - start).toBeLessThan(milliseconds);
    return verdict;
  };
  /** Definitions that refer to each other in a ring of that size. */
  const ring = (size: number, extra: Json = {}) => ({
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(
      Array.from({ length: size }, (_, index) => [
        `d${index}`,
        { ...extra, items: { $ref: `#/$defs/d${(index + 1) % size}` } },
      ]),
    ),
  });

  it("ends on rings of references", () => {
    expect(within(1_000, withInput(ring(500)), withInput(ring(500, { title: "x" }))).classification).toBe("cosmetic");
  });

  it("gives up on pairs of rings that multiply, and says so", () => {
    const verdict = within(2_000, withInput(ring(4_001)), withInput(ring(4_003)));
    expect(verdict.classification).toBe("breaking");
    expect(verdict.reasons).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("too complex") }),
    );
  });

  it("shares one budget among the parameters of a template", () => {
    const parameters = (size: number) =>
      Array.from({ length: 60 }, (_, index) => ({ name: `p${index}`, ...ring(size) }));
    within(2_000, { uriTemplate: "a", parameters: parameters(97) }, { uriTemplate: "a", parameters: parameters(101) });
  });

  it("compares thousands of properties and branches", () => {
    const wide = (maxLength: number) => ({
      properties: Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`p${i}`, { type: "string", maxLength }])),
      anyOf: Array.from({ length: 4_000 }, (_, index) => ({ const: index + maxLength })),
    });
    expect(within(2_000, withInput(wide(2)), withInput(wide(1))).classification).toBe("breaking");
  });

  it("compares schemas as deep as a document may be, and refuses to go deeper", () => {
    const deep = (levels: number, leaf: unknown): unknown =>
      levels === 0 ? leaf : { anyOf: [deep(levels - 1, leaf)] };
    expect(within(1_000, taking(deep(28, {})), taking(deep(28, { type: "string" }))).reasons[0]?.message).toContain(
      "type",
    );
    const tooDeep = within(1_000, taking(deep(3_000, {})), taking(deep(3_000, { type: "string" })));
    expect(tooDeep.reasons).toEqual([{ path: "", classification: "breaking", message: "too complex to compare" }]);
  });

  it("refuses to read a list without end", () => {
    const verdict = within(1_000, tool({ examples: [] }), tool({ examples: Array(250_000).fill(0) }));
    expect(verdict.classification).toBe("breaking");
  });
});

describe("for any content", () => {
  const names = fc.oneof(fc.constantFrom("a", "b", "c", "constructor", "__proto__"), fc.string());
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.jsonValue({ maxDepth: 1 }),
      fc.record(
        {
          type: fc.oneof(fc.constantFrom("string", "object", "array", "integer"), fc.jsonValue({ maxDepth: 1 })),
          properties: fc.oneof(fc.dictionary(names, tie("schema"), { maxKeys: 3 }), fc.jsonValue({ maxDepth: 1 })),
          required: fc.oneof(fc.array(names, { maxLength: 3 }), fc.jsonValue({ maxDepth: 1 })),
          items: tie("schema"),
          additionalProperties: tie("schema"),
          patternProperties: fc.dictionary(names, tie("schema"), { maxKeys: 2 }),
          anyOf: fc.oneof(fc.array(tie("schema"), { maxLength: 3 }), fc.jsonValue({ maxDepth: 1 })),
          allOf: fc.array(tie("schema"), { maxLength: 2 }),
          enum: fc.jsonValue({ maxDepth: 2 }),
          const: fc.jsonValue({ maxDepth: 1 }),
          default: fc.jsonValue({ maxDepth: 1 }),
          maxLength: fc.jsonValue({ maxDepth: 0 }),
          multipleOf: fc.jsonValue({ maxDepth: 0 }),
          $ref: fc.constantFrom(
            "#",
            "#/$defs/a",
            "#/$defs/b",
            "#/properties/a",
            "#/%",
            "https://a.example",
            "#/anyOf/0",
          ),
          $defs: fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { maxKeys: 2 }),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  const capabilities = fc.record(
    {
      name: fc.jsonValue({ maxDepth: 0 }),
      inputSchema: schema,
      outputSchema: schema,
      arguments: fc.oneof(fc.array(fc.record({ name: names, required: fc.boolean() })), fc.jsonValue()),
      annotations: fc.jsonValue({ maxDepth: 1 }),
      permissions: fc.jsonValue({ maxDepth: 1 }),
      metadata: fc.jsonValue({ maxDepth: 2 }),
      requirements: fc.jsonValue({ maxDepth: 2 }),
      upstreamDependencies: fc.jsonValue({ maxDepth: 2 }),
      features: fc.jsonValue({ maxDepth: 2 }),
      limits: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  );

  it("finds nothing between a thing and its copy", () => {
    fc.assert(
      fc.property(capabilities, (item) => {
        expect(classifyCapability(item, structuredClone(item)).reasons).toEqual([]);
        expect(classifyHeader(item, structuredClone(item)).reasons).toEqual([]);
      }),
    );
  });

  it("never throws, and always says why two things differ", () => {
    fc.assert(
      fc.property(capabilities, capabilities, fc.dictionary(names, fc.jsonValue()), (before, after, other) => {
        for (const next of [after, other]) {
          const isSame = canonicalJson(before) === canonicalJson(next);
          expect(classifyCapability(before, next).reasons.length > 0).toBe(!isSame);
          expect(classifyHeader(before, next).reasons.length > 0).toBe(!isSame);
        }
      }),
      { numRuns: 200 },
    );
  });

  const objects = fc.record({
    properties: fc.dictionary(fc.constantFrom("a", "b", "c"), schema),
    required: fc.array(fc.constantFrom("a", "b", "c")),
    additionalProperties: schema,
    allOf: fc.array(schema, { maxLength: 2 }),
  });
  it("never calls an added optional property breaking", () => {
    fc.assert(
      fc.property(objects, schema, (before, added) => {
        const after = { ...before, properties: { ...before.properties, added } };
        expect(classifyCapability(withInput(before), withInput(after)).classification).not.toBe("breaking");
      }),
    );
  });

  it("always calls an added required property breaking", () => {
    fc.assert(
      fc.property(objects, schema, (before, added) => {
        const properties = { ...before.properties, added };
        const after = { ...before, properties, required: [...before.required, "added"] };
        expect(classifyCapability(withInput(before), withInput(after)).classification).toBe("breaking");
      }),
    );
  });
});

describeFixture("known rug pulls", "security/poison-cases.json", (location) => {
  it("are never cosmetic", () => {
    const cases = readJson(location) as { id: string; tool: { v1: Json; v2: Json } }[];
    const pulls = cases.filter(({ id }) => id.startsWith("rugpull-"));
    expect(pulls.map(({ id }) => id)).toEqual(["rugpull-schema-only", "rugpull-annotations-only"]);
    expect(pulls.map(({ tool: { v1, v2 } }) => classifyCapability(v1, v2).classification)).toEqual([
      "breaking",
      "additive",
    ]);
  });
});
