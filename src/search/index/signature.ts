import type { TermWeights } from "../term-weights.ts";

/**
 * MinHash of an item's own terms: of two items, as many bytes agree as they have terms in common, of all their terms.
 * So near-copies are found without the terms of either.
 */
export const signatureBytes = 32;

/** Two items whose signatures agree in this many bytes share about nine tenths of their terms: forks of one server. */
const copyBytes = 28;

const seeds = Uint32Array.from({ length: signatureBytes }, (_, at) => Math.imul(at + 1, 0x9e3779b1) >>> 0);

export function writeSignature(target: Uint8Array, { hashes, server }: TermWeights): void {
  const own = hashes.length - server;
  for (let at = 0; at < signatureBytes; at += 1) {
    const seed = seeds[at] as number;
    let least = 0xffffffff;
    for (let term = 0; term < own; term += 1) {
      let mixed = Math.imul((hashes[term] as number) ^ seed, 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
      if (mixed < least) least = mixed;
    }
    target[at] = least >>> 8;
  }
}

/** Whether two items say nearly the same; `a` and `b` are the places of their signatures. */
export function areCopies(signatures: Uint8Array, a: number, others: Uint8Array, b: number): boolean {
  let differing = 0;
  for (let at = 0; at < signatureBytes; at += 1) {
    if (signatures[a * signatureBytes + at] === others[b * signatureBytes + at]) continue;
    differing += 1;
    if (differing > signatureBytes - copyBytes) return false;
  }
  return true;
}
