import { weightSteps } from "../term-weights.ts";
import { vectorOf, type WordVectors } from "../word-vectors.ts";
import type { Ask } from "./asked.ts";
import type { Frequencies, SearchedPart } from "./frequencies.ts";
import { findHash, firstAt } from "./hashes.ts";
import type { RankKernel } from "./kernel.ts";
import type { IndexPart } from "./part.ts";
import { smallVector } from "./vector.ts";

/** What ranking needs besides the index. */
export interface RankTools {
  kernel: RankKernel;
  /** Without them, words alone decide. */
  vectors: WordVectors | undefined;
}

/** All items of all parts, numbered one after the other. */
export class Space {
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

/** BM25 parameters: k1, how soon repeated terms stop adding to the score, and b, how much long texts are penalised. */
const saturation = 1.2;
const lengthShare = 1;

/** What words of a server add to an item that matches by itself, and what they are worth to one that does not. */
const serverLift = 0.2;
const serverAlone = 0.05;

/** BM25 of every item for one clause. */
export function weighWords({ groups }: Ask, { parts, starts, items }: Space, frequencies: Frequencies): Float32Array {
  const scores = new Float32Array(items);
  const rarities = groups.map(frequencies.rarityOf);
  const perLength = (saturation * lengthShare) / frequencies.usualLength;
  parts.forEach((searched, at) => {
    const { part } = searched;
    const start = starts[at] as number;
    const own = scores.subarray(start, start + part.count);
    groups.forEach((group, which) => {
      const worth = (rarities[which] as number) * (saturation + 1);
      for (const hash of group) addTerm(own, part, hash, worth, perLength);
    });
    addServerWords(own, part, groups, rarities);
    clearUnwanted(own, searched);
  });
  return scores;
}

function addTerm(
  scores: Float32Array,
  { terms, termStarts, places, weights, lengths }: IndexPart,
  hash: number,
  worth: number,
  perLength: number,
): void {
  const term = findHash(terms, hash);
  if (term === -1) return;
  const least = saturation * (1 - lengthShare);
  const end = termStarts[term + 1] as number;
  for (let slot = termStarts[term] as number; slot < end; slot += 1) {
    const place = places[slot] as number;
    const weight = (weights[slot] as number) / weightSteps;
    const damping = least + perLength * (lengths[place] as number);
    scores[place] = (scores[place] as number) + (worth * weight) / (weight + damping);
  }
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

/** What is gone or filtered out matches nothing. */
function clearUnwanted(scores: Float32Array, { gone, wanted }: SearchedPart): void {
  if (gone !== undefined)
    for (let place = 0; place < scores.length; place += 1) if (gone[place] === 1) scores[place] = 0;
  if (wanted !== undefined)
    for (let place = 0; place < scores.length; place += 1) if (wanted[place] === 0) scores[place] = 0;
}

/** Similarity of every item to the meaning of each clause: a cosine. Without word vectors, nothing is similar. */
export function weighMeanings(
  asks: readonly Ask[],
  { parts, starts, items }: Space,
  { kernel, vectors }: RankTools,
): Float32Array[] {
  if (vectors === undefined) {
    const none = new Float32Array(items);
    return asks.map(() => none);
  }
  const queries = asks.map(({ meaning }) => smallVector(vectorOf(vectors, meaning)));
  const similarities = asks.map(() => new Float32Array(items));
  parts.forEach((searched, at) => {
    const start = starts[at] as number;
    const own = similarities.map((all) => all.subarray(start, start + searched.part.count));
    kernel.cosines(searched.part, queries, own);
    for (const cosines of own) clearUnwanted(cosines, searched);
  });
  return similarities;
}
