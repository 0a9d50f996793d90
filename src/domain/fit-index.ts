/** One way to show an item: what it costs, and what it is worth. Worth is a whole number above 0. */
export interface Showing {
  tokens: number;
  worth: number;
}

/** How much of an item is shown, from least to most. */
export const detailLevels = ["name", "summary", "schema"] as const;
export type DetailLevel = (typeof detailLevels)[number];

const levelShare: Record<DetailLevel, number> = { name: 0.4, summary: 0.7, schema: 1 };

/** Items beyond these are not weighed. */
export const mostWeighed = 200;

/** What all items are worth together is less than this, so that pins can come before everything else. */
export const pinFactor = 10_000;

/** What an item is worth at a level: the first of a ranking most, falling fast at first and slowly later. */
export function worthOf(rank: number, level: DetailLevel): number {
  return Math.round((2_000 / (rank + 4)) * levelShare[level]);
}

export interface Fitted {
  /** The showing chosen for each item; -1 for none. */
  chosen: number[];
  tokens: number;
  worth: number;
}

/**
 * The showings of greatest worth that cost no more than the budget, at most one an item. Exact: for every worth that
 * can be reached, the least that it costs. The table does not depend on the budget, so with more of it the worth can
 * only grow. Takes items × showings × total worth steps (below five million for 200 items), whatever the budget.
 */
export function fitShowings(items: readonly (readonly Showing[])[], budget: number): Fitted {
  const most = items.reduce((sum, showings) => sum + Math.max(0, ...showings.map(({ worth }) => worth)), 0);
  const cost = new Float64Array(most + 1).fill(Number.POSITIVE_INFINITY);
  cost[0] = 0;
  const choices: Uint8Array[] = [];
  let reach = 0;
  for (const showings of items) {
    reach += Math.max(0, ...showings.map(({ worth }) => worth));
    const choice = new Uint8Array(reach + 1);
    // Downwards, so that what is read belongs to the items before this one.
    for (let worth = reach; worth > 0; worth -= 1) {
      let least = cost[worth] ?? Number.POSITIVE_INFINITY;
      for (const [index, showing] of showings.entries()) {
        if (showing.worth > worth) continue;
        const price = (cost[worth - showing.worth] ?? Number.POSITIVE_INFINITY) + showing.tokens;
        if (price >= least) continue;
        least = price;
        choice[worth] = index + 1;
      }
      cost[worth] = least;
    }
    choices.push(choice);
  }
  let worth = most;
  while (worth > 0 && (cost[worth] ?? 0) > budget) worth -= 1;
  const fitted: Fitted = { chosen: items.map(() => -1), tokens: cost[worth] ?? 0, worth };
  for (let index = items.length - 1, left = worth; index >= 0; index -= 1) {
    const taken = (choices[index]?.[left] ?? 0) - 1;
    fitted.chosen[index] = taken;
    left -= items[index]?.[taken]?.worth ?? 0;
  }
  return fitted;
}

/** Pins as far as they fit, in as much detail as fits; then the ranked items in what is left. */
export function fitIndex(
  pins: readonly (readonly Showing[])[],
  ranked: readonly (readonly Showing[])[],
  budget: number,
): { pins: Fitted; ranked: Fitted; worth: number } {
  const first = fitShowings(pins, budget);
  const rest = fitShowings(ranked.slice(0, mostWeighed), budget - first.tokens);
  return { pins: first, ranked: rest, worth: first.worth * pinFactor + rest.worth };
}
