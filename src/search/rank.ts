import { runAtOnce, type Steps } from "../kernel/pace/pace.ts";
import { askedOf } from "./index/asked.ts";
import { frequenciesIn, type SearchedPart } from "./index/frequencies.ts";
import type { Blend, RankKernel } from "./index/kernel.ts";
import { areCopies } from "./index/signature.ts";
import { type RankTools, Space, weighMeanings, weighWords } from "./index/weigh.ts";
import type { ParsedQuery } from "./query.ts";

/** Why an item has its rank. */
export interface Explanation {
  /** Word match, relative to the best match for the same clause. */
  words: number;
  /** Similarity in meaning, relative to the most similar item for the same clause; absent without word vectors. */
  meaning?: number;
  /** The clause that the item matches best, counted from 0; only if the task has several. */
  clause?: number;
  /** Nearly the same terms as an item ranked higher, and therefore demoted. */
  alike?: true;
}

/** An item of a part, and its score from 0 to 1. */
export interface RankedItem {
  /** Number of the part, in the order of the search. */
  part: number;
  /** Number of the item in the part. */
  place: number;
  score: number;
  explanation: Explanation;
}

/** Share of meaning in a score; the rest is word match. */
const meaningShare = 0.55;

/** Weight of the whole task's score beside the score of the best clause, which weighs 1. */
const wholeShare = 0.6;

/** Minimum similarity in meaning for an item that shares no word with the task: at all, and beside the most similar. */
const minSimilarity = 0.3;
const minSimilarityShare = 0.6;

/**
 * Ranks the items of all parts for a task. Each clause is scored by shared words, rare words counting more, and by
 * similarity in meaning. An item gets the score of its best clause, averaged with its score for the whole task.
 * Near-duplicates are demoted. Every item is weighed; scores of all parts compare.
 */
export function rank(question: ParsedQuery, parts: readonly SearchedPart[], tools: RankTools, limit: number): Ranking {
  return runAtOnce(rankInSteps(question, parts, tools, limit));
}

/** What was found, best first. */
export interface Ranking {
  ranked: RankedItem[];
  matches: Matches;
}

/** The same in steps, each of which goes through all items: among very many, others have a turn in between. */
export function* rankInSteps(
  question: ParsedQuery,
  parts: readonly SearchedPart[],
  tools: RankTools,
  limit: number,
): Steps<Ranking> {
  const space = new Space(parts);
  const frequencies = frequenciesIn(parts);
  const scores = new Float32Array(space.items);
  const isMatch = (part: number, place: number) => (scores[(space.starts[part] ?? 0) + place] ?? 0) > 0;
  if (frequencies.items === 0) return { ranked: [], matches: { isMatch } };
  const { whole, clauses } = askedOf(question, parts, frequencies);
  const asks = clauses.length > 1 ? [whole, ...clauses] : [whole];
  const similarities = weighMeanings(asks, space, tools);
  yield asks.length * space.items * unitsPerProduct;
  const weighed: Weighed[] = [];
  for (const [at, ask] of asks.entries()) {
    const words = weighWords(ask, space, frequencies);
    weighed.push(new Weighed(words, similarities[at] as Float32Array, tools));
    yield space.items * unitsPerWeight;
  }
  const [overall, ...steps] = weighed as [Weighed, ...Weighed[]];
  if (steps.length === 0) overall.raise(scores);
  else {
    for (const step of steps) step.raise(scores);
    addWhole(scores, overall);
  }
  const ranked = bestOf(scores, limit).map((item): RankedItem => {
    const clause = steps.length === 0 ? undefined : bestStep(steps, item);
    const by = steps[clause ?? 0] ?? overall;
    const meaning = tools.vectors && by.meaningOf(item);
    const explanation: Explanation = { words: by.wordsOf(item), meaning, clause };
    // A rounding error may put the best just above 1.
    return { ...space.placeOf(item), score: Math.min(1, scores[item] as number), explanation };
  });
  return { ranked: demoteCopies(ranked, parts), matches: { isMatch } };
}

/** Work for one item and clause, measured over 100,000 items. */
const unitsPerProduct = 0.01;
const unitsPerWeight = 0.01;

/** All items for a clause. */
class Weighed {
  readonly #words: Float32Array;
  readonly #similarities: Float32Array;
  readonly #kernel: RankKernel;
  readonly #mostWords: number;
  readonly #mostSimilar: number;
  /** With the score of the best item as 1. */
  readonly #by: Blend;

  constructor(words: Float32Array, similarities: Float32Array, { kernel, vectors }: RankTools) {
    this.#words = words;
    this.#similarities = similarities;
    this.#kernel = kernel;
    this.#mostWords = kernel.highest(words) || 1;
    this.#mostSimilar = kernel.highest(similarities) || 1;
    const share = vectors === undefined ? 0 : meaningShare;
    const by: Blend = {
      perWords: (1 - share) / this.#mostWords,
      perSimilarity: share / this.#mostSimilar,
      least: Math.max(minSimilarity, minSimilarityShare * this.#mostSimilar),
    };
    const best = kernel.blend(words, similarities, by) || 1;
    this.#by = { ...by, perWords: by.perWords / best, perSimilarity: by.perSimilarity / best };
  }

  /** Raises scores to those for this clause. */
  raise(scores: Float32Array): void {
    this.#kernel.blend(this.#words, this.#similarities, this.#by, scores);
  }

  wordsOf(item: number): number {
    return (this.#words[item] as number) / this.#mostWords;
  }

  meaningOf(item: number): number {
    return Math.max(0, this.#similarities[item] as number) / this.#mostSimilar;
  }

  scoreOf(item: number): number {
    const [words, similarity] = [this.#words[item] as number, this.#similarities[item] as number];
    const { perWords, perSimilarity, least } = this.#by;
    return words === 0 && similarity < least ? 0 : words * perWords + Math.max(0, similarity) * perSimilarity;
  }
}

/** Averages the score of the best clause with that for the whole task. */
function addWhole(scores: Float32Array, whole: Weighed): void {
  const total = new Float32Array(scores.length);
  whole.raise(total);
  for (let item = 0; item < scores.length; item += 1) {
    scores[item] = ((scores[item] as number) + wholeShare * (total[item] as number)) / (1 + wholeShare);
  }
}

/** Which clause an item matches best. */
function bestStep(steps: readonly Weighed[], item: number): number {
  const scores = steps.map((step) => step.scoreOf(item));
  return scores.indexOf(Math.max(...scores));
}

/** Which items match at all, ranked or not. */
export interface Matches {
  isMatch(part: number, place: number): boolean;
}

/** Numbers of the items with the highest scores above 0, highest first, ties in their order. */
function bestOf(scores: Float32Array, limit: number): number[] {
  const counts = new Uint32Array(bins);
  for (const score of scores) {
    if (score > 0) counts[binOf(score)] = (counts[binOf(score)] as number) + 1;
  }
  // Only the items of the highest bins that are enough together are sorted.
  let least = bins - 1;
  for (let above = counts[least] as number; above < limit && least > 0; above += counts[least] as number) least -= 1;
  const found: number[] = [];
  for (let item = 0; item < scores.length; item += 1) {
    const score = scores[item] as number;
    if (score > 0 && binOf(score) >= least) found.push(item);
  }
  return found.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b).slice(0, limit);
}

const bins = 1_024;

/** A higher score is never in a lower bin. */
function binOf(score: number): number {
  return Math.min(bins - 1, Math.floor(score * bins));
}

/** Copies score nearly the same, so only neighbours with close scores are compared. */
const nearScore = 0.05;
const neighbours = 8;
/** Only this many top results are checked for copies: few readers go further. */
const maxDeduplicated = 100;
const copyPenalty = 0.5;

const noSignatures = new Uint8Array();

/** Lowers the score of copies of higher-ranked items, so that the first results differ. */
function demoteCopies(ranked: RankedItem[], parts: readonly SearchedPart[]): RankedItem[] {
  const signaturesOf = ({ part }: RankedItem) => parts[part]?.part.signatures ?? noSignatures;
  const head = ranked.slice(0, maxDeduplicated);
  const kept: RankedItem[] = [];
  const isCopy = (entry: RankedItem) => {
    const own = signaturesOf(entry);
    const first = Math.max(0, kept.length - neighbours);
    // The nearest first: scores only grow towards the top.
    for (let at = kept.length - 1; at >= first; at -= 1) {
      const other = kept[at] as RankedItem;
      if (other.score - entry.score > nearScore) return false;
      if (areCopies(signaturesOf(other), other.place, own, entry.place)) return true;
    }
    return false;
  };
  for (const entry of head) {
    if (isCopy(entry)) entry.explanation.alike = true;
    else kept.push(entry);
  }
  for (const entry of head) if (entry.explanation.alike) entry.score *= copyPenalty;
  return ranked.sort((a, b) => b.score - a.score);
}
