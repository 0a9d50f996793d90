/**
 * What fits a budget, by the same rule as `GET /api/search?budget=`: in order of rank, deprecated items after the others,
 * what costs more than is left is passed over, and what is not to be chosen is left out in any case. Runs in the Worker
 * and in the page's script.
 */

export interface Weighed {
  tokens: number;
  deprecated: boolean;
  /** Why it is not to be chosen at any price. */
  obstacle?: string;
}

export type Verdict = { fits: true; sum: number } | { fits: false; why: string };

export interface Fit {
  /** In the order of the items. */
  verdicts: Verdict[];
  count: number;
  used: number;
  /** Place of the first item that would have fitted a larger budget. */
  firstOver?: number;
}

/** Without a budget everything fits that may be chosen. */
export function fitBudget(items: readonly Weighed[], budget: number | undefined): Fit {
  const verdicts: Verdict[] = new Array(items.length);
  let used = 0;
  let count = 0;
  let firstOver: number | undefined;
  const places = items.map((_, place) => place);
  const order = [
    ...places.filter((place) => !items[place]?.deprecated),
    ...places.filter((place) => items[place]?.deprecated),
  ];
  for (const place of order) {
    const item = items[place];
    if (item === undefined) continue;
    const left = (budget ?? Number.POSITIVE_INFINITY) - used;
    if (item.obstacle !== undefined) verdicts[place] = { fits: false, why: item.obstacle };
    else if (item.tokens > left) {
      firstOver ??= place;
      verdicts[place] = { fits: false, why: `${item.tokens} > ${left} left` };
    } else {
      used += item.tokens;
      count += 1;
      verdicts[place] = { fits: true, sum: used };
    }
  }
  return { verdicts, count, used, firstOver };
}

/** "7 fit, 612 of 800; x left out: 240 > 188 left". */
export function verdictText(
  { count, used, verdicts, firstOver }: Fit,
  names: readonly string[],
  budget?: number,
): string {
  const all = verdicts.length;
  if (budget === undefined) return `${count} of ${all} can be chosen; together they cost ${used} tokens`;
  const over = firstOver === undefined ? undefined : verdicts[firstOver];
  const first = over === undefined || over.fits ? "" : `; ${names[firstOver ?? 0]} left out (${over.why})`;
  return `${count} fit, ${used} of ${budget} tokens${first}`;
}
