/** What was found for a task, the best first, and what should have been. */
export interface Outcome {
  found: readonly string[];
  relevant: readonly string[];
}

export interface Quality {
  hit1: number;
  hit5: number;
  recall10: number;
  mrr: number;
  ndcg10: number;
}

/** Means over all tasks. */
export function qualityOf(outcomes: readonly Outcome[]): Quality {
  const mean = (measure: (outcome: Outcome) => number) =>
    Number((outcomes.reduce((sum, outcome) => sum + measure(outcome), 0) / Math.max(1, outcomes.length)).toFixed(4));
  return {
    hit1: mean((outcome) => (placesOf(outcome)[0] === 0 ? 1 : 0)),
    hit5: mean((outcome) => ((placesOf(outcome)[0] ?? 5) < 5 ? 1 : 0)),
    recall10: mean((outcome) => placesOf(outcome).filter((place) => place < 10).length / outcome.relevant.length),
    mrr: mean((outcome) => 1 / ((placesOf(outcome)[0] ?? Number.POSITIVE_INFINITY) + 1)),
    ndcg10: mean((outcome) => {
      const gain = (places: readonly number[]) => places.reduce((sum, place) => sum + 1 / Math.log2(place + 2), 0);
      const best = Array.from({ length: Math.min(10, outcome.relevant.length) }, (_, place) => place);
      return gain(placesOf(outcome).filter((place) => place < 10)) / gain(best);
    }),
  };
}

/** Where in the list the relevant ones are. */
function placesOf({ found, relevant }: Outcome): number[] {
  return found.flatMap((id, place) => (relevant.includes(id) ? [place] : []));
}

/** The value below which this share of them lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
