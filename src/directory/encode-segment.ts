import { bytesOf, maxSegmentBytes, PoolWriter, packSections, type Sections } from "./columns.ts";
import { type CardRow, type Place, type VersionRow, vectorLength } from "./rows.ts";
import { inSegment, tags, versionTexts } from "./segment.ts";

/** A place as one segment holds it: `part` above 0 continues the cards of the same place in the segment before. */
export interface SegmentPlace extends Place {
  part?: number;
}

/** Largest chunk of documents. */
const maxChunkBytes = 256 * 1024;
/** Segments are filled up to this, by an estimate that is never too low. */
export const targetSegmentBytes = 4 * 1024 * 1024;

export interface EncodedSegment {
  bytes: Uint8Array;
  /** Documents of the versions, unless they are in the segment itself. */
  chunks: Uint8Array[];
}

/**
 * Packs places, which must be in order of tenant and name. `documents` are put into chunks beside the segment, or into
 * the segment itself where it is sent over RPC.
 */
export function encodeSegment(places: readonly SegmentPlace[], documents: "chunks" | "inline"): EncodedSegment {
  const pool = new PoolWriter();
  const cards = places.flatMap((place) => place.cards);
  const versions = places.flatMap((place) => place.versions);
  const stored = storeDocuments(versions, documents);
  const sections: Sections = new Map();
  const words = (tag: keyof typeof tags, values: ArrayLike<number>) =>
    sections.set(tags[tag], bytesOf(Uint32Array.from(values)));
  words(
    "placeTenant",
    places.map(({ tenant }) => pool.add(tenant)),
  );
  words(
    "placeName",
    places.map(({ name }) => pool.add(name)),
  );
  words(
    "placeEntry",
    places.map(({ entry }) => pool.add(entry && JSON.stringify(entry))),
  );
  words(
    "placePart",
    places.map(({ part = 0 }) => part),
  );
  words("placeCards", endsOf(places.map((place) => place.cards.length)));
  words("placeVersions", endsOf(places.map((place) => place.versions.length)));
  sections.set(tags.placeCardsAsOf, bytesOf(Float64Array.from(places, ({ cardsAsOf = 0 }) => cardsAsOf)));
  addCards(sections, words, pool, cards);
  addVersions(sections, words, pool, versions);
  words("versionDocuments", stored.places.flat());
  sections.set(tags.documents, stored.inline);
  const { ends, text } = pool.sections();
  sections.set(tags.poolEnds, ends);
  sections.set(tags.poolText, text);
  const bytes = packSections(sections);
  if (bytes.byteLength > maxSegmentBytes) throw new Error(`a segment of ${bytes.byteLength} bytes is too large`);
  return { bytes, chunks: stored.chunks };
}

type PutWords = (tag: keyof typeof tags, values: ArrayLike<number>) => void;

function addCards(sections: Sections, words: PutWords, pool: PoolWriter, cards: readonly CardRow[]): void {
  words(
    "cardKind",
    cards.map(({ kind }) => pool.add(kind)),
  );
  words(
    "cardKey",
    cards.map(({ key }) => pool.add(key)),
  );
  words(
    "cardId",
    cards.map(({ id }) => pool.add(id)),
  );
  words(
    "cardTokens",
    cards.map(({ tokens }) => tokens),
  );
  words(
    "cardVersion",
    cards.map(({ version }) => pool.add(version)),
  );
  words(
    "cardTitle",
    cards.map(({ title }) => pool.add(title)),
  );
  words(
    "cardDescription",
    cards.map(({ description }) => pool.add(description)),
  );
  words(
    "cardFlags",
    cards.map(({ flags }) => (flags.length === 0 ? 0 : pool.add(JSON.stringify(flags)))),
  );
  words(
    "cardDeprecated",
    cards.map(({ deprecated }) => pool.add(deprecated)),
  );
  words(
    "cardAttributes",
    cards.map(({ attributes }) => (attributes.length === 0 ? 0 : pool.add(JSON.stringify(attributes)))),
  );
  const digests = new Uint8Array(32 * cards.length);
  const vectors = new Int8Array(vectorLength * cards.length);
  const scales = new Float32Array(cards.length);
  const termEnds = endsOf(cards.map(({ terms }) => (terms.byteLength + 3) & ~3));
  const terms = new Uint8Array(termEnds.at(-1) ?? 0);
  cards.forEach((card, index) => {
    putDigest(digests, 32 * index, card.digest);
    terms.set(card.terms, termEnds[index]);
    if (card.vector === undefined) return;
    vectors.set(card.vector.numbers, vectorLength * index);
    scales[index] = card.vector.scale;
  });
  words("cardTermEnds", termEnds);
  sections.set(tags.cardDigest, digests);
  sections.set(tags.cardTerms, terms);
  sections.set(tags.cardVectors, bytesOf(vectors));
  sections.set(tags.cardScales, bytesOf(scales));
}

function addVersions(sections: Sections, words: PutWords, pool: PoolWriter, versions: readonly VersionRow[]): void {
  words(
    "versionTexts",
    versions.flatMap((row) =>
      versionTexts.map((name) => {
        if (name === "flags") return row.flags.length === 0 ? 0 : pool.add(JSON.stringify(row.flags));
        return pool.add(row[name]);
      }),
    ),
  );
  const bitsOf = ({ isLatest, isDerived }: VersionRow) => (isLatest ? 1 : 0) + (isDerived ? 2 : 0);
  const numbers = versions.flatMap((row) => [row.sequence, row.generation, bitsOf(row)]);
  sections.set(tags.versionNumbers, bytesOf(Float64Array.from(numbers)));
}

/** Documents one behind the other, in chunks or in one piece. A document is never split. */
function storeDocuments(versions: readonly VersionRow[], where: "chunks" | "inline") {
  const encoder = new TextEncoder();
  const chunks: Uint8Array[][] = [];
  const places: [chunk: number, start: number, end: number][] = [];
  let at = Number.POSITIVE_INFINITY;
  const most = where === "inline" ? Number.POSITIVE_INFINITY : maxChunkBytes;
  for (const { document } of versions) {
    const bytes = encoder.encode(document);
    if (chunks.length === 0 || at + bytes.byteLength > most) {
      chunks.push([]);
      at = 0;
    }
    chunks.at(-1)?.push(bytes);
    places.push([where === "inline" ? inSegment : chunks.length - 1, at, at + bytes.byteLength]);
    at += bytes.byteLength;
  }
  const joined = chunks.map(joinBytes);
  return where === "inline"
    ? { places, inline: joined[0] ?? new Uint8Array(), chunks: [] }
    : { places, inline: new Uint8Array(), chunks: joined };
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}

/** Running sums, from 0 on. */
function endsOf(lengths: readonly number[]): number[] {
  const ends = [0];
  for (const length of lengths) ends.push((ends.at(-1) ?? 0) + length);
  return ends;
}

function putDigest(digests: Uint8Array, at: number, digest: string): void {
  const hex = digest.slice("sha256-".length);
  for (let index = 0; index < 32; index += 1) {
    digests[at + index] = Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16);
  }
}

/** Bytes that a place takes at most, without its documents: a character takes up to three. */
export function placeBytes({ entry, versions, cards }: Place): number {
  const header = 400 + (entry === undefined ? 0 : 3 * JSON.stringify(entry).length);
  const ofVersions = versions.reduce((sum, row) => sum + 300 + 3 * row.description.length + listBytes(row.flags), 0);
  return header + ofVersions + cards.reduce((sum, card) => sum + cardBytes(card), 0);
}

function cardBytes({ key, id, title = "", description = "", version = "", deprecated = "", ...card }: CardRow): number {
  const letters = key.length + id.length + title.length + description.length + version.length + deprecated.length;
  return 100 + vectorLength + card.terms.byteLength + 3 * letters + listBytes(card.flags) + listBytes(card.attributes);
}

function listBytes(list: readonly unknown[]): number {
  return list.length === 0 ? 0 : 3 * JSON.stringify(list).length;
}

/** Splits a place whose cards do not fit one segment. */
export function partsOf(place: Place): SegmentPlace[] {
  if (placeBytes(place) <= targetSegmentBytes) return [place];
  const parts: SegmentPlace[] = [{ ...place, cards: [] }];
  let bytes = placeBytes({ ...place, cards: [] });
  for (const card of place.cards) {
    const added = cardBytes(card);
    if (bytes + added > targetSegmentBytes) {
      const { tenant, name, cardsAsOf } = place;
      parts.push({ tenant, name, cardsAsOf, part: parts.length, cards: [], versions: [] });
      bytes = 400;
    }
    parts.at(-1)?.cards.push(card);
    bytes += added;
  }
  return parts;
}
