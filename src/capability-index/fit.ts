/** One way to show an item: what it costs, and what it is worth. Worth is a whole number above 0. */
export interface DetailOption {
  tokens: number;
  worth: number;
}

/** How much of an item is shown, from least to most. */
export const detailLevels = ["name", "summary", "schema"] as const;
export type DetailLevel = (typeof detailLevels)[number];

const levelShare: Record<DetailLevel, number> = { name: 0.4, summary: 0.7, schema: 1 };

/** Items beyond these are not weighed. */
export const maxConsidered = 200;

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
 * can be reached within the budget, the least that it costs. What costs more is followed no further, so with a small
 * budget few steps are taken; at most items × showings × total worth, below five million for 200 items.
 */
export function chooseOptions(items: readonly (readonly DetailOption[])[], budget: number): Fitted {
  const most = items.reduce((sum, detailOptions) => sum + mostOf(detailOptions), 0);
  const before = new Float64Array(most + 1).fill(Number.POSITIVE_INFINITY);
  before[0] = 0;
  const after = before.slice();
  const choices: Uint8Array[] = [];
  /** The highest worth that is within the budget so far. */
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

/** Pins as far as they fit, in as much detail as fits; then the ranked items in what is left. */
export function fitIndex(
  pins: readonly (readonly DetailOption[])[],
  ranked: readonly (readonly DetailOption[])[],
  budget: number,
): { pins: Fitted; ranked: Fitted; worth: number } {
  const first = chooseOptions(pins, budget);
  const rest = chooseOptions(ranked.slice(0, maxConsidered), budget - first.tokens);
  return { pins: first, ranked: rest, worth: first.worth * pinFactor + rest.worth };
}
