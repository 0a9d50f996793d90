import type { TenantKey } from "../../kernel/names.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import type { Attribute } from "../../manifest/attributes.ts";
import { CapabilityKind } from "../../manifest/schema/capability.ts";
import { hashOf, readTermWeights, type TermWeights } from "../term-weights.ts";
import { formsIn } from "../terms.ts";
import { dimensions } from "./kernel.ts";
import { signatureBytes, writeSignature } from "./signature.ts";
import { readVector } from "./vector.ts";

/** An item as it is indexed. */
export interface IndexedItem {
  kind: CapabilityKind;
  key: string;
  title?: string;
  attributes: readonly Attribute[];
  /** Whether the item itself is deprecated, whatever its server. */
  deprecated: boolean;
  /** Packed term weights. */
  terms: ArrayBuffer | Uint8Array;
  /** Packed vector; absent if it could not be computed. The item is then found by words alone. */
  vector?: ArrayBuffer;
}

/** A server with some or all of its items. */
export interface IndexedServer {
  tenant: TenantKey;
  name: string;
  items: readonly IndexedItem[];
}

/**
 * A part of the index: some items in the order they were given, as columns of numbers. It never changes; an index is one
 * part or several, with what is gone from each.
 */
export interface IndexPart extends Postings, ServerTerms, Vectors, Vocabulary {
  /** Number of items. */
  count: number;
  servers: readonly { tenant: TenantKey; name: string }[];
  /** Where the items of each server start: items of a server are neighbours. */
  serverStarts: Uint32Array;
  /** Text length of each item, and the sum of all. */
  lengths: Uint16Array;
  totalLength: number;
  signatures: Uint8Array;
  /** Number of each item's kind, with `deprecatedBit`. */
  kinds: Uint8Array;
  /** What attribute numbers mean, and the numbers of each item. */
  values: readonly Attribute[];
  attributeStarts: Uint32Array;
  attributes: Uint32Array;
  /** Approximate size in memory. */
  bytes: number;
}

/** The items of each term. */
interface Postings {
  /** Hashes of all terms, ascending. */
  terms: Uint32Array;
  /** Where the items of each term start in `places` and `weights`. */
  termStarts: Uint32Array;
  /** Items that have a term, ascending; two bytes each where that is enough. */
  places: Uint32Array | Uint16Array;
  weights: Uint8Array;
}

/** Terms that only the words of servers have, by hash, and the server of each. */
interface ServerTerms {
  serverTerms: Uint32Array;
  serverTermOwners: Uint32Array;
}

export interface Vectors {
  vectors: Int8Array;
  scales: Float32Array;
}

/** Words of names and titles in code unit order, to complete an unfinished word, and the hash of each one's term. */
interface Vocabulary {
  words: readonly string[];
  wordTerms: Uint32Array;
}

/** In `kinds`: the item itself is deprecated, whatever its server. */
export const deprecatedBit = 0x80;

export function kindNumber(kind: CapabilityKind): number {
  return CapabilityKind.options.indexOf(kind);
}

export function buildPart(servers: readonly IndexedServer[], vectors?: Vectors): IndexPart {
  return runAtOnce(partSteps(servers, vectors));
}

/** `vectors`, if given, has the vectors of all items; else each item has its own. */
export function* partSteps(servers: readonly IndexedServer[], vectors?: Vectors): Steps<IndexPart> {
  const items = servers.flatMap((server) => server.items);
  const bags: TermWeights[] = [];
  for (const { terms } of items) {
    bags.push(readTermWeights(terms));
    yield unitsPerBag;
  }
  const values = new Numbered<Attribute>(([dimension, value]) => `${dimension} ${value}`);
  const attributes = items.map((item) => item.attributes.map((attribute) => values.numberOf(attribute)));
  const lengths = Uint16Array.from(bags, ({ length }) => Math.min(length, 0xffff));
  const postings = yield* postingSteps(bags);
  const serverTerms = serverTermsOf(servers, bags);
  yield unitsPerBag * bags.length;
  const own = vectors ?? (yield* vectorSteps(items));
  const columns = {
    ...postings,
    ...serverTerms,
    ...own,
    lengths,
    signatures: yield* signatureSteps(bags),
    serverStarts: startsOf(servers.map((server) => server.items.length)),
    kinds: Uint8Array.from(items, ({ kind, deprecated }) => kindNumber(kind) | (deprecated ? deprecatedBit : 0)),
    attributeStarts: startsOf(attributes.map((list) => list.length)),
    attributes: Uint32Array.from(attributes.flat()),
  };
  const vocabulary = yield* vocabularySteps(items);
  const strings = [...vocabulary.words, ...values.all.flat(), ...servers.map(({ name }) => name)];
  return {
    ...columns,
    ...vocabulary,
    count: items.length,
    servers: servers.map(({ tenant, name }) => ({ tenant, name })),
    totalLength: lengths.reduce((sum, length) => sum + length, 0),
    values: values.all,
    bytes:
      Object.values(columns).reduce((sum, column) => sum + column.byteLength, vocabulary.wordTerms.byteLength) +
      strings.reduce((sum, text) => sum + 2 * text.length + stringOverhead, 0),
  };
}

/** Reading the terms of an item, or adding them to a column. */
const unitsPerBag = 3;
/** Splitting a name and a title into words, and finding their stems. */
const unitsPerName = 15;

/** Approximate size of a string besides its characters. */
const stringOverhead = 24;

/** In the order of term hashes, so that a term is found by halving. */
function* postingSteps(bags: readonly TermWeights[]): Steps<Postings> {
  const counts = new Map<number, number>();
  let total = 0;
  for (const { hashes, server } of bags) {
    const own = hashes.length - server;
    total += own;
    for (let at = 0; at < own; at += 1) {
      const hash = hashes[at] as number;
      counts.set(hash, (counts.get(hash) ?? 0) + 1);
    }
    yield unitsPerBag;
  }
  const terms = Uint32Array.from(counts.keys()).sort();
  const termStarts = startsOf(Array.from(terms, (hash) => counts.get(hash) ?? 0));
  const next = new Map<number, number>();
  terms.forEach((hash, index) => {
    next.set(hash, termStarts[index] as number);
  });
  const places = bags.length <= 0x10000 ? new Uint16Array(total) : new Uint32Array(total);
  const weights = new Uint8Array(total);
  yield terms.length;
  for (const [place, { hashes, weights: steps, server }] of bags.entries()) {
    for (let at = 0; at < hashes.length - server; at += 1) {
      const hash = hashes[at] as number;
      const slot = next.get(hash) as number;
      places[slot] = place;
      weights[slot] = steps[at] as number;
      next.set(hash, slot + 1);
    }
    yield unitsPerBag;
  }
  return { terms, termStarts, places, weights };
}

/** Pairs of a term and a server whose words have it, in the order of term hashes. */
function serverTermsOf(servers: readonly IndexedServer[], bags: readonly TermWeights[]): ServerTerms {
  const pairs: [hash: number, server: number][] = [];
  let place = 0;
  servers.forEach(({ items }, server) => {
    const found = new Set<number>();
    for (const end = place + items.length; place < end; place += 1) {
      const bag = bags[place];
      if (bag === undefined) continue;
      for (const hash of bag.hashes.subarray(bag.hashes.length - bag.server)) found.add(hash);
    }
    for (const hash of found) pairs.push([hash, server]);
  });
  pairs.sort(([a, inA], [b, inB]) => a - b || inA - inB);
  return {
    serverTerms: Uint32Array.from(pairs, ([hash]) => hash),
    serverTermOwners: Uint32Array.from(pairs, ([, server]) => server),
  };
}

function* vectorSteps(items: readonly IndexedItem[]): Steps<Vectors> {
  const vectors = new Int8Array(items.length * dimensions);
  const scales = new Float32Array(items.length);
  for (const [place, { vector }] of items.entries()) {
    const read = vector && readVector(vector);
    if (read === undefined) continue;
    vectors.set(read.values, place * dimensions);
    scales[place] = read.scale;
    yield unitsPerBag;
  }
  return { vectors, scales };
}

function* signatureSteps(bags: readonly TermWeights[]): Steps<Uint8Array> {
  const signatures = new Uint8Array(bags.length * signatureBytes);
  for (const [place, bag] of bags.entries()) {
    writeSignature(signatures.subarray(place * signatureBytes, (place + 1) * signatureBytes), bag);
    yield unitsPerBag;
  }
  return signatures;
}

function* vocabularySteps(items: readonly IndexedItem[]): Steps<Vocabulary> {
  const terms = new Map<string, number>();
  for (const { key, title = "" } of items) {
    for (const [word, term] of formsIn(`${key} ${title}`)) if (!terms.has(word)) terms.set(word, hashOf(term));
    yield unitsPerName;
  }
  const words = [...terms.keys()].sort();
  return { words, wordTerms: Uint32Array.from(words, (word) => terms.get(word) ?? 0) };
}

/** Where each of some lists starts in all of them together, and where the last one ends. */
function startsOf(lengths: readonly number[]): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, index) => {
    starts[index + 1] = (starts[index] as number) + length;
  });
  return starts;
}

/** Gives each distinct value a number, in order of first sight. */
class Numbered<T> {
  readonly all: T[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #keyOf: (value: T) => string;

  constructor(keyOf: (value: T) => string) {
    this.#keyOf = keyOf;
  }

  numberOf(value: T): number {
    const key = this.#keyOf(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.all.push(value);
    this.#numbers.set(key, this.all.length - 1);
    return this.all.length - 1;
  }
}
