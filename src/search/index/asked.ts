import type { ClauseTerms, ParsedQuery } from "../query.ts";
import { hashOf } from "../term-weights.ts";
import type { Frequencies } from "./frequencies.ts";
import type { IndexPart } from "./part.ts";

/** One clause of a task, as it is looked up. */
export interface Ask {
  /** Hashes of the terms. A group has several where an unfinished word may become any of them. */
  groups: readonly (readonly number[])[];
  /** Hashes that the meaning is made of, as often as they occur. */
  meaning: readonly number[];
}

/** A whole task, and each of its steps. */
export interface Asked {
  whole: Ask;
  clauses: readonly Ask[];
}

/** The terms of a task; an unfinished word becomes a group of what it may be completed to. */
export function askedOf(
  { whole, clauses, unfinished }: ParsedQuery,
  parts: readonly { part: IndexPart }[],
  frequencies: Frequencies,
): Asked {
  const asked = { whole: askOf(whole), clauses: clauses.map(askOf) };
  if (unfinished === undefined) return asked;
  const own = hashOf(unfinished.term);
  const likely = completions(unfinished.plain, parts)
    .map((hash) => ({ hash, items: frequencies.itemsWith(hash) }))
    .filter(({ hash, items }) => hash !== own && items > 0)
    .sort((a, b) => b.items - a.items)
    .slice(0, maxCompletions)
    .map(({ hash }) => hash);
  if (likely.length === 0) return asked;
  const isKnown = frequencies.itemsWith(own) > 0;
  const complete = ({ groups, meaning }: Ask): Ask => ({
    groups: [...groups.filter(([hash]) => hash !== own), [own, ...likely]],
    meaning: isKnown ? meaning : [...meaning.filter((hash) => hash !== own), likely[0] as number],
  });
  const last = asked.clauses.at(-1);
  return {
    whole: complete(asked.whole),
    clauses: [...asked.clauses.slice(0, -1), ...(last === undefined ? [] : [complete(last)])],
  };
}

function askOf({ terms, allTerms }: ClauseTerms): Ask {
  return { groups: terms.map((term) => [hashOf(term)]), meaning: allTerms.map(hashOf) };
}

const maxCompletions = 16;
/** Words looked at per part: a prefix of two letters may have thousands. */
const maxWords = 256;

/** Hashes of the terms of all words that start so. */
function completions(prefix: string, parts: readonly { part: IndexPart }[]): number[] {
  const found = new Set<number>();
  for (const { part } of parts) {
    const { words, wordTerms } = part;
    let at = firstWord(words, prefix);
    for (const end = at + maxWords; at < end && words[at]?.startsWith(prefix); at += 1) {
      found.add(wordTerms[at] as number);
    }
  }
  return [...found];
}

function firstWord(words: readonly string[], prefix: string): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((words[middle] as string) < prefix) low = middle + 1;
    else high = middle;
  }
  return low;
}
