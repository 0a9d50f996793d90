/** Numbers that are the same in every run: the same seed makes the same catalogue. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  chance(share: number): boolean;
  /** From 0 up to `count`. */
  below(count: number): number;
  pick<T>(from: readonly T[]): T | undefined;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    // xorshift32 after a step that keeps it from ever standing still at 0.
    state = (state + 0x9e3779b9) >>> 0;
    let value = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    value = Math.imul(value ^ (value >>> 15), 0x735a2d97);
    return ((value ^ (value >>> 15)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return { next, below, chance: (share) => next() < share, pick: (from) => from[below(from.length)] };
}

/** Draws 0 up to `count` by Zipf's law: 0 twice as often as 1, three times as often as 2. */
export function zipf(random: Random, count: number): () => number {
  let sum = 0;
  const upTo = Array.from({ length: count }, (_, rank) => {
    sum += 1 / (rank + 1);
    return sum;
  });
  return () => {
    const drawn = random.next() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] ?? 0) > drawn) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
