/** Damps the lead of a first place, so that being second in two lists beats being first in one. */
const damping = 60;

/**
 * One ranking out of several whose scores cannot be compared: each list gives an item 1/(60 + place). Equal sums keep
 * the order in which the items first appear.
 */
export function fuseRanks<T>(lists: readonly (readonly T[])[], keyOf: (item: T) => string): T[] {
  const sums = new Map<string, { item: T; sum: number }>();
  for (const list of lists) {
    for (const [index, item] of list.entries()) {
      const entry = sums.get(keyOf(item)) ?? { item, sum: 0 };
      entry.sum += 1 / (damping + index + 1);
      sums.set(keyOf(item), entry);
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum).map(({ item }) => item);
}
