/**
 * The terms of an item and their weights, packed for storage: a header with text length and number of name terms, then
 * a hash of each term, name terms first, then the weights. Ranking reads hundreds of these per query, so the arrays are
 * views of the stored buffer.
 */
export interface TermWeights {
  length: number;
  /** Number of terms in the name; they come first. */
  names: number;
  hashes: Uint32Array;
  /** In steps of one half: 8 is a weight of 4. */
  weights: Uint8Array;
}

/** Steps per unit of weight. Weights are stored in halves, one byte each. */
export const weightSteps = 2;
const heaviest = 255;

/** Terms stored per item. The fields come in order of importance, so the least important terms are cut. */
const maxTerms = 400;

/** The header has the text length in its lower bits and the number of name terms in its upper bits. */
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

/** FNV-1a over UTF-16 code units: among a hundred thousand terms, about one pair collides. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at += 1) {
    hash ^= term.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** Similarity of two items, from 0 to 1: shared weight divided by total weight (weighted Jaccard). */
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
