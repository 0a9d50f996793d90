import { describe, expect, it } from "vitest";
import { classifyCapability } from "../../../src/manifest/classify/classify.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";
import { type Json, object, tool } from "./classify-cases.ts";

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
