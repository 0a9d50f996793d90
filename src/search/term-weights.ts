/**
 * The terms of an item and their weights, packed for storage: a header with text length and number of server terms, then
 * a hash of each term, those of the server last, then the weights. The arrays are views of the stored buffer.
 */
export interface TermWeights {
  length: number;
  /** Number of terms that only the words of the server have; they come last. */
  server: number;
  hashes: Uint32Array;
  /** In steps of one half: 8 is a weight of 4. */
  weights: Uint8Array;
}

/** Steps per unit of weight. Weights are stored in halves, one byte each. */
export const weightSteps = 2;
const heaviest = 255;

/** Terms stored per item. The fields come in order of importance, so the least important terms are cut. */
const maxTerms = 400;
const maxServerTerms = 40;

/**
 * The header has the text length in its lower bits, the number of server terms above it, and a mark in its highest bit.
 * Without the mark, an earlier release wrote it: server terms are then among the item's own.
 */
const lengthBits = 20;
const longest = 2 ** lengthBits - 1;
const mark = 2 ** 31;
const serverBits = 11;

/** Packs the item's own terms with their weights, and the terms of its server. A term of both is the item's own. */
export function packTermWeights(
  own: ReadonlyMap<string, number>,
  length: number,
  server: Iterable<string> = [],
): ArrayBuffer {
  const terms = [...own].slice(0, maxTerms);
  const ofServer = [...new Set(server)].filter((term) => !own.has(term)).slice(0, maxServerTerms);
  const count = terms.length + ofServer.length;
  const buffer = new ArrayBuffer(4 + 5 * count);
  const numbers = new Uint32Array(buffer, 0, 1 + count);
  const steps = new Uint8Array(buffer, 4 + 4 * count);
  numbers[0] = Math.min(longest, Math.round(length)) + ofServer.length * 2 ** lengthBits + mark;
  terms.forEach(([term, weight], index) => {
    numbers[index + 1] = hashOf(term);
    steps[index] = Math.min(heaviest, Math.max(1, Math.round(weight * weightSteps)));
  });
  ofServer.forEach((term, index) => {
    numbers[terms.length + index + 1] = hashOf(term);
    steps[terms.length + index] = 1;
  });
  return buffer;
}

/** Views of packed terms; they start at a multiple of four, and up to four bytes may follow them. */
export function readTermWeights(packed: ArrayBuffer | Uint8Array): TermWeights {
  const bytes = packed instanceof Uint8Array ? packed : new Uint8Array(packed);
  const { buffer, byteOffset, byteLength } = bytes;
  const count = Math.max(0, Math.floor((byteLength - 4) / 5));
  const [head = 0] = byteLength < 4 ? [] : new Uint32Array(buffer, byteOffset, 1);
  const server = head >= mark ? (head >>> lengthBits) & (2 ** serverBits - 1) : 0;
  return {
    length: head & longest,
    server: Math.min(server, count),
    hashes: count === 0 ? new Uint32Array() : new Uint32Array(buffer, byteOffset + 4, count),
    weights: bytes.subarray(4 + 4 * count, 4 + 5 * count),
  };
}

/** FNV-1a over UTF-16 code units: among a hundred thousand terms, about one pair collides. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at += 1) {
    hash ^= term.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}
