import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CapabilityCard } from "../../../src/search/contract.ts";
import { fuseRanks } from "../../../src/search/fuse.ts";
import { type ContextQuery, fitBudget } from "../../../src/sessions/context/fit.ts";

function card(id: string, tokens = 10, more: Partial<CapabilityCard> = {}): CapabilityCard {
  const registry = { tokens, flags: [], status: "active" as const };
  return { tenant: "acme", server: "s", kind: "tool", key: id, id, digest: `d-${id}`, tokens, registry, ...more };
}

function wishes(more: Partial<ContextQuery> = {}): ContextQuery {
  return {
    budget: 100,
    mustHave: [],
    pins: [],
    named: [],
    ranked: [],
    maxItems: 100,
    maxTenants: 10,
    ...more,
  };
}

const ids = (fit: ReturnType<typeof fitBudget>) => fit.chosen.map(({ card: { id } }) => id);
const reasons = (fit: ReturnType<typeof fitBudget>) => fit.leftOut.map(({ id, reason }) => [id, reason]);

describe("a budget", () => {
  it("takes the best first and smaller ones where a large one does not fit", () => {
    const fit = fitBudget(wishes({ budget: 30, ranked: [card("a", 20), card("b", 20), card("c", 10)] }));
    expect(ids(fit)).toEqual(["a", "c"]);
    expect(fit.usedTokens).toBe(30);
    expect(fit.leftOut).toEqual([
      {
        id: "b",
        tenant: "acme",
        tokens: 20,
        why: "task",
        reason: "over-budget",
        message: "It costs 20 tokens; 10 are left",
      },
    ]);
    expect(fit.chosen.map(({ why, rank }) => [why, rank])).toEqual([
      ["task", 1],
      ["task", 3],
    ]);
  });

  it("of nothing takes nothing", () => {
    const fit = fitBudget(wishes({ budget: 0, ranked: [card("a", 1)] }));
    expect(ids(fit)).toEqual([]);
    expect(reasons(fit)).toEqual([["a", "over-budget"]]);
  });

  it("is never exceeded, takes nothing twice, and accounts for every candidate", () => {
    const cards = fc.uniqueArray(
      fc.record({ id: fc.constantFrom(..."abcdefgh"), tokens: fc.nat(50), tenant: fc.constantFrom("x", "y", "z") }),
      { selector: ({ id, tenant }) => `${tenant} ${id}` },
    );
    fc.assert(
      fc.property(cards, cards, fc.nat(200), fc.nat(6), fc.nat(3), (ranked, named, budget, mostItems, mostTenants) => {
        const full = (one: { id: string; tokens: number; tenant: string }) => card(one.id, one.tokens, one);
        const fit = fitBudget(
          wishes({
            budget,
            maxItems: mostItems,
            maxTenants: mostTenants,
            ranked: ranked.map(full),
            named: named.map(full),
            mustHave: named.map(({ id, tenant }) => ({ id, tenant })),
          }),
        );
        const spent = fit.chosen.reduce((sum, { card: { tokens } }) => sum + tokens, 0);
        expect(fit.usedTokens).toBe(spent);
        expect(spent).toBeLessThanOrEqual(budget);
        expect(fit.chosen.length).toBeLessThanOrEqual(mostItems);
        expect(new Set(fit.chosen.map((one) => one.card.tenant)).size).toBeLessThanOrEqual(mostTenants);
        const places = fit.chosen.map(({ card: one }) => `${one.tenant} ${one.id}`);
        expect(new Set(places).size).toBe(places.length);
        const answered = new Set([...places, ...fit.leftOut.map(({ tenant, id }) => `${tenant} ${id}`)]);
        for (const one of [...ranked, ...named]) expect(answered).toContain(`${one.tenant} ${one.id}`);
      }),
    );
  });
});

describe("a must-have", () => {
  const named = [card("a", 60, { version: "1.4.0" }), card("b", 60, { version: "2.5" }), card("c", 5)];

  it("comes before what ranks higher", () => {
    const fit = fitBudget(wishes({ mustHave: [{ id: "a" }], named, ranked: [card("z", 50)] }));
    expect(fit.chosen.map(({ card: { id }, why }) => [id, why])).toEqual([["a", "must-have"]]);
    expect(fit.satisfied).toBe(true);
  });

  it.each([
    [{ id: "a", version: "^1.2.0" }, undefined],
    [{ id: "a", version: ">=2" }, "version"],
    [{ id: "b", version: "2.x" }, "version"],
    [{ id: "c", version: "*" }, "version"],
    [{ id: "nowhere" }, "not-found"],
    [{ id: "a", tenant: "other" }, "not-found"],
  ])("%j: %s", (mustHave, reason) => {
    const fit = fitBudget(wishes({ mustHave: [mustHave], named }));
    expect(fit.satisfied).toBe(reason === undefined);
    expect(reasons(fit)).toEqual(reason === undefined ? [] : [[mustHave.id, reason]]);
  });

  it("of another version does not come in by its rank", () => {
    const wish = { mustHave: [{ id: "a", version: ">=2" }], named, ranked: [named[0] as CapabilityCard, card("z")] };
    expect(ids(fitBudget(wishes(wish)))).toEqual(["z"]);
  });

  it("that several tenants have is ambiguous until one is named", () => {
    const both = [card("a"), card("a", 10, { tenant: "beta" })];
    const open = fitBudget(wishes({ mustHave: [{ id: "a" }], named: both }));
    expect(open.leftOut[0]).toMatchObject({
      reason: "ambiguous",
      message: "Several tenants have this id, add `tenant`: acme, beta",
    });
    const said = fitBudget(wishes({ mustHave: [{ id: "a", tenant: "beta" }], named: both }));
    expect(said.chosen.map(({ card: { tenant } }) => tenant)).toEqual(["beta"]);
  });

  it("that does not fit leaves the wish unsatisfied", () => {
    const fit = fitBudget(wishes({ mustHave: [{ id: "a" }, { id: "b" }], named }));
    expect(ids(fit)).toEqual(["a"]);
    expect(fit.satisfied).toBe(false);
    expect(reasons(fit)).toEqual([["b", "over-budget"]]);
  });
});

describe("a pin", () => {
  it("that still holds is taken", () => {
    const fit = fitBudget(wishes({ pins: [{ id: "a", digest: "d-a" }], named: [card("a")] }));
    expect(fit.chosen.map(({ why }) => why)).toEqual(["pinned"]);
    expect(fit.changed).toEqual([]);
  });

  it("that does not hold keeps the capability out, even where it ranks or is a must-have", () => {
    const fit = fitBudget(
      wishes({
        pins: [{ id: "a", digest: "old" }],
        mustHave: [{ id: "a" }],
        named: [card("a")],
        ranked: [card("a"), card("b")],
      }),
    );
    expect(ids(fit)).toEqual(["b"]);
    expect(fit.changed).toMatchObject([{ pin: { digest: "old" }, card: { digest: "d-a" } }]);
    expect(fit.satisfied).toBe(false);
    expect(reasons(fit)).toEqual([["a", "changed-since-pin"]]);
  });
});

describe("two pins of one capability", () => {
  it("take it where one of them holds", () => {
    const pins = [
      { id: "a", digest: "old" },
      { id: "a", digest: "d-a" },
    ];
    const fit = fitBudget(wishes({ pins, named: [card("a")] }));
    expect([ids(fit), fit.changed, fit.leftOut]).toEqual([["a"], [], []]);
  });
});

describe("what is left out", () => {
  it("begins with what the caller cannot do without", () => {
    const fit = fitBudget(
      wishes({ budget: 0, pins: [{ id: "p", digest: "x" }], mustHave: [{ id: "m" }], ranked: [card("t")] }),
    );
    expect(fit.leftOut.map(({ why }) => why)).toEqual(["must-have", "pinned", "task"]);
  });
});

describe("fused ranks", () => {
  const fused = (...lists: string[][]) => fuseRanks(lists, (item) => item).join("");

  it.each([
    [[["a", "b", "c"]], "abc"],
    [
      [
        ["a", "b"],
        ["c", "d"],
      ],
      "acbd",
    ],
    [
      [
        ["a", "b"],
        ["c", "b"],
      ],
      "bac",
    ],
    [[], ""],
  ])("%j → %s", (lists, expected) => {
    expect(fused(...lists)).toBe(expected);
  });
});
