import { nameTokenOf, tokenOf } from "../item-terms.ts";
import type { ClauseTerms } from "../query.ts";
import { hashOf, readTermWeights } from "../term-weights.ts";
import { neighboursOf, type WordVectors } from "../word-vectors.ts";
import type { CardCondition } from "./card-table.ts";
import { Postings, type ScoredToken } from "./postings.ts";

/** A term to search for: from the query itself, or a synonym of one of its terms (`near`). */
interface WantedTerm {
  hash: number;
  near?: true;
}

/** For all clauses together: a long query has enough terms of its own. */
const maxSynonyms = 48;

/** The terms of each clause and their synonyms. */
export function expandTerms(clauses: readonly ClauseTerms[], vectors: WordVectors | undefined): WantedTerm[][] {
  const near = Math.ceil(maxSynonyms / clauses.length);
  return clauses.map((clause) => expandClause(clause, near, vectors));
}

function expandClause({ terms }: ClauseTerms, most: number, vectors: WordVectors | undefined): WantedTerm[] {
  const own = new Set(terms.map(hashOf));
  const each = Math.ceil(most / own.size);
  const near = vectors === undefined ? [] : [...own].flatMap((hash) => neighboursOf(vectors, hash).slice(0, each));
  return [
    ...Array.from(own, (hash): WantedTerm => ({ hash })),
    ...[...new Set(near)].filter((hash) => !own.has(hash)).map((hash): WantedTerm => ({ hash, near: true })),
  ];
}

interface Statistics {
  documents: number;
  frequency(term: string): number;
  /** Number of cards that contain a token of the full-text index. */
  documentCount(token: string): number;
}

/** Number of cards that contain each token. Tokens that no card contains may be missing. */
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
  // The highest card number instead of count(*), which would read every row. After many deletions it is too high, which
  // raises the weight of all terms alike and hardly affects their order.
  const { documents } = sql.exec<{ documents: number }>("SELECT coalesce(max(number), 0) AS documents FROM card").one();
  return { documents, documentCount, frequency: (term) => documentCount(tokenOf(hashOf(term))) };
}

export interface Bounds {
  /** Postings read for one query, all clauses together. */
  postings: number;
  /** Minimum and maximum number of candidates to score; in between, the limit of the query. */
  fewest: number;
  most: number;
}

export const defaultBounds: Bounds = { postings: 20_000, fewest: 320, most: 1_000 };

/** Numbers of the cards to score: for each clause, the cards with the highest total weight of its rare terms. */
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
  // A small filtered set is checked card by card, so that no card is missed because its terms are common elsewhere.
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
    // If rare terms find too few cards, add some of those that contain the least common of the remaining terms.
    if (common !== undefined && found.length < share) found.push(...fitting(cardsWithToken(sql, common.token)));
    for (const number of found.slice(0, share)) numbers.add(number);
  }
  return [...numbers];
}

/** Cards read for a term that exceeds the postings budget. */
const maxCardsOfCommonTerm = 2_000;

function cardsWithToken(sql: SqlStorage, token: string): number[] {
  return sql
    .exec<{ number: number }>(
      "SELECT rowid AS number FROM card_text WHERE card_text MATCH ? LIMIT ?",
      token,
      maxCardsOfCommonTerm,
    )
    .toArray()
    .map(({ number }) => number);
}

/** If a condition matches more cards than this, candidates are filtered with SQL instead of a set in memory. */
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

/** Extra weight of a term in the name: as much as it adds in ranking. */
const nameBonus = 0.7;
/** Weight factor of a synonym. */
const synonymWeight = 0.3;

interface Token extends ScoredToken {
  /** Number of cards that contain the token. */
  places: number;
}

/** The rarest tokens of a clause, up to the postings budget, and the first of its own terms that exceeds the budget. */
function rareTokens(
  clause: readonly WantedTerm[],
  { documents, documentCount }: Statistics,
  postings: number,
): { rare: Token[]; common?: Token } {
  const tokens = clause.flatMap(({ hash, near }): (Token & { own?: true; near?: true })[] => {
    const places = documentCount(tokenOf(hash));
    const worth = Math.log(1 + documents / (places + 1));
    if (near) return [{ token: tokenOf(hash), places, worth: synonymWeight * worth, near }];
    const named = nameTokenOf(hash);
    return [
      { token: tokenOf(hash), places, worth, own: true },
      { token: named, places: documentCount(named), worth: nameBonus * worth },
    ];
  });
  // Synonyms come last, so that they do not use up the postings budget of the query's own terms.
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
