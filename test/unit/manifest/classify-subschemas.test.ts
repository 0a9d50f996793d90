import { describe, expect, it } from "vitest";
import { classifyCapability } from "../../../src/manifest/classify/classify.ts";
import { type Case, expectClass, taking, withInput } from "./classify-cases.ts";

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
