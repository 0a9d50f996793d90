/**
 * The terms of an item with how much each weighs, packed to be stored beside it: the length of the text and how many
 * terms are of the name, then a hash of each term, those of the name first, then the weights. Ranking reads hundreds of
 * these for a question, so they are read in place.
 */
export interface TermWeights {
  length: number;
  /** How many of the terms, from the first, are in the name. */
  names: number;
  hashes: Uint32Array;
  /** In halves: 8 is a weight of 4. */
  weights: Uint8Array;
}

/** Weights are kept in halves, in a byte. */
export const weightSteps = 2;
const heaviest = 255;

/** Past this the rarest information is in: the terms that come first weigh most. */
const maxTerms = 400;

/** The length has the lower bits of a number, the count of the name's terms the upper ones. */
const lengthBits = 20;
const longest = 2 ** lengthBits - 1;

export function packTermWeights(weights: ReadonlyMap<string, number>, length: number, names: number): ArrayBuffer {
  const terms = [...weights].slice(0, maxTerms);
  const buffer = new ArrayBuffer(4 + 5 * terms.length);
  const numbers = new Uint32Array(buffer, 0, 1 + terms.length);
  const steps = new Uint8Array(buffer, 4 + 4 * terms.length);
  numbers[0] = Math.min(longest, Math.round(length)) + Math.min(names, terms.length) * 2 ** lengthBits;
  terms.forEach(([term, weight], index) => {
    numbers[index + 1] = hashOf(term);
    steps[index] = Math.min(heaviest, Math.max(1, Math.round(weight * weightSteps)));
  });
  return buffer;
}

export function readTermWeights(buffer: ArrayBuffer): TermWeights {
  const count = Math.max(0, Math.floor((buffer.byteLength - 4) / 5));
  const head = new Uint32Array(buffer, 0, 1)[0] ?? 0;
  return {
    length: head & longest,
    names: head >>> lengthBits,
    hashes: new Uint32Array(buffer, 4, count),
    weights: new Uint8Array(buffer, 4 + 4 * count, count),
  };
}

/** FNV-1a over code units: two of a hundred thousand terms meet about once. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at += 1) {
    hash ^= term.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** How alike two items are, from 0 to 1: the weight they share of all the weight there is. */
export function similarity(a: TermWeights, b: TermWeights): number {
  const weights = new Map<number, number>();
  let total = 0;
  let shared = 0;
  a.hashes.forEach((hash, index) => {
    weights.set(hash, a.weights[index] ?? 0);
    total += a.weights[index] ?? 0;
  });
  b.hashes.forEach((hash, index) => {
    const weight = b.weights[index] ?? 0;
    const common = Math.min(weight, weights.get(hash) ?? 0);
    shared += common;
    total += weight - common;
  });
  return total === 0 ? 0 : shared / total;
}
