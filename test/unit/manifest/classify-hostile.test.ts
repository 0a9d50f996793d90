import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/kernel/digest.ts";
import { classifyCapability, classifyHeader } from "../../../src/manifest/classify/classify.ts";
import { type Json, taking, tool, withInput } from "./classify-cases.ts";

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
