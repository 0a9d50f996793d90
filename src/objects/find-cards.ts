import type { CapabilityCard, CardQuery } from "../domain/capability-card.ts";
import { hashOf, readBag } from "../domain/search/bag.ts";
import { nameTokenOf, tokenOf } from "../domain/search/item-words.ts";
import { type Ask, readQuestion } from "../domain/search/question.ts";
import { type Explanation, rank } from "../domain/search/rank.ts";
import { neighboursOf, type WordVectors } from "../domain/search/word-vectors.ts";
import { allOf, type CardCondition, type CardRow, cardOf, inOrder, oneOf } from "./card-index.ts";

/** A card with how well it serves what was asked, and why; nothing was asked where it has no explanation. */
export type RankedCard = CapabilityCard & { score: number; explanation?: Explanation };

/** What a search is made with. */
export interface Means {
  vectors: WordVectors | undefined;
  /** How many cards have each of these tokens; those that none has may be left out. */
  count: (sql: SqlStorage, tokens: readonly string[]) => Map<string, number>;
  /** Others than the usual only where search itself is measured. */
  bounds?: Bounds;
}

/**
 * The best first; where the text has nothing to look for, all of them in order. What a question costs is bounded whatever
 * the size of the index: the rarest terms of each clause lead to a few hundred candidates, and only those are weighed.
 */
export function findCards(
  sql: SqlStorage,
  { text, kinds, servers, limit }: CardQuery,
  conditions: readonly CardCondition[],
  { vectors, count, bounds = usualBounds }: Means,
): RankedCard[] {
  const all = allOf([
    ...(kinds === undefined ? [] : [oneOf("kind", kinds)]),
    ...(servers === undefined ? [] : [oneOf("server", servers)]),
    ...conditions,
  ]);
  const question = readQuestion(text);
  if (question === undefined) {
    const rows = sql.exec<CardRow>(
      `SELECT * FROM card WHERE ${all.where} ORDER BY ${inOrder} LIMIT ?`,
      ...all.values,
      limit,
    );
    return rows.toArray().map((row) => ({ ...cardOf(row), score: 0 }));
  }
  const near = Math.ceil(mostNear / question.clauses.length);
  const clauses = question.clauses.map((clause) => lookedFor(clause, near, vectors));
  const statistics = statisticsOf(sql, count, question.whole.terms, clauses.flat());
  const numbers = candidates(sql, clauses, all, limit, statistics, bounds);
  const items = sql
    .exec<{ number: number; bag: ArrayBuffer }>(
      `SELECT number, bag FROM card WHERE number IN (SELECT value FROM json_each(?)) ORDER BY ${inOrder}`,
      JSON.stringify(numbers),
    )
    .toArray()
    .map(({ number, bag }) => ({ number, bag: readBag(bag) }));
  return shown(sql, rank(question, items, statistics, vectors).slice(0, limit));
}

/** A term to look for: of the task itself, or near one of its terms in meaning. */
interface Wanted {
  hash: number;
  near?: true;
}

/** Of all clauses together: a long task says enough in its own words. */
const mostNear = 48;

function lookedFor({ terms }: Ask, most: number, vectors: WordVectors | undefined): Wanted[] {
  const own = new Set(terms.map(hashOf));
  const each = Math.ceil(most / own.size);
  const near = vectors === undefined ? [] : [...own].flatMap((hash) => neighboursOf(vectors, hash).slice(0, each));
  return [
    ...Array.from(own, (hash): Wanted => ({ hash })),
    ...[...new Set(near)].filter((hash) => !own.has(hash)).map((hash): Wanted => ({ hash, near: true })),
  ];
}

interface Statistics {
  documents: number;
  frequency(term: string): number;
  /** Of a token of the full-text index. */
  having(token: string): number;
}

export function statisticsOf(
  sql: SqlStorage,
  count: Means["count"],
  terms: readonly string[],
  more: readonly Wanted[] = [],
): Statistics {
  const wanted = [...more, ...terms.map((term): Wanted => ({ hash: hashOf(term) }))];
  const hashes = [...new Set(wanted.map(({ hash }) => hash))];
  const own = wanted.filter(({ near }) => near === undefined);
  const found = count(sql, [...hashes.map(tokenOf), ...own.map(({ hash }) => nameTokenOf(hash))]);
  const having = (token: string) => found.get(token) ?? 0;
  // The highest number rather than a count, which would read every row; numbers of dropped cards are used again.
  const { documents } = sql.exec<{ documents: number }>("SELECT coalesce(max(number), 0) AS documents FROM card").one();
  return { documents, having, frequency: (term) => having(tokenOf(hashOf(term))) };
}

export interface Bounds {
  /** How many places of terms one question looks at, all its clauses together. */
  postings: number;
  /** How many cards are weighed, at least and at most; in between, as many as are asked for. */
  fewest: number;
  most: number;
}

const usualBounds: Bounds = { postings: 2_000, fewest: 160, most: 1_000 };

/** The numbers of the cards worth weighing: for each clause those that have most of its rarer terms. */
function candidates(
  sql: SqlStorage,
  clauses: readonly Wanted[][],
  { where, values }: CardCondition,
  limit: number,
  statistics: Statistics,
  { postings, fewest, most }: Bounds,
): number[] {
  const wanted = Math.min(most, Math.max(fewest, limit));
  const share = Math.ceil(wanted / clauses.length);
  const places = Math.ceil(postings / clauses.length);
  const which = where === "1" ? "1" : `EXISTS (SELECT 1 FROM card WHERE card.number = hit.number AND ${where})`;
  const numbers = new Set<number>();
  for (const clause of clauses) {
    const { rare, common } = telling(clause, statistics, places);
    const best = sql.exec<{ number: number }>(
      `SELECT number FROM (
         SELECT card_text.rowid AS number, sum(asked.value ->> 1) AS weight
         FROM json_each(?) AS asked CROSS JOIN card_text ON card_text MATCH asked.value ->> 0 GROUP BY 1
       ) AS hit WHERE ${which} ORDER BY weight DESC, number LIMIT ?`,
      JSON.stringify(rare.map(({ token, worth }) => [token, worth])),
      ...values,
      share,
    );
    let found = 0;
    for (const { number } of best) {
      numbers.add(number);
      found += 1;
    }
    // Where rare terms lead to few, some of the many that have the least common of the others.
    if (common === undefined || found >= share) continue;
    const some = sql.exec<{ number: number }>(
      `SELECT number FROM (SELECT rowid AS number FROM card_text WHERE card_text MATCH ? LIMIT ?) AS hit WHERE ${which}
       LIMIT ?`,
      common.token,
      places,
      ...values,
      share - found,
    );
    for (const { number } of some) numbers.add(number);
  }
  return [...numbers];
}

/** What a term in the name adds: as much as it does in the weighing that follows. */
const nameBonus = 0.7;
/** What a term is worth that only means much the same. */
const nearWorth = 0.3;

interface Token {
  token: string;
  /** How many items have it. */
  places: number;
  worth: number;
}

/** The rarest tokens of a clause, as many as the postings allow, and the first of its own terms that is too common. */
function telling(
  clause: readonly Wanted[],
  { documents, having }: Statistics,
  postings: number,
): { rare: Token[]; common?: Token } {
  const tokens = clause.flatMap(({ hash, near }): (Token & { own: boolean })[] => {
    const places = having(tokenOf(hash));
    const worth = Math.log(1 + documents / (places + 1));
    if (near) return [{ token: tokenOf(hash), places, worth: nearWorth * worth, own: false }];
    const named = nameTokenOf(hash);
    return [
      { token: tokenOf(hash), places, worth, own: true },
      { token: named, places: having(named), worth: nameBonus * worth, own: false },
    ];
  });
  const rarest = tokens.filter(({ places }) => places > 0).sort((a, b) => a.places - b.places);
  let left = postings;
  const enough = rarest.findIndex(({ places }) => {
    left -= places;
    return left < 0;
  });
  if (enough === -1) return { rare: rarest };
  const common = rarest.slice(enough).find(({ own }) => own);
  return { rare: rarest.slice(0, enough), ...(common === undefined ? {} : { common }) };
}

/** The words to show are read for the few that are left, not for all that were weighed. */
function shown(
  sql: SqlStorage,
  ranked: readonly { item: { number: number }; score: number; explanation: Explanation }[],
): RankedCard[] {
  const rows = sql.exec<CardRow & { number: number }>(
    "SELECT * FROM card WHERE number IN (SELECT value FROM json_each(?))",
    JSON.stringify(ranked.map(({ item }) => item.number)),
  );
  const cards = new Map(rows.toArray().map((row) => [row.number, cardOf(row)]));
  return ranked.flatMap(({ item, score, explanation }) => {
    const card = cards.get(item.number);
    return card === undefined ? [] : [{ ...card, score, explanation }];
  });
}
