import type { CardQuery, RankedCard } from "../contract.ts";
import { parseQuery } from "../query.ts";
import { type Explanation, rank } from "../rank.ts";
import { readTermWeights } from "../term-weights.ts";
import type { WordVectors } from "../word-vectors.ts";
import { type Bounds, type CountTokens, candidates, expandTerms, statisticsOf, usualBounds } from "./candidates.ts";
import { allOf, type CardCondition, type CardRow, cardOf, inOrder, oneOf } from "./card-table.ts";

/** What a search is made with. */
export interface RankContext {
  vectors: WordVectors | undefined;
  count: CountTokens;
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
  { vectors, count, bounds = usualBounds }: RankContext,
): RankedCard[] {
  const all = allOf([
    ...(kinds === undefined ? [] : [oneOf("kind", kinds)]),
    ...(servers === undefined ? [] : [oneOf("server", servers)]),
    ...conditions,
  ]);
  const question = parseQuery(text);
  if (question === undefined) {
    const rows = sql.exec<CardRow>(
      `SELECT * FROM card WHERE ${all.where} ORDER BY ${inOrder} LIMIT ?`,
      ...all.values,
      limit,
    );
    return rows.toArray().map((row) => ({ ...cardOf(row), score: 0 }));
  }
  const clauses = expandTerms(question.clauses, vectors);
  const statistics = statisticsOf(sql, count, question.whole.terms, clauses.flat());
  const numbers = candidates(sql, clauses, all, limit, statistics, bounds);
  const items = sql
    .exec<{ number: number; bag: ArrayBuffer }>(
      `SELECT number, bag FROM card WHERE number IN (SELECT value FROM json_each(?)) ORDER BY ${inOrder}`,
      JSON.stringify(numbers),
    )
    .toArray()
    .map(({ number, bag }) => ({ number, bag: readTermWeights(bag) }));
  return shown(sql, rank(question, items, statistics, vectors).slice(0, limit));
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
