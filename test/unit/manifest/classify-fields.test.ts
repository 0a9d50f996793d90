import { describe, expect, it } from "vitest";
import { classifyHeader } from "../../../src/manifest/classify/classify.ts";
import { type Case, expectClass, type Json, tool } from "./classify-cases.ts";

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
