import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, digestOfText } from "../../../src/kernel/digest.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import {
  type ChainedChange,
  type Change,
  chained,
  chainHash,
  genesisOf,
  verifyChain,
} from "../../../src/registry/change-chain.ts";

const genesis = genesisOf(tenantKey("acme"));
const text = fc.string({ unit: "grapheme", maxLength: 20 });
const classification = fc.constantFrom("breaking", "additive", "cosmetic", "removed" as const);
const change: fc.Arbitrary<Change> = fc.record(
  {
    sequence: fc.constant(0),
    generation: fc.nat(),
    at: text,
    server: text,
    kind: fc.constantFrom("server", "tool", "prompt" as const),
    name: text,
    classification,
    breaking: fc.boolean(),
    from: text,
    to: text,
    reasons: fc.array(fc.record({ path: text, classification: fc.constant("cosmetic" as const), message: text }), {
      maxLength: 3,
    }),
  },
  {
    requiredKeys: [
      ...(["sequence", "generation", "at", "server", "kind", "name", "classification"] as const),
      ...(["breaking", "reasons"] as const),
    ],
  },
);

function chainOf(changes: readonly Change[], anchor = genesis, first = 1): ChainedChange[] {
  const entries: ChainedChange[] = [];
  for (const [index, one] of changes.entries()) {
    entries.push(chained({ ...one, sequence: first + index }, entries.at(-1)?.hash ?? anchor));
  }
  return entries;
}

const chain = fc.array(change, { minLength: 2, maxLength: 8 }).map((changes) => chainOf(changes));
/** A chain and a place in it that is not its end. */
const placed = chain.chain((entries) => fc.tuple(fc.constant(entries), fc.nat(entries.length - 2)));

describe("a hash", () => {
  it("is that of the canonical form of everything but itself", async () => {
    await fc.assert(
      fc.asyncProperty(chain, async ([entry]) => {
        const { hash, ...rest } = entry as ChainedChange;
        expect(hash).toBe(await digestOfText(canonicalJson(rest)));
      }),
    );
  });

  it("does not depend on the order of members", () => {
    const [entry] = chainOf([{ ...sample }]);
    const { hash, ...rest } = entry as ChainedChange;
    expect(chainHash(Object.fromEntries(Object.entries(rest).reverse()) as typeof rest)).toBe(hash);
  });

  it("is what it has always been: clients elsewhere compute it too", () => {
    expect(chainOf([sample])[0]?.hash).toBe("sha256-d5ff8f4bc7f2dfde3d51f52da649c1f0ed81129bbd9e97ca5d2834916825b8ba");
  });

  const sample: Change = {
    sequence: 1,
    generation: 1,
    at: "2026-01-02T03:04:05.678Z",
    server: "s",
    kind: "tool",
    name: "é ☃ \u{1f600}",
    classification: "additive",
    breaking: false,
    to: `sha256-${"0".repeat(64)}`,
    reasons: [{ path: "/a~1b", classification: "additive", message: 'says "\n"' }],
  };
});

describe("a chain that was left alone", () => {
  it("holds from its genesis, whole or in pages, and ends in its newest hash", () => {
    fc.assert(
      fc.property(placed, ([entries, at]) => {
        const end = entries.at(-1)?.hash;
        expect(verifyChain(entries, genesis)).toEqual({ ok: true, value: end });
        const first = verifyChain(entries.slice(0, at), genesis);
        expect(first.ok && verifyChain(entries.slice(at), first.value)).toEqual({ ok: true, value: end });
      }),
    );
  });

  it("holds from any entry on, where what was before is gone", () => {
    fc.assert(
      fc.property(placed, ([entries, at]) => {
        expect(verifyChain(entries.slice(at)).ok).toBe(true);
      }),
    );
  });

  it("is that of its tenant and no other", () => {
    fc.assert(
      fc.property(chain, (entries) => {
        expect(verifyChain(entries, genesisOf(tenantKey("other")))).toEqual({ ok: false, error: { sequence: 1 } });
      }),
    );
  });

  it("is fine when there is nothing in it", () => {
    expect(verifyChain([], genesis)).toEqual({ ok: true, value: genesis });
    expect(verifyChain([])).toEqual({ ok: true, value: undefined });
  });
});

describe("a chain that was rewritten", () => {
  const anything = fc.anything({ maxDepth: 1, withBigInt: false, stringUnit: "binary" });

  it("breaks at an entry of which anything was edited, added or taken away", () => {
    const member = fc.constantFrom(
      ...([
        "generation",
        "at",
        "server",
        "kind",
        "name",
        "classification",
        "breaking",
        "from",
        "to",
        "reasons",
      ] as const),
      ...(["previous", "hash", "extra"] as const),
    );
    fc.assert(
      fc.property(placed, member, anything, ([entries, at], name, value) => {
        const entry = entries[at] as ChainedChange;
        const edited = { ...entry, [name]: value } as ChainedChange;
        fc.pre(!sameJson(edited, entry));
        expect(verifyChain(entries.with(at, edited), genesis)).toEqual({ ok: false, error: { sequence: at + 1 } });
      }),
    );
  });

  it("breaks at the next entry where the edited one was hashed again", () => {
    fc.assert(
      fc.property(placed, change, ([entries, at], other) => {
        const { previous, sequence, hash } = entries[at] as ChainedChange;
        const edited = chained({ ...other, sequence }, previous);
        fc.pre(edited.hash !== hash);
        expect(verifyChain(entries.with(at, edited), genesis)).toEqual({ ok: false, error: { sequence: at + 2 } });
      }),
    );
  });

  it("breaks behind a deletion", () => {
    fc.assert(
      fc.property(placed, ([entries, at]) => {
        const sequence = at + 2;
        expect(verifyChain(entries.toSpliced(at, 1), genesis)).toEqual({ ok: false, error: { sequence } });
      }),
    );
  });

  it("breaks at an insertion, or behind it where it was hashed to fit", () => {
    fc.assert(
      fc.property(placed, change, fc.boolean(), ([entries, at], other, fits) => {
        const previous = fits ? (entries[at]?.previous ?? "") : "elsewhere";
        const inserted = chained({ ...other, sequence: 77 }, previous);
        const sequence = fits ? at + 1 : 77;
        expect(verifyChain(entries.toSpliced(at, 0, inserted), genesis)).toEqual({ ok: false, error: { sequence } });
      }),
    );
  });

  it("breaks at the first entry that is out of order", () => {
    fc.assert(
      fc.property(
        chain.chain((entries) =>
          fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
        ),
        ([entries, shuffled]) => {
          const first = entries.findIndex((entry, index) => entry !== shuffled[index]);
          fc.pre(first >= 0);
          expect(verifyChain(shuffled, genesis)).toEqual({ ok: false, error: { sequence: shuffled[first]?.sequence } });
        },
      ),
    );
  });

  it("to its very end holds in itself, but not with what was seen of it before", () => {
    fc.assert(
      fc.property(placed, fc.array(change, { minLength: 1, maxLength: 4 }), ([entries, at], others) => {
        const seen = entries.at(-1) as ChainedChange;
        const forked = [...entries.slice(0, at), ...chainOf(others, entries[at]?.previous ?? "", at + 1)];
        const whole = verifyChain(forked, genesis);
        expect(whole).toMatchObject({ ok: true });
        fc.pre(forked[at]?.hash !== entries[at]?.hash);
        expect(whole.ok && whole.value).not.toBe(seen.hash);
        const grown = chainOf(others, forked.at(-1)?.hash, 100);
        expect(verifyChain(grown, seen.hash)).toEqual({ ok: false, error: { sequence: 100 } });
      }),
    );
  });
});

function sameJson(a: unknown, b: unknown): boolean {
  const [left, right] = [a, b].map((value) => JSON.stringify(value, (_, member) => sorted(member)));
  return left === right;
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
