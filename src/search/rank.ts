import { type Ask, askedOf } from "./index/asked.ts";
import { type Frequencies, frequenciesIn, type SearchedPart } from "./index/frequencies.ts";
import { findHash, firstAt } from "./index/hashes.ts";
import type { DotKernel } from "./index/kernel.ts";
import type { IndexPart } from "./index/part.ts";
import { areCopies } from "./index/signature.ts";
import { smallVector } from "./index/vector.ts";
import type { ParsedQuery } from "./query.ts";
import { weightSteps } from "./term-weights.ts";
import { vectorOf, type WordVectors } from "./word-vectors.ts";

/** What ranking needs besides the index. */
export interface RankTools {
  kernel: DotKernel;
  /** Without them, words alone decide. */
  vectors: WordVectors | undefined;
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

/** BM25 parameters: k1, how soon repeated terms stop adding to the score, and b, how much long texts are penalised. */
const saturation = 1.2;
const lengthShare = 1;

/** What words of a server add to an item that matches by itself, and what they are worth to one that does not. */
const serverLift = 0.2;
const serverAlone = 0.05;

/**
 * Ranks the items of all parts for a task. Each clause is scored by shared words, rare words counting more, and by
 * similarity in meaning. An item gets the score of its best clause, averaged with its score for the whole task.
 * Near-duplicates are demoted. Every item is weighed; scores of all parts compare.
 */
export function rank(
  question: ParsedQuery,
  parts: readonly SearchedPart[],
  tools: RankTools,
  limit: number,
): { ranked: RankedItem[]; matches: Matches } {
  const space = new Space(parts);
  const frequencies = frequenciesIn(parts);
  const { whole, clauses } = askedOf(question, parts, frequencies);
  const asks = clauses.length > 1 ? [whole, ...clauses] : [whole];
  const [overall, ...steps] = frequencies.items === 0 ? [] : scoreAll(asks, space, frequencies, tools);
  if (overall === undefined) return { ranked: [], matches: { isMatch: () => false } };
  const scores = new Float32Array(space.items);
  const served = new Uint8Array(space.items);
  for (let item = 0; item < space.items; item += 1) {
    const total = (overall.scores[item] as number) / overall.best;
    let best = total;
    if (steps.length > 0) {
      best = 0;
      for (let at = 0; at < steps.length; at += 1) {
        const step = steps[at] as Scored;
        const relative = (step.scores[item] as number) / step.best;
        if (relative > best) {
          best = relative;
          served[item] = at;
        }
      }
      best = (best + wholeShare * total) / (1 + wholeShare);
    }
    scores[item] = best;
  }
  const ranked = bestOf(scores, limit).map((item): RankedItem => {
    const clause = steps.length === 0 ? undefined : (served[item] as number);
    const by = steps[clause ?? 0] ?? overall;
    const explanation: Explanation = { words: by.wordsOf(item), meaning: by.meaningOf?.(item), clause };
    return { ...space.placeOf(item), score: scores[item] as number, explanation };
  });
  const isMatch = (part: number, place: number) => (scores[(space.starts[part] ?? 0) + place] ?? 0) > 0;
  return { ranked: demoteCopies(ranked, parts), matches: { isMatch } };
}

/** Which items match at all, ranked or not. */
export interface Matches {
  isMatch(part: number, place: number): boolean;
}

/** All items of all parts, numbered one after the other. */
class Space {
  readonly parts: readonly SearchedPart[];
  readonly starts: readonly number[];
  readonly items: number;

  constructor(parts: readonly SearchedPart[]) {
    this.parts = parts;
    let items = 0;
    this.starts = parts.map(({ part }) => {
      items += part.count;
      return items - part.count;
    });
    this.items = items;
  }

  placeOf(item: number): { part: number; place: number } {
    const part = this.starts.findLastIndex((start, at) => start <= item && (this.parts[at]?.part.count ?? 0) > 0);
    return { part, place: item - (this.starts[part] ?? 0) };
  }
}

/** Scores of all items for a clause. */
interface Scored {
  scores: Float32Array;
  /** The highest score; 1 if all are 0. */
  best: number;
  wordsOf(item: number): number;
  meaningOf?(item: number): number;
}

function scoreAll(
  asks: readonly Ask[],
  space: Space,
  frequencies: Frequencies,
  { kernel, vectors }: RankTools,
): Scored[] {
  const words = asks.map((ask) => wordScores(ask, space, frequencies));
  if (vectors === undefined) return words.map((found) => combine(found, undefined, space));
  const queries = asks.map(({ meaning }) => smallVector(vectorOf(vectors, meaning)));
  const dots = asks.map(() => new Int32Array(space.items));
  space.parts.forEach(({ part }, at) => {
    const start = space.starts[at] as number;
    kernel.dots(
      part.vectors,
      queries.map(({ values }) => values),
      dots.map((all) => all.subarray(start, start + part.count)),
    );
  });
  return words.map((found, at) =>
    combine(found, { dots: dots[at] as Int32Array, scale: queries[at]?.scale ?? 0 }, space),
  );
}

/** BM25 of every item for one clause. */
function wordScores({ groups }: Ask, space: Space, { rarityOf, usualLength }: Frequencies): Float32Array {
  const scores = new Float32Array(space.items);
  const rarities = groups.map(rarityOf);
  space.parts.forEach(({ part }, at) => {
    const start = space.starts[at] as number;
    const { places, weights, lengths } = part;
    const perLength = (saturation * lengthShare) / usualLength;
    const least = saturation * (1 - lengthShare);
    groups.forEach((group, which) => {
      const worth = (rarities[which] as number) * (saturation + 1);
      for (const hash of group) {
        const term = findHash(part.terms, hash);
        if (term === -1) continue;
        const end = part.termStarts[term + 1] as number;
        for (let slot = part.termStarts[term] as number; slot < end; slot += 1) {
          const place = places[slot] as number;
          const weight = (weights[slot] as number) / weightSteps;
          const damping = least + perLength * (lengths[place] as number);
          scores[start + place] = (scores[start + place] as number) + (worth * weight) / (weight + damping);
        }
      }
    });
    addServerWords(scores.subarray(start, start + part.count), part, groups, rarities);
  });
  return scores;
}

/**
 * Words of a server help an item that matches by itself, by at most as much again as a part of its own match; an item that
 * does not match is hardly lifted, so that a server called "weather" does not put all its items before real forecasts.
 */
function addServerWords(
  scores: Float32Array,
  { serverTerms, serverTermOwners, serverStarts }: IndexPart,
  groups: readonly (readonly number[])[],
  rarities: readonly number[],
): void {
  const lifts = new Map<number, number>();
  groups.forEach((group, which) => {
    for (const hash of group) {
      let at = firstAt(serverTerms, hash);
      for (; at < serverTerms.length && serverTerms[at] === hash; at += 1) {
        const server = serverTermOwners[at] as number;
        lifts.set(server, (lifts.get(server) ?? 0) + (rarities[which] as number));
      }
    }
  });
  for (const [server, lift] of lifts) {
    const end = serverStarts[server + 1] as number;
    for (let place = serverStarts[server] as number; place < end; place += 1) {
      const own = scores[place] as number;
      scores[place] = own === 0 ? serverAlone * lift : own + Math.min(own, lift) * serverLift;
    }
  }
}

function combine(
  words: Float32Array,
  meaning: { dots: Int32Array; scale: number } | undefined,
  { parts, starts, items }: Space,
): Scored {
  const near = meaning && new Float32Array(items);
  let [mostWords, mostNear] = [0, 0];
  parts.forEach(({ part, gone, wanted }, at) => {
    const start = starts[at] as number;
    const { scales, count } = part;
    for (let place = 0; place < count; place += 1) {
      const item = start + place;
      if ((gone !== undefined && gone[place] === 1) || (wanted !== undefined && wanted[place] === 0)) {
        words[item] = 0;
        continue;
      }
      if (near !== undefined && meaning !== undefined) {
        const cosine = (meaning.dots[item] as number) * meaning.scale * (scales[place] as number);
        near[item] = cosine;
        if (cosine > mostNear) mostNear = cosine;
      }
      if ((words[item] as number) > mostWords) mostWords = words[item] as number;
    }
  });
  const perWords = mostWords === 0 ? 0 : 1 / mostWords;
  const wordsOf = (item: number) => (words[item] as number) * perWords;
  if (near === undefined) {
    for (let item = 0; item < items; item += 1) words[item] = (words[item] as number) * perWords;
    return { scores: words, best: 1, wordsOf: (item) => words[item] as number };
  }
  const perNear = mostNear === 0 ? 0 : 1 / mostNear;
  const least = Math.max(minSimilarity, minSimilarityShare * mostNear);
  const scores = new Float32Array(items);
  let best = 0;
  for (let item = 0; item < items; item += 1) {
    const match = words[item] as number;
    const cosine = near[item] as number;
    if (match === 0 && cosine < least) continue;
    const score = (1 - meaningShare) * match * perWords + meaningShare * Math.max(0, cosine) * perNear;
    scores[item] = score;
    if (score > best) best = score;
  }
  return { scores, best: best || 1, wordsOf, meaningOf: (item) => Math.max(0, near[item] as number) * perNear };
}

/** Numbers of the items with the highest scores above 0, highest first, ties in their order. */
function bestOf(scores: Float32Array, limit: number): number[] {
  const steps = 1_024;
  const counts = new Uint32Array(steps + 1);
  for (let item = 0; item < scores.length; item += 1) {
    const score = scores[item] as number;
    if (score > 0) counts[Math.floor(score * steps)] = (counts[Math.floor(score * steps)] as number) + 1;
  }
  let least = steps;
  for (let found = counts[least] as number; least > 0 && found < limit; ) {
    least -= 1;
    found += counts[least] as number;
  }
  const found: number[] = [];
  for (let item = 0; item < scores.length; item += 1) {
    const score = scores[item] as number;
    if (score > 0 && score * steps >= least) found.push(item);
  }
  return found.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b).slice(0, limit);
}

/** Copies score nearly the same, so only neighbours with close scores are compared. */
const nearScore = 0.05;
const neighbours = 8;
/** Only this many top results are checked for copies: few readers go further. */
const maxDeduplicated = 100;
const copyPenalty = 0.5;

/** Lowers the score of copies of higher-ranked items, so that the first results differ. */
function demoteCopies(ranked: RankedItem[], parts: readonly SearchedPart[]): RankedItem[] {
  const signaturesOf = ({ part }: RankedItem) => parts[part]?.part.signatures ?? new Uint8Array();
  const head = ranked.slice(0, maxDeduplicated);
  const kept: RankedItem[] = [];
  for (const entry of head) {
    const copied = kept
      .slice(-neighbours)
      .some(
        (other) =>
          other.score - entry.score <= nearScore &&
          areCopies(signaturesOf(other), other.place, signaturesOf(entry), entry.place),
      );
    if (copied) entry.explanation.alike = true;
    else kept.push(entry);
  }
  for (const entry of head) if (entry.explanation.alike) entry.score *= copyPenalty;
  return ranked.sort((a, b) => b.score - a.score);
}
