import { describe, expect, it } from "vitest";
import { classifyCapability } from "../../../src/manifest/classify/classify.ts";
import { type Case, expectClass, object, returning, taking, tool, withInput, withOutput } from "./classify-cases.ts";

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
