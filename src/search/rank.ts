import type { ClauseTerms, ParsedQuery } from "./query.ts";
import { hashOf, similarity, type TermWeights, weightSteps } from "./term-weights.ts";
import { cosine, vectorOf, vectorOfItem, type WordVectors } from "./word-vectors.ts";

/** Reduces the lead of first place, so that second place in two lists beats first place in one. */
const damping = 60;

/**
 * Reciprocal rank fusion: merges rankings whose scores cannot be compared. Each list gives an item 1/(60 + rank). Equal
 * sums keep the order in which items first appear.
 */
export function fuseRanks<T>(
  lists: readonly (readonly T[])[],
  keyOf: (item: T) => string,
  weightOf: (item: T) => number = () => 1,
): T[] {
  const sums = new Map<string, { item: T; sum: number }>();
  for (const list of lists) {
    for (const [index, item] of list.entries()) {
      const entry = sums.get(keyOf(item)) ?? { item, sum: 0 };
      entry.sum += weightOf(item) / (damping + index + 1);
      sums.set(keyOf(item), entry);
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum).map(({ item }) => item);
}

/** Term frequencies in the searched index. */
interface Statistics {
  documents: number;
  /** Number of items that contain a term. */
  frequency(term: string): number;
}

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

export interface Weighable {
  bag: TermWeights;
  /** Meaning vector, if already computed. */
  meaning?: Float32Array;
}

interface Ranked<T> {
  item: T;
  score: number;
  explanation: Explanation;
}

/** Share of meaning in a score; the rest is word match. */
const meaningShare = 0.6;

/** Weight of the whole task's score beside the score of the best clause, which weighs 1. */
const wholeShare = 0.6;

/** Minimum similarity in meaning for an item that shares no word with the task. */
const minSimilarity = 0.25;

/** BM25 parameters: k1, how soon repeated terms stop adding to the score, and b, how much long texts are penalised. */
const saturation = 1.2;
const lengthShare = 0.5;

/**
 * Ranks items for a task. Each clause is scored by shared words, rare words counting more, and by similarity in
 * meaning. An item gets the score of its best clause, averaged with its score for the whole task. Near-duplicates are
 * demoted.
 */
export function rank<T extends Weighable>(
  question: ParsedQuery,
  items: readonly T[],
  statistics: Statistics,
  vectors?: WordVectors,
): Ranked<T>[] {
  const meanings =
    vectors === undefined ? undefined : items.map(({ bag, meaning }) => meaning ?? vectorOfItem(vectors, bag));
  const scored = (ask: ClauseTerms): ClauseScore[] => {
    const words = relative(matches(ask.terms, items, statistics));
    if (vectors === undefined || meanings === undefined) return words.map((match) => ({ score: match, words: match }));
    const wanted = vectorOf(vectors, ask.allTerms.map(hashOf));
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

/** BM25 score of every item, from its stored term weights. */
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

/** Items at least this similar are copies: forks of one server, published twice. */
const copySimilarity = 0.9;
/** Copies score nearly the same, so only neighbours with close scores are compared. */
const nearScore = 0.05;
const neighbours = 8;
/** Only this many top results are checked for copies: few readers go further. */
const maxDeduplicated = 100;
const copyPenalty = 0.5;

/** Cheap check before `similarity`: items that differ much in number of terms are not copies. */
function haveSimilarLength(a: TermWeights, b: TermWeights): boolean {
  return Math.abs(a.hashes.length - b.hashes.length) <= 0.1 * Math.max(a.hashes.length, b.hashes.length);
}

/** Lowers the score of copies of higher-ranked items, so that the first results differ. */
function demoteDuplicates<T extends { bag: TermWeights }>(ranked: Ranked<T>[]): Ranked<T>[] {
  const head = ranked.slice(0, maxDeduplicated);
  const kept: Ranked<T>[] = [];
  for (const entry of head) {
    const copied = kept
      .slice(-neighbours)
      .some(
        (other) =>
          other.score - entry.score <= nearScore &&
          haveSimilarLength(other.item.bag, entry.item.bag) &&
          similarity(other.item.bag, entry.item.bag) >= copySimilarity,
      );
    if (copied) entry.explanation.alike = true;
    else kept.push(entry);
  }
  for (const entry of head) if (entry.explanation.alike) entry.score *= copyPenalty;
  return ranked.sort(byScore);
}
