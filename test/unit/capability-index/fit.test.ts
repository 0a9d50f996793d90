import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { budgetBlock, type IndexElement } from "../../../src/capability-index/elements.ts";
import {
  chooseOptions,
  type DetailOption,
  detailLevels,
  fitIndex,
  maxConsidered,
  pinFactor,
  worthOf,
} from "../../../src/capability-index/fit.ts";
import { budgetHeader } from "../../../src/capability-index/text.ts";
import { type CountTokens, loadTokenizer } from "../../../src/manifest/tokens.ts";

let count: CountTokens;
beforeAll(async () => {
  count = await loadTokenizer();
});

const showing = fc.record({ tokens: fc.integer({ min: 1, max: 60 }), worth: fc.integer({ min: 1, max: 20 }) });
const showings = fc.array(showing, { maxLength: 3 });

/** The greatest worth, by trying everything. */
function byForce(items: readonly (readonly DetailOption[])[], budget: number): number {
  const [first, ...rest] = items;
  if (first === undefined) return 0;
  const taken = first.flatMap(({ tokens, worth }) => (tokens <= budget ? worth + byForce(rest, budget - tokens) : []));
  return Math.max(byForce(rest, budget), ...taken);
}

describe("the worth of an item", () => {
  it("grows with detail, falls with rank ever more slowly, and is below what a pin is worth", () => {
    let all = 0;
    for (let rank = 1; rank <= maxConsidered + 100; rank += 1) {
      const [name = 0, summary = 0, schema = 0] = detailLevels.map((level) => worthOf(rank, level));
      expect(name).toBeGreaterThan(0);
      expect(summary).toBeGreaterThan(name);
      expect(schema).toBeGreaterThan(summary);
      expect(worthOf(rank + 1, "schema")).toBeLessThanOrEqual(schema);
      all += schema;
    }
    expect(worthOf(1, "name") - worthOf(2, "name")).toBeGreaterThan(worthOf(50, "name") - worthOf(51, "name"));
    expect(all).toBeLessThan(pinFactor);
  });
});

describe("fitting", () => {
  it("finds the best there is", () => {
    fc.assert(
      fc.property(fc.array(showings, { maxLength: 6 }), fc.integer({ min: 0, max: 200 }), (items, budget) => {
        const { chosen, tokens, worth } = chooseOptions(items, budget);
        const taken = chosen.flatMap((index, item) => items[item]?.[index] ?? []);
        expect(taken.reduce((sum, one) => sum + one.tokens, 0)).toBe(tokens);
        expect(taken.reduce((sum, one) => sum + one.worth, 0)).toBe(worth);
        expect(tokens).toBeLessThanOrEqual(budget);
        expect(worth).toBe(byForce(items, budget));
      }),
      { numRuns: 300 },
    );
  });

  it("takes pins before anything else, however good the rest is", () => {
    fc.assert(
      fc.property(
        fc.array(showings, { maxLength: 4 }),
        fc.array(showings, { maxLength: 4 }),
        fc.integer({ min: 0, max: 200 }),
        (pins, ranked, budget) => {
          const fit = fitIndex(pins, ranked, budget);
          expect(fit.pins.worth).toBe(byForce(pins, budget));
          expect(fit.pins.tokens + fit.ranked.tokens).toBeLessThanOrEqual(budget);
        },
      ),
    );
  });

  it.each([0, -1, -1e9])("finds nothing for a budget of %i", (budget) => {
    expect(chooseOptions([[{ tokens: 1, worth: 1 }]], budget)).toEqual({ chosen: [-1], tokens: 0, worth: 0 });
    expect(chooseOptions([], budget)).toEqual({ chosen: [], tokens: 0, worth: 0 });
  });

  it("weighs no more than it says", () => {
    const many = Array.from({ length: maxConsidered + 50 }, () => [{ tokens: 1, worth: 1 }]);
    expect(fitIndex([], many, 1e9).ranked).toMatchObject({ tokens: maxConsidered, worth: maxConsidered });
  });
});

const anyText = fc.oneof(
  fc.lorem({ maxCount: 20 }),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.constantFrom("", "yes", "# not a comment", "a: b", "\n\n", "- x", " x "),
);
const anyElement = fc.record({
  server: fc.constant("s"),
  kind: fc.constantFrom("tool", "prompt", "resource", "generator") as fc.Arbitrary<IndexElement["kind"]>,
  key: fc.string({ minLength: 1, maxLength: 20 }),
  id: fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  declared: fc.record({ description: anyText, inputSchema: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })) }),
});

/** An index for a budget, as the route makes it. */
function indexFor(pins: readonly IndexElement[], ranked: readonly IndexElement[], budget: number) {
  const weigh = (element: IndexElement, index: number) =>
    detailLevels.flatMap((level) => {
      const text =
        level === "name"
          ? budgetBlock(element, "", { level })
          : level === "summary"
            ? budgetBlock(element, "", { level, description: String(element.declared.description) })
            : budgetBlock(element, "", { level, element });
      return text === undefined ? [] : [{ level, text, tokens: count(text), worth: worthOf(index + 1, level) }];
    });
  const header = budgetHeader("acme");
  const weighed = { pins: pins.map(weigh), ranked: ranked.map(weigh) };
  const fit = fitIndex(weighed.pins, weighed.ranked, budget - count(header));
  const blocks = (["pins", "ranked"] as const).flatMap((part) =>
    fit[part].chosen.flatMap((index, item) => weighed[part][item]?.[index]?.text ?? []),
  );
  const text = blocks.length === 0 ? "" : header + blocks.join("");
  return { text, worth: fit.worth, shown: blocks.length };
}

describe("an index for a budget", () => {
  it("is within it, the same each time, and worth no less with more, for any catalogue", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(
        fc.array(anyElement, { maxLength: 3 }),
        fc.array(anyElement, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 2, maxLength: 6 }),
        (pins, ranked, some) => {
          const budgets = [...some, 1e9].sort((a, b) => a - b);
          let before = 0;
          for (const budget of budgets) {
            const { text, worth, shown } = indexFor(pins, ranked, budget);
            expect(count(text)).toBeLessThanOrEqual(budget);
            expect(indexFor(pins, ranked, budget).text).toBe(text);
            expect(worth).toBeGreaterThanOrEqual(before);
            before = worth;
            for (const version of ["1.1", "1.2"] as const) {
              const read = parse(text, { version }) as { elements: unknown[] } | null;
              expect(read?.elements.length ?? 0).toBe(shown);
            }
          }
          expect(indexFor(pins, ranked, 1e9).shown).toBe(pins.length + ranked.length);
        },
      ),
      { numRuns: 40 },
    );
  });
});
