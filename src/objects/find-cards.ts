import type { CapabilityCard, CardQuery } from "../domain/capability-card.ts";
import { hashOf, readBag } from "../domain/search/bag.ts";
import { nameTokenOf, tokenOf } from "../domain/search/item-words.ts";
import { type Ask, readQuestion } from "../domain/search/question.ts";
import { type Explanation, rank } from "../domain/search/rank.ts";
import { neighboursOf, type WordVectors } from "../domain/search/word-vectors.ts";
import { allOf, type CardCondition, type CardRow, cardOf, inOrder, oneOf } from "./card-index.ts";

/** A card with how well it serves what was asked, and why; nothing was asked where it has no explanation. */
export type RankedCard = CapabilityCard & { score: number; explanation?: Explanation };

/**
 * The best first; where the text has nothing to look for, all of them in order. What a question costs is bounded whatever
 * the size of the index: the rarest terms of each clause lead to a few hundred candidates, and only those are weighed.
 */
export function findCards(
  sql: SqlStorage,
  { text, kinds, limit }: CardQuery,
  conditions: readonly CardCondition[],
  vectors: WordVectors | undefined,
): RankedCard[] {
  const all = allOf([...(kinds === undefined ? [] : [oneOf("kind", kinds)]), ...conditions]);
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
  const statistics = statisticsOf(sql, [
    ...clauses.flat(),
    ...question.whole.terms.map((term) => ({ hash: hashOf(term) })),
  ]);
  const numbers = candidates(sql, clauses, all, limit, statistics);
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
  /** The same by hash. */
  having(hash: number): number;
}

function statisticsOf(sql: SqlStorage, wanted: readonly Wanted[]): Statistics {
  const hashes = [...new Set(wanted.map(({ hash }) => hash))];
  const rows = sql.exec<{ term: string; doc: number }>(
    "SELECT term, doc FROM card_vocabulary WHERE term IN (SELECT value FROM json_each(?))",
    JSON.stringify(hashes.map(tokenOf)),
  );
  const found = new Map(rows.toArray().map(({ term, doc }) => [term, doc]));
  const having = (hash: number) => found.get(tokenOf(hash)) ?? 0;
  // The highest number rather than a count, which would read every row; numbers of dropped cards are used again.
  const { documents } = sql.exec<{ documents: number }>("SELECT coalesce(max(number), 0) AS documents FROM card").one();
  return { documents, having, frequency: (term) => having(hashOf(term)) };
}

/** How many places of terms one question looks at, all its clauses together. */
const mostPostings = 2_000;
const fewestCandidates = 160;
const mostCandidates = 1_000;

/** The numbers of the cards worth weighing: for each clause those that have most of its rarer terms. */
function candidates(
  sql: SqlStorage,
  clauses: readonly Wanted[][],
  { where, values }: CardCondition,
  limit: number,
  statistics: Statistics,
): number[] {
  const wanted = Math.min(mostCandidates, Math.max(fewestCandidates, limit));
  const share = Math.ceil(wanted / clauses.length);
  const numbers = new Set<number>();
  for (const clause of clauses) {
    const tokens = telling(clause, statistics, mostPostings / clauses.length);
    if (tokens.length === 0) continue;
    const rows = sql.exec<{ number: number }>(
      `SELECT number FROM (
         SELECT card_text.rowid AS number, sum(asked.value ->> 1) AS weight
         FROM json_each(?) AS asked CROSS JOIN card_text ON card_text MATCH asked.value ->> 0 GROUP BY 1
       ) AS hit
       WHERE ${where === "1" ? "1" : `EXISTS (SELECT 1 FROM card WHERE card.number = hit.number AND ${where})`}
       ORDER BY weight DESC, number LIMIT ?`,
      JSON.stringify(tokens),
      ...values,
      share,
    );
    for (const { number } of rows) numbers.add(number);
  }
  return [...numbers];
}

/** What a term in the name adds: as much as it does in the weighing that follows. */
const nameBonus = 0.7;
/** How many of the items that have a term have it in their name: guessed, which is cheaper than to look it up. */
const inName = 0.25;
/** What a term is worth that only means much the same. */
const nearWorth = 0.3;

/** The rarest tokens of a clause with what each is worth, as many as the postings allow; the rarest one in any case. */
function telling(
  clause: readonly Wanted[],
  { documents, having }: Statistics,
  postings: number,
): [token: string, worth: number][] {
  const tokens = clause.flatMap(({ hash, near }) => {
    const places = having(hash);
    if (places === 0) return [];
    const worth = Math.log(1 + documents / (places + 1));
    if (near) return [{ token: tokenOf(hash), places, worth: nearWorth * worth }];
    return [
      { token: tokenOf(hash), places, worth },
      { token: nameTokenOf(hash), places: Math.ceil(places * inName), worth: nameBonus * worth },
    ];
  });
  const rarest = tokens.sort((a, b) => a.places - b.places);
  let left = postings;
  const chosen = rarest.filter(({ places }, index) => {
    left -= places;
    return left >= 0 || index === 0;
  });
  return chosen.map(({ token, worth }) => [token, worth]);
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
