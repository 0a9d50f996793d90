/** Cost and worth of an item at one level of detail. Worth is a positive integer. */
export interface DetailOption {
  tokens: number;
  worth: number;
}

/** From least to most detail. */
export const detailLevels = ["name", "summary", "schema"] as const;
export type DetailLevel = (typeof detailLevels)[number];

const levelShare: Record<DetailLevel, number> = { name: 0.4, summary: 0.7, schema: 1 };

/** Maximum number of ranked items. */
export const maxConsidered = 200;

/** More than the total worth of all ranked items, so that pins take precedence. */
export const pinFactor = 10_000;

/** Worth of an item by rank and level: highest for rank 1, falling fast at first and slowly later. */
export function worthOf(rank: number, level: DetailLevel): number {
  return Math.round((2_000 / (rank + 4)) * levelShare[level]);
}

export interface Fitted {
  /** Index of the chosen option for each item; -1 for none. */
  chosen: number[];
  tokens: number;
  worth: number;
}

/**
 * Chooses at most one option per item, with the greatest total worth within the budget. Exact dynamic programming: for
 * each reachable total worth, the minimum cost. Costs above the budget are pruned, so a small budget takes few steps;
 * at most items × options × total worth, below five million for 200 items.
 */
export function chooseOptions(items: readonly (readonly DetailOption[])[], budget: number): Fitted {
  const most = items.reduce((sum, detailOptions) => sum + mostOf(detailOptions), 0);
  const before = new Float64Array(most + 1).fill(Number.POSITIVE_INFINITY);
  before[0] = 0;
  const after = before.slice();
  const choices: Uint8Array[] = [];
  // The highest total worth within the budget so far.
  let reach = 0;
  for (const detailOptions of items) {
    const choice = new Uint8Array(reach + mostOf(detailOptions) + 1);
    let further = reach;
    for (const [index, { worth, tokens }] of detailOptions.entries()) {
      for (let from = 0; from <= reach; from += 1) {
        const price = (before[from] as number) + tokens;
        const to = from + worth;
        if (price > budget || price >= (after[to] as number)) continue;
        after[to] = price;
        choice[to] = index + 1;
        if (to > further) further = to;
      }
    }
    reach = further;
    choices.push(choice);
    before.set(after.subarray(0, reach + 1));
  }
  const fitted: Fitted = { chosen: items.map(() => -1), tokens: before[reach] ?? 0, worth: reach };
  for (let index = items.length - 1, left = reach; index >= 0; index -= 1) {
    const taken = (choices[index]?.[left] ?? 0) - 1;
    fitted.chosen[index] = taken;
    left -= items[index]?.[taken]?.worth ?? 0;
  }
  return fitted;
}

function mostOf(detailOptions: readonly DetailOption[]): number {
  return Math.max(0, ...detailOptions.map(({ worth }) => worth));
}

/** Fits pins first, in as much detail as possible, then ranked items into the remaining budget. */
export function fitIndex(
  pins: readonly (readonly DetailOption[])[],
  ranked: readonly (readonly DetailOption[])[],
  budget: number,
): { pins: Fitted; ranked: Fitted; worth: number } {
  const first = chooseOptions(pins, budget);
  const rest = chooseOptions(ranked.slice(0, maxConsidered), budget - first.tokens);
  return { pins: first, ranked: rest, worth: first.worth * pinFactor + rest.worth };
}
