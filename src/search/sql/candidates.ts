import { nameTokenOf, tokenOf } from "../item-terms.ts";
import type { ClauseTerms } from "../query.ts";
import { hashOf, readTermWeights } from "../term-weights.ts";
import { neighboursOf, type WordVectors } from "../word-vectors.ts";
import type { CardCondition } from "./card-table.ts";
import { Postings, type ScoredToken } from "./postings.ts";

/** A term to look for: of the task itself, or near one of its terms in meaning. */
export interface WantedTerm {
  hash: number;
  near?: true;
}

/** Of all clauses together: a long task says enough in its own words. */
const maxSynonyms = 48;

/** For each clause, its own terms and those near them. */
export function expandTerms(clauses: readonly ClauseTerms[], vectors: WordVectors | undefined): WantedTerm[][] {
  const near = Math.ceil(maxSynonyms / clauses.length);
  return clauses.map((clause) => lookedForIn(clause, near, vectors));
}

function lookedForIn({ terms }: ClauseTerms, most: number, vectors: WordVectors | undefined): WantedTerm[] {
  const own = new Set(terms.map(hashOf));
  const each = Math.ceil(most / own.size);
  const near = vectors === undefined ? [] : [...own].flatMap((hash) => neighboursOf(vectors, hash).slice(0, each));
  return [
    ...Array.from(own, (hash): WantedTerm => ({ hash })),
    ...[...new Set(near)].filter((hash) => !own.has(hash)).map((hash): WantedTerm => ({ hash, near: true })),
  ];
}

export interface Statistics {
  documents: number;
  frequency(term: string): number;
  /** Of a token of the full-text index. */
  documentCount(token: string): number;
}

/** How many cards have each of these tokens; those that none has may be left out. */
export type CountTokens = (sql: SqlStorage, tokens: readonly string[]) => Map<string, number>;

export function statisticsOf(
  sql: SqlStorage,
  count: CountTokens,
  terms: readonly string[],
  more: readonly WantedTerm[] = [],
): Statistics {
  const wanted = [...more, ...terms.map((term): WantedTerm => ({ hash: hashOf(term) }))];
  const hashes = [...new Set(wanted.map(({ hash }) => hash))];
  const own = wanted.filter(({ near }) => near === undefined);
  const found = count(sql, [...hashes.map(tokenOf), ...own.map(({ hash }) => nameTokenOf(hash))]);
  const documentCount = (token: string) => found.get(token) ?? 0;
  // The highest number rather than a count, which would read every row. Where many were dropped it is too high, which
  // raises what all terms are worth and hardly moves one against another.
  const { documents } = sql.exec<{ documents: number }>("SELECT coalesce(max(number), 0) AS documents FROM card").one();
  return { documents, documentCount, frequency: (term) => documentCount(tokenOf(hashOf(term))) };
}

export interface Bounds {
  /** How many places of terms one question looks at, all its clauses together. */
  postings: number;
  /** How many cards are weighed, at least and at most; in between, as many as are asked for. */
  fewest: number;
  most: number;
}

export const usualBounds: Bounds = { postings: 20_000, fewest: 320, most: 1_000 };

/** The numbers of the cards worth weighing: for each clause those that have most of its rarer terms. */
export function candidates(
  sql: SqlStorage,
  clauses: readonly WantedTerm[][],
  condition: CardCondition,
  limit: number,
  statistics: Statistics,
  { postings, fewest, most }: Bounds,
): number[] {
  const wanted = Math.min(most, Math.max(fewest, limit));
  const share = Math.ceil(wanted / clauses.length);
  const places = Math.ceil(postings / clauses.length);
  const few = condition.indexed ? smallFilteredSet(sql, condition) : undefined;
  // So few are looked at themselves: however common a term is elsewhere, none that has it is missed.
  if (few !== undefined && few.size <= wanted) return withAnyTerm(sql, [...few], clauses.flat());
  const fitting = (some: readonly number[]) =>
    few === undefined ? filterCards(sql, some, condition) : some.filter((number) => few.has(number));
  const numbers = new Set<number>();
  for (const clause of clauses) {
    const { rare, common } = rareTokens(clause, statistics, places);
    const found: number[] = [];
    for (const part of new Postings(sql, rare, statistics.documents).best(share)) {
      found.push(...fitting(part));
      if (found.length >= share) break;
    }
    // Where rare terms lead to few, some of the many that have the least common of the others.
    if (common !== undefined && found.length < share) found.push(...fitting(some(sql, common.token)));
    for (const number of found.slice(0, share)) numbers.add(number);
  }
  return [...numbers];
}

/** Looked at where no term is rare. */
const maxPerTenant = 2_000;

function some(sql: SqlStorage, token: string): number[] {
  return sql
    .exec<{ number: number }>(
      "SELECT rowid AS number FROM card_text WHERE card_text MATCH ? LIMIT ?",
      token,
      maxPerTenant,
    )
    .toArray()
    .map(({ number }) => number);
}

/** Where a condition leaves more than this, cards are looked at one by one. */
const maxSmallSet = 5_000;

function smallFilteredSet(sql: SqlStorage, { where, values }: CardCondition): Set<number> | undefined {
  const rows = sql.exec<{ number: number }>(
    `SELECT number FROM card WHERE ${where} LIMIT ?`,
    ...values,
    maxSmallSet + 1,
  );
  const numbers = new Set(rows.toArray().map(({ number }) => number));
  return numbers.size > maxSmallSet ? undefined : numbers;
}

function withAnyTerm(sql: SqlStorage, numbers: readonly number[], wanted: readonly WantedTerm[]): number[] {
  const hashes = new Set(wanted.map(({ hash }) => hash));
  const rows = sql.exec<{ number: number; bag: ArrayBuffer }>(
    "SELECT number, bag FROM card WHERE number IN (SELECT value FROM json_each(?))",
    JSON.stringify(numbers),
  );
  return rows
    .toArray()
    .filter(({ bag }) => readTermWeights(bag).hashes.some((hash) => hashes.has(hash)))
    .map(({ number }) => number);
}

function filterCards(sql: SqlStorage, numbers: readonly number[], { where, values }: CardCondition): readonly number[] {
  if (where === "1") return numbers;
  return sql
    .exec<{ number: number }>(
      `SELECT number FROM card WHERE number IN (SELECT value FROM json_each(?)) AND ${where}`,
      JSON.stringify(numbers),
      ...values,
    )
    .toArray()
    .map(({ number }) => number);
}

/** What a term in the name adds: as much as it does in the weighing that follows. */
const nameBonus = 0.7;
/** What a term is worth that only means much the same. */
const nearWorth = 0.3;

interface Token extends ScoredToken {
  /** How many items have it. */
  places: number;
}

/** The rarest tokens of a clause, as many as the postings allow, and the first of its own terms that is too common. */
function rareTokens(
  clause: readonly WantedTerm[],
  { documents, documentCount }: Statistics,
  postings: number,
): { rare: Token[]; common?: Token } {
  const tokens = clause.flatMap(({ hash, near }): (Token & { own?: true; near?: true })[] => {
    const places = documentCount(tokenOf(hash));
    const worth = Math.log(1 + documents / (places + 1));
    if (near) return [{ token: tokenOf(hash), places, worth: nearWorth * worth, near }];
    const named = nameTokenOf(hash);
    return [
      { token: tokenOf(hash), places, worth, own: true },
      { token: named, places: documentCount(named), worth: nameBonus * worth },
    ];
  });
  // What only means much the same comes last: it must not take the places that the task's own words need.
  const rarest = tokens
    .filter(({ places }) => places > 0)
    .sort((a, b) => Number(a.near ?? 0) - Number(b.near ?? 0) || a.places - b.places);
  let left = postings;
  const enough = rarest.findIndex(({ places }) => {
    left -= places;
    return left < 0;
  });
  if (enough === -1) return { rare: rarest };
  const common = rarest.slice(enough).find(({ own }) => own);
  return { rare: rarest.slice(0, enough), common };
}
