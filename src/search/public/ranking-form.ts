import type { Segment } from "../../directory/segment.ts";
import type { SegmentForm } from "../../directory/view.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Attribute } from "../../manifest/attributes.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { buildPart, type IndexedItem, type IndexPart } from "../index/part.ts";

/** The index of a segment's cards, in their order. Vectors are the segment's own. */
export const rankingForm: SegmentForm<IndexPart> = {
  name: "ranking",
  build(segment) {
    const { vectors, scales } = segment.card;
    const attributesOf = attributesIn(segment);
    const servers = Array.from({ length: segment.places }, (_, place) => {
      const [start, end] = segment.cardsOf(place);
      const items = Array.from({ length: end - start }, (__, at) => itemAt(segment, start + at, attributesOf));
      return { ...segment.placeAt(place), items };
    });
    return buildPart(servers, { vectors, scales });
  },
  bytesOf: ({ bytes, vectors, scales }) => bytes - vectors.byteLength - scales.byteLength,
};

function itemAt(segment: Segment, card: number, attributesOf: (number: number) => Attribute[]): IndexedItem {
  const { terms, termEnds, kinds, attributes } = segment.card;
  return {
    kind: segment.text(kinds[card] ?? 0) as CapabilityKind,
    key: segment.cardText(card, "key") ?? "",
    title: segment.cardText(card, "title"),
    attributes: attributesOf(attributes[card] ?? 0),
    deprecated: segment.cardText(card, "deprecated") !== undefined,
    terms: terms.subarray(termEnds[card], termEnds[card + 1]),
  };
}

/** Many items have the same attributes, which are then read once. */
function attributesIn(segment: Segment): (number: number) => Attribute[] {
  const known = new Map<number, Attribute[]>();
  return (number) => {
    const text = known.has(number) ? undefined : segment.text(number);
    if (!known.has(number)) known.set(number, text === undefined ? [] : (readJson(text) as Attribute[]));
    return known.get(number) ?? [];
  };
}
