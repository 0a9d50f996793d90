/** First place in ascending hashes with at least this hash. */
export function firstAt(hashes: Uint32Array, hash: number): number {
  let [low, high] = [0, hashes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((hashes[middle] as number) < hash) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Place of a hash in ascending hashes; -1 if it is not there. */
export function findHash(hashes: Uint32Array, hash: number): number {
  const at = firstAt(hashes, hash);
  return hashes[at] === hash ? at : -1;
}
