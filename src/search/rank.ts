import type { ClauseTerms, ParsedQuery } from "./query.ts";
import { hashOf, similarity, type TermWeights, weightSteps } from "./term-weights.ts";
import { cosine, meaningOfBag, vectorOf, type WordVectors } from "./word-vectors.ts";

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

/** How common words are in the index that is asked. */
export interface Statistics {
  documents: number;
  /** Items that have a term. */
  frequency(term: string): number;
}

/** Why an item is where it is. */
export interface Explanation {
  /** How well its words match, of the best match for the same clause. */
  words: number;
  /** How near its meaning is, of the nearest for the same clause; absent where no table of meanings is at hand. */
  meaning?: number;
  /** The clause it serves best, counted from 0, where the task has several. */
  clause?: number;
  /** It says nearly the same as an item ranked before it, and therefore comes later. */
  alike?: true;
}

export interface Weighable {
  bag: TermWeights;
  /** Where it is known already. */
  meaning?: Float32Array;
}

export interface Ranked<T> {
  item: T;
  score: number;
  explanation: Explanation;
}

/** How much of a score is meaning rather than words. */
const meaningShare = 0.6;

/** What serves the task as a whole counts beside what serves one clause of it best. */
const wholeShare = 0.6;

/** An item that shares no word with the task must be at least this near in meaning to be found. */
const minSimilarity = 0.25;

/** BM25: how soon more of a term stops to count, and how much a long text is held against an item. */
const saturation = 1.2;
const lengthShare = 0.5;

/**
 * Items in the order in which they serve a task: for each clause, the words they share with it, the rarer the better,
 * and how near they are in meaning; then the best of their clauses, with a part for the task as a whole.
 */
export function rank<T extends Weighable>(
  question: ParsedQuery,
  items: readonly T[],
  statistics: Statistics,
  vectors?: WordVectors,
): Ranked<T>[] {
  const meanings =
    vectors === undefined ? undefined : items.map(({ bag, meaning }) => meaning ?? meaningOfBag(vectors, bag));
  const scored = (ask: ClauseTerms): ClauseScore[] => {
    const words = relative(matches(ask.terms, items, statistics));
    if (vectors === undefined || meanings === undefined) return words.map((match) => ({ score: match, words: match }));
    const wanted = vectorOf(vectors, ask.said.map(hashOf));
    const distances = meanings.map((meaning) => cosine(wanted, meaning));
    const near = relative(distances.map((distance) => Math.max(0, distance)));
    return words.map((match, index) => {
      const far = match === 0 && (distances[index] as number) < minSimilarity;
      const meaning = near[index] as number;
      return { score: far ? 0 : (1 - meaningShare) * match + meaningShare * meaning, words: match, meaning };
    });
  };
  const whole = scored(question.whole);
  const clauses = question.clauses.length > 1 ? question.clauses.map(scored) : [];
  const best = highest(whole);
  const bestPerClause = clauses.map(highest);
  const ranked = items.map((item, index): Ranked<T> => {
    const overall = whole[index] as ClauseScore;
    const total = overall.score / best;
    let [score, served, clause] = [total, overall, -1];
    clauses.forEach((serving, at) => {
      const here = serving[index] as ClauseScore;
      const relativeScore = here.score / (bestPerClause[at] as number);
      if (clause === -1 || relativeScore > score) [score, served, clause] = [relativeScore, here, at];
    });
    const explanation = {
      words: served.words,
      meaning: served.meaning,
      clause: clause === -1 ? undefined : clause,
    };
    return { item, score: clause === -1 ? total : (score + wholeShare * total) / (1 + wholeShare), explanation };
  });
  return demoteDuplicates(ranked.filter(({ score }) => score > 0).sort(byScore));
}

interface ClauseScore {
  score: number;
  words: number;
  meaning?: number;
}

function byScore(a: Ranked<unknown>, b: Ranked<unknown>): number {
  return b.score - a.score;
}

/** BM25 over the weights of the bags, for every item. */
function matches(
  terms: readonly string[],
  items: readonly { bag: TermWeights }[],
  { documents, frequency }: Statistics,
): number[] {
  const rarity = new Map<number, number>();
  for (const term of terms) {
    const documentCount = Math.min(frequency(term), documents);
    rarity.set(hashOf(term), Math.log(1 + (documents - documentCount + 0.5) / (documentCount + 0.5)));
  }
  const usual = items.reduce((sum, { bag }) => sum + bag.length, 0) / Math.max(1, items.length) || 1;
  return items.map(({ bag: { hashes, weights, length } }) => {
    const damping = saturation * (1 - lengthShare + (lengthShare * length) / usual);
    let sum = 0;
    for (let at = 0; at < hashes.length; at += 1) {
      const rare = rarity.get(hashes[at] as number);
      if (rare === undefined) continue;
      const weight = (weights[at] as number) / weightSteps;
      sum += (rare * weight * (saturation + 1)) / (weight + damping);
    }
    return sum;
  });
}

function relative(scores: readonly number[]): number[] {
  const most = scores.reduce((highest, score) => Math.max(highest, score), 0);
  return most === 0 ? [...scores] : scores.map((score) => score / most);
}

function highest(served: readonly ClauseScore[]): number {
  return served.reduce((most, { score }) => Math.max(most, score), 0) || 1;
}

/** More alike than this, two items are copies: forks of one server, published twice. */
const copies = 0.9;
/** Copies score nearly the same, so only neighbours are compared. */
const nearScore = 0.05;
const neighbours = 8;
/** As far as anyone reads. */
const maxSpread = 100;
const copyPenalty = 0.5;

/** A cheap look before the dear one: what differs much in length is no copy. */
function ofOneLength(a: TermWeights, b: TermWeights): boolean {
  return Math.abs(a.hashes.length - b.hashes.length) <= 0.1 * Math.max(a.hashes.length, b.hashes.length);
}

/** Moves copies of what is ranked already further down, so that the first few differ. */
function demoteDuplicates<T extends { bag: TermWeights }>(ranked: Ranked<T>[]): Ranked<T>[] {
  const head = ranked.slice(0, maxSpread);
  const kept: Ranked<T>[] = [];
  for (const entry of head) {
    const copied = kept
      .slice(-neighbours)
      .some(
        (other) =>
          other.score - entry.score <= nearScore &&
          ofOneLength(other.item.bag, entry.item.bag) &&
          similarity(other.item.bag, entry.item.bag) >= copies,
      );
    if (copied) entry.explanation.alike = true;
    else kept.push(entry);
  }
  for (const entry of head) if (entry.explanation.alike) entry.score *= copyPenalty;
  return ranked.sort(byScore);
}
