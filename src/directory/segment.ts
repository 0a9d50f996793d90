import { compareServers, type ServerRef, type TenantKey } from "../kernel/names.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Attribute } from "../manifest/attributes.ts";
import type { Flag } from "../manifest/flag.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { CatalogEntry } from "../registry/summary.ts";
import { Pool, type Sections, type Unreadable, unpackSections, wordsOf } from "./columns.ts";
import { type CardRow, type VersionHeader, vectorLength } from "./rows.ts";

/** Sections of a segment. Numbers are never reused for another meaning. */
export const tags = {
  poolEnds: 1,
  poolText: 2,
  placeTenant: 10,
  placeName: 11,
  placeEntry: 12,
  placePart: 13,
  placeCards: 14,
  placeVersions: 15,
  placeCardsAsOf: 16,
  cardKind: 30,
  cardKey: 31,
  cardId: 32,
  cardDigest: 33,
  cardTokens: 34,
  cardVersion: 35,
  cardTitle: 36,
  cardDescription: 37,
  cardFlags: 38,
  cardDeprecated: 39,
  cardTermEnds: 40,
  cardTerms: 41,
  cardVectors: 42,
  cardScales: 43,
  cardAttributes: 44,
  versionTexts: 60,
  versionNumbers: 61,
  versionDocuments: 62,
  documents: 63,
} as const;

/** Texts of a version, in the order of its column. */
export const versionTexts = [
  ...(["version", "status", "statusMessage", "statusChangedAt", "publishedAt"] as const),
  ...(["updatedAt", "description", "flags"] as const),
] as const;

/** Where the document of a version is: a chunk beside the segment, or the segment itself. */
export interface DocumentPlace {
  /** Number of the chunk; undefined if the document is in the segment. */
  chunk?: number;
  start: number;
  end: number;
}

/** In `versionDocuments`: the document is in the segment itself. */
export const inSegment = 0xffffffff;

type Range = readonly [start: number, end: number];

/** Two hexadecimal digits of each byte. */
const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A segment in memory: views of the bytes as they were read, and nothing else. Texts are decoded and rows are made when
 * they are asked for. Places are in order of tenant and name; the rows of a place are next to each other.
 */
export class Segment {
  readonly bytes: number;
  readonly places: number;
  readonly cards: number;
  readonly versions: number;
  /** Columns of the cards, for code that works through all of them. */
  readonly card: {
    /** Packed terms of all cards; those of card i start at `termEnds[i]`, a multiple of 4, and end at `termEnds[i + 1]`. */
    readonly terms: Uint8Array;
    readonly termEnds: Uint32Array;
    /** `vectorLength` numbers of each card, all zero for a card without a vector. */
    readonly vectors: Int8Array;
    readonly scales: Float32Array;
    readonly tokens: Uint32Array;
    /** Numbers of texts: equal numbers are equal texts within the segment. */
    readonly kinds: Uint32Array;
    readonly ids: Uint32Array;
    /** Numbers of the attributes as JSON text: equal lists have equal numbers. */
    readonly attributes: Uint32Array;
  };
  readonly #pool: Pool;
  readonly #sections: Sections;
  readonly #columns = new Map<keyof typeof tags, Uint32Array>();
  readonly #cardEnds: Uint32Array;
  readonly #versionEnds: Uint32Array;
  readonly #tenants: Uint32Array;
  readonly #names: Uint32Array;

  constructor(sections: Sections, bytes: number) {
    this.bytes = bytes;
    this.#sections = sections;
    this.#pool = new Pool(this.#words("poolEnds"), this.#section("poolText"));
    this.#tenants = this.#words("placeTenant");
    this.#names = this.#words("placeName");
    this.#cardEnds = this.#words("placeCards");
    this.#versionEnds = this.#words("placeVersions");
    this.places = this.#tenants.length;
    this.cards = this.#cardEnds[this.places] ?? 0;
    this.versions = this.#versionEnds[this.places] ?? 0;
    const vectors = this.#section("cardVectors");
    const scales = this.#section("cardScales");
    this.card = {
      terms: this.#section("cardTerms"),
      termEnds: this.#words("cardTermEnds"),
      vectors: new Int8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength),
      scales: new Float32Array(scales.buffer, scales.byteOffset, scales.byteLength >> 2),
      tokens: this.#words("cardTokens"),
      kinds: this.#words("cardKind"),
      ids: this.#words("cardId"),
      attributes: this.#words("cardAttributes"),
    };
  }

  placeAt(place: number): ServerRef {
    return { tenant: this.#text(this.#tenants[place]) as TenantKey, name: this.#text(this.#names[place]) };
  }

  /** Number of the place of a server, or undefined if the segment says nothing about the server. */
  findPlace(server: ServerRef): number | undefined {
    const place = this.firstFrom(server);
    return place < this.places && compareServers(this.placeAt(place), server) === 0 ? place : undefined;
  }

  /** The first place that is not before a server; the number of places if there is none. */
  firstFrom(server: ServerRef): number {
    let low = 0;
    let high = this.places;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareServers(this.placeAt(middle), server) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** 0, or a higher number where the cards of a place are continued: a server may have more than one segment holds. */
  partOf(place: number): number {
    return this.#words("placePart")[place] ?? 0;
  }

  /** The entry as JSON text; undefined if the server is not public or this is a continuation. */
  entryText(place: number): string | undefined {
    return this.#pool.text(this.#words("placeEntry")[place] ?? 0);
  }

  entry(place: number): CatalogEntry | undefined {
    const text = this.entryText(place);
    return text === undefined ? undefined : (readJson(text) as CatalogEntry);
  }

  /** The tenant's generation that the place's cards are at least as new as. */
  cardsAsOf(place: number): number {
    const bytes = this.#section("placeCardsAsOf");
    return new Float64Array(bytes.buffer, bytes.byteOffset + 8 * place, 1)[0] ?? 0;
  }

  cardsOf(place: number): Range {
    return [this.#cardEnds[place] ?? 0, this.#cardEnds[place + 1] ?? 0];
  }

  versionsOf(place: number): Range {
    return [this.#versionEnds[place] ?? 0, this.#versionEnds[place + 1] ?? 0];
  }

  /** The place that a card belongs to. */
  placeOfCard(card: number): number {
    return placeOf(this.#cardEnds, card);
  }

  placeOfVersion(version: number): number {
    return placeOf(this.#versionEnds, version);
  }

  /** A text by its number in a column of this segment. */
  text(number: number): string | undefined {
    return this.#pool.text(number);
  }

  /** What a ranking demotes a card for, without its texts. */
  cardFacts(card: number): Pick<CardRow, "tokens" | "flags" | "deprecated"> {
    const flags = this.#column("cardFlags", card);
    return {
      tokens: this.card.tokens[card] ?? 0,
      flags: flags === undefined ? [] : (readJson(flags) as Flag[]),
      deprecated: this.#column("cardDeprecated", card),
    };
  }

  /** The first four bytes of a card's digest: most cards differ in them. */
  digestStart(card: number): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#section("cardDigest").subarray(32 * card, 32 * card + 4);
    return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  }

  cardAt(card: number): Omit<CardRow, "terms" | "vector" | "attributes"> {
    return {
      kind: this.#text(this.card.kinds[card]) as CapabilityKind,
      key: this.#column("cardKey", card) ?? "",
      id: this.#text(this.card.ids[card]),
      digest: this.#digest(card),
      ...this.cardFacts(card),
      version: this.#column("cardVersion", card),
      title: this.#column("cardTitle", card),
      description: this.#column("cardDescription", card),
    };
  }

  attributesAt(card: number): Attribute[] {
    const text = this.#column("cardAttributes", card);
    return text === undefined ? [] : (readJson(text) as Attribute[]);
  }

  /** One text of a card, without making the row. */
  cardText(card: number, column: "key" | "title" | "description" | "version" | "deprecated"): string | undefined {
    const tag = `card${column[0]?.toUpperCase()}${column.slice(1)}` as keyof typeof tags;
    return this.#column(tag, card);
  }

  versionAt(version: number): VersionHeader {
    const texts = this.#words("versionTexts");
    const at = (name: (typeof versionTexts)[number]) =>
      this.#pool.text(texts[version * versionTexts.length + versionTexts.indexOf(name)] ?? 0);
    const numbers = this.#section("versionNumbers");
    const [sequence = 0, generation = 0, bits = 0] = new Float64Array(
      numbers.buffer,
      numbers.byteOffset + 24 * version,
      3,
    );
    const flags = at("flags");
    return {
      version: at("version") ?? "",
      status: (at("status") ?? "active") as VersionHeader["status"],
      statusMessage: at("statusMessage"),
      statusChangedAt: at("statusChangedAt") ?? "",
      publishedAt: at("publishedAt") ?? "",
      updatedAt: at("updatedAt") ?? "",
      isLatest: (bits & 1) === 1,
      isDerived: (bits & 2) === 2,
      description: at("description") ?? "",
      flags: flags === undefined ? [] : (readJson(flags) as Flag[]),
      sequence,
      generation,
    };
  }

  documentPlace(version: number): DocumentPlace {
    const [chunk = 0, start = 0, end = 0] = this.#words("versionDocuments").subarray(3 * version, 3 * version + 3);
    return chunk === inSegment ? { start, end } : { chunk, start, end };
  }

  /** The document of a version that is in the segment itself. */
  ownDocument({ start, end }: DocumentPlace): string {
    return new TextDecoder().decode(this.#section("documents").subarray(start, end));
  }

  #digest(card: number): string {
    const bytes = this.#section("cardDigest").subarray(32 * card, 32 * card + 32);
    let hex = "sha256-";
    for (const byte of bytes) hex += hexOf[byte];
    return hex;
  }

  #column(tag: keyof typeof tags, row: number): string | undefined {
    return this.#pool.text(this.#words(tag)[row] ?? 0);
  }

  #text(number: number | undefined): string {
    return this.#pool.text(number ?? 0) ?? "";
  }

  #words(tag: keyof typeof tags): Uint32Array {
    let words = this.#columns.get(tag);
    if (words === undefined) {
      words = wordsOf(this.#section(tag));
      this.#columns.set(tag, words);
    }
    return words;
  }

  #section(tag: keyof typeof tags): Uint8Array {
    const bytes = this.#sections.get(tags[tag]);
    if (bytes === undefined) throw new Error(`a segment has no section ${tag}`);
    return bytes;
  }
}

/** The place whose range has a row, by binary search. */
function placeOf(ends: Uint32Array, row: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) <= row) low = middle;
    else high = middle;
  }
  return low;
}

/** Reads a value from KV or an RPC answer. Whatever is wrong with it, the reader learns it here and not later. */
export function decodeSegment(value: Uint8Array): Result<Segment, Unreadable> {
  const sections = unpackSections(value);
  if (typeof sections === "string") return err(sections);
  return hasAllSections(sections) ? ok(new Segment(sections, value.byteLength)) : err("corrupt");
}

/** Typed arrays need values that start at a multiple of eight; those from RPC may not. */
export function alignedBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

/** True if every column has as many rows as the places say. */
function hasAllSections(sections: Sections): boolean {
  const bytes = (tag: keyof typeof tags) => sections.get(tags[tag])?.byteLength ?? -1;
  const last = (tag: keyof typeof tags) => wordsOf(sections.get(tags[tag]) ?? new Uint8Array(8)).at(-1) ?? 0;
  const places = bytes("placeTenant") / 4;
  const ends = ["placeCards", "placeVersions"] as const;
  if (ends.some((tag) => bytes(tag) !== 4 * (places + 1))) return false;
  const cards = last("placeCards");
  const versions = last("placeVersions");
  const expected: [keyof typeof tags, number][] = [
    ...(["placeName", "placeEntry", "placePart"] as const).map((tag): [typeof tag, number] => [tag, 4 * places]),
    ["placeCardsAsOf", 8 * places],
    ...(
      [
        "cardKind",
        "cardKey",
        "cardId",
        "cardTokens",
        "cardVersion",
        "cardTitle",
        "cardDescription",
        "cardFlags",
      ] as const
    ).map((tag): [typeof tag, number] => [tag, 4 * cards]),
    ["cardDeprecated", 4 * cards],
    ["cardAttributes", 4 * cards],
    ["cardDigest", 32 * cards],
    ["cardTermEnds", 4 * (cards + 1)],
    ["cardTerms", cards === 0 ? 0 : last("cardTermEnds")],
    ["cardVectors", vectorLength * cards],
    ["cardScales", 4 * cards],
    ["versionTexts", 4 * versionTexts.length * versions],
    ["versionNumbers", 24 * versions],
    ["versionDocuments", 12 * versions],
  ];
  if (bytes("poolEnds") < 4 || bytes("poolText") !== last("poolEnds") || bytes("documents") < 0) return false;
  return expected.every(([tag, length]) => bytes(tag) === length);
}
