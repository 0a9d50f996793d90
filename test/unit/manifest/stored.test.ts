import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/kernel/digest.ts";
import { canonicalManifest } from "../../../src/manifest/stored.ts";

describe("digests", () => {
  it("cover a manifest that is put together from canonical items", () => {
    const tool = fc.record({ name: fc.string(), description: fc.string() });
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(tool, { minLength: 1 }),
        fc.array(tool),
        (header, tools, prompts) => {
          const own = Object.fromEntries(
            Object.entries(header).filter(([key]) => !["tools", "prompts", "__proto__"].includes(key)),
          );
          const pieces = [
            ...tools.map((item) => ({ kind: "tool" as const, text: canonicalJson(item) })),
            ...prompts.map((item) => ({ kind: "prompt" as const, text: canonicalJson(item) })),
          ];
          const whole = { ...own, tools, ...(prompts.length > 0 ? { prompts } : {}) };
          expect(canonicalManifest(own, pieces)).toBe(canonicalJson(whole));
        },
      ),
    );
  });
});
