/** Reduces the lead of first place, so that second place in two lists beats first place in one. */
const damping = 60;

/**
 * Reciprocal rank fusion: merges rankings whose scores cannot be compared. Each list gives an item 1/(60 + rank). Equal
 * sums keep the order in which items first appear. A list has an item once; one list alone is the result.
 */
export function fuseRanks<T>(
  lists: readonly (readonly T[])[],
  keyOf: (item: T) => string,
  weightOf: (item: T) => number = () => 1,
): T[] {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length < 2) return [...(filled[0] ?? [])];
  const sums = new Map<string, { item: T; sum: number }>();
  for (const list of filled) {
    for (const [index, item] of list.entries()) {
      const entry = sums.get(keyOf(item)) ?? { item, sum: 0 };
      entry.sum += weightOf(item) / (damping + index + 1);
      sums.set(keyOf(item), entry);
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum).map(({ item }) => item);
}
