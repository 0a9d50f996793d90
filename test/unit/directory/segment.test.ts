import { describe, expect, it } from "vitest";
import { encodeSegment, partsOf, placeBytes, targetSegmentBytes } from "../../../src/directory/encode-segment.ts";
import type { Place } from "../../../src/directory/rows.ts";
import { decodeSegment, type Segment } from "../../../src/directory/segment.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { card, place, tombstone, version } from "./places.ts";

const flag = { rule: "exfiltration", path: "/description", message: "sends data away" } as const;

const places: Place[] = [
  place("acme", "one", {
    cards: [
      card("a", {
        title: "Tïtle",
        description: "Words ☂",
        version: "1.0",
        deprecated: "",
        flags: [flag],
        attributes: [["effect", "network"]],
      }),
      card("b", { vector: { numbers: new Int8Array(128).fill(-3), scale: 0.5 }, terms: new Uint8Array(8).fill(9) }),
      card("a", { kind: "prompt" }),
    ],
  }),
  tombstone("acme", "two"),
  place("zeta", "x", {
    cards: [],
    versions: [version("1.0.0", { isLatest: false, flags: [flag] }), version("2.0.0", { isDerived: true })],
  }),
];

function decoded(bytes: Uint8Array): Segment {
  const segment = decodeSegment(bytes);
  if (!segment.ok) throw new Error(segment.error);
  return segment.value;
}

/** Everything of a segment as rows again. */
function rowsOf(segment: Segment, chunks: readonly Uint8Array[]): Place[] {
  return Array.from({ length: segment.places }, (_, at) => {
    const [firstCard, lastCard] = segment.cardsOf(at);
    const [firstVersion, lastVersion] = segment.versionsOf(at);
    return {
      ...segment.placeAt(at),
      entry: segment.entry(at),
      cardsAsOf: segment.cardsAsOf(at) || undefined,
      cards: numbers(firstCard, lastCard).map((number) => {
        const vector = segment.card.vectors.slice(128 * number, 128 * number + 128);
        const terms = segment.card.terms.slice(segment.card.termEnds[number], segment.card.termEnds[number + 1]);
        const scale = segment.card.scales[number] ?? 0;
        expect(segment.placeOfCard(number)).toBe(at);
        return {
          ...segment.cardAt(number),
          attributes: segment.attributesAt(number),
          terms,
          vector: scale === 0 ? undefined : { numbers: vector, scale },
        };
      }),
      versions: numbers(firstVersion, lastVersion).map((number) => {
        const where = segment.documentPlace(number);
        expect(segment.placeOfVersion(number)).toBe(at);
        const text =
          where.chunk === undefined
            ? segment.ownDocument(where)
            : new TextDecoder().decode(chunks[where.chunk]?.subarray(where.start, where.end));
        return { ...segment.versionAt(number), document: text };
      }),
    };
  });
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

/** Terms are padded to a multiple of four. */
const padded = places.map((one) => ({
  ...one,
  cards: one.cards.map((each) => {
    const terms = new Uint8Array((each.terms.byteLength + 3) & ~3);
    terms.set(each.terms);
    return { ...each, terms };
  }),
}));

describe("a segment", () => {
  it.each(["chunks", "inline"] as const)("comes back as it was, with documents in %s", (documents) => {
    const { bytes, chunks } = encodeSegment(places, documents);
    expect(rowsOf(decoded(bytes), chunks)).toEqual(padded);
  });

  it("finds places by server, and the first from a server on", () => {
    const segment = decoded(encodeSegment(places, "chunks").bytes);
    const at = (tenant: string, name: string) => ({ tenant: tenantKey(tenant), name });
    expect(segment.findPlace(at("acme", "two"))).toBe(1);
    expect(segment.findPlace(at("acme", "three"))).toBeUndefined();
    expect(segment.findPlace(at("zz", "x"))).toBeUndefined();
    expect(segment.firstFrom(at("acme", "three"))).toBe(1);
    expect(segment.firstFrom(at("", ""))).toBe(0);
    expect(segment.firstFrom(at("zz", ""))).toBe(3);
  });

  it("may be empty", () => {
    const segment = decoded(encodeSegment([], "chunks").bytes);
    expect([segment.places, segment.cards, segment.versions]).toEqual([0, 0, 0]);
  });

  it("takes no more than estimated, and about 540 bytes a card of real size", () => {
    const many = numbers(0, 200).map((at) =>
      place("acme", `s${String(at).padStart(3, "0")}`, {
        cards: numbers(0, 10).map((each) =>
          card(`get_forecast_${at}_${each}`, {
            description: `Returns the forecast of day ${each} for place ${at}, `.repeat(4),
            terms: new Uint8Array(180),
            vector: { numbers: new Int8Array(128).fill(1), scale: 1 },
          }),
        ),
      }),
    );
    const { bytes } = encodeSegment(many, "chunks");
    expect(bytes.byteLength).toBeLessThan(many.reduce((sum, one) => sum + placeBytes(one), 0));
    expect(bytes.byteLength / 2_000).toBeLessThan(700);
  });

  it("keeps a chunk of documents below 256 kB, and splits no document", () => {
    const versions = numbers(0, 10).map((at) => version(`${at}.0.0`, { document: JSON.stringify("x".repeat(60_000)) }));
    const { bytes, chunks } = encodeSegment([place("acme", "one", { versions })], "chunks");
    expect(chunks.map(({ byteLength }) => byteLength)).toEqual([240_008, 240_008, 120_004]);
    expect(rowsOf(decoded(bytes), chunks)[0]?.versions.map(({ document }) => document.length)).toEqual(
      Array(10).fill(60_002),
    );
  });
});

describe("a place with more cards than a segment holds", () => {
  const cards = numbers(0, 3_000).map((at) => card(`t${at}`, { description: "x".repeat(1_000) }));
  const parts = partsOf(place("acme", "huge", { cards, versions: [version("1.0.0")] }));

  it("is split into parts that fit, in order and with nothing twice", () => {
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(placeBytes(part)).toBeLessThanOrEqual(targetSegmentBytes);
    expect(parts.flatMap((part) => part.cards.map(({ key }) => key))).toEqual(cards.map(({ key }) => key));
    expect(parts.map(({ part = 0, entry }) => [part, entry !== undefined])).toEqual(
      parts.map((_, at) => [at, at === 0]),
    );
    expect(parts.map(({ versions }) => versions.length)).toEqual(parts.map((_, at) => (at === 0 ? 1 : 0)));
  });
});

describe("a value that is not a segment of this format", () => {
  const { bytes } = encodeSegment(places, "inline");
  const changed = (at: number, value: number) => {
    const copy = bytes.slice();
    copy[at] = value;
    return copy;
  };

  it.each([
    ["empty", new Uint8Array(), "truncated"],
    ["cut in its header", bytes.slice(0, 20), "truncated"],
    ["cut at its end", bytes.slice(0, bytes.length - 8), "truncated"],
    ["longer than it says", new Uint8Array([...bytes, ...new Uint8Array(8)]), "truncated"],
    ["of a later format", changed(4, 2), "unknown format"],
    ["something else", new TextEncoder().encode(JSON.stringify({ success: false, error: "x".repeat(99) })), "corrupt"],
    ["too large", new Uint8Array(8 * 1024 * 1024 + 8), "too large"],
  ])("is refused when it is %s", (_, value, error) => {
    expect(decodeSegment(value)).toEqual({ ok: false, error });
  });

  it("is refused whichever byte is damaged", () => {
    for (let at = 0; at < bytes.length; at += 7) {
      expect(decodeSegment(changed(at, (bytes[at] ?? 0) ^ 0x40)).ok, `byte ${at}`).toBe(false);
    }
  });
});
