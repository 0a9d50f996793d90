import type { CardQuery, RankedCard, StoredCard } from "../contract.ts";
import { parseQuery } from "../query.ts";
import { type Explanation, rank } from "../rank.ts";
import { readTermWeights } from "../term-weights.ts";
import type { WordVectors } from "../word-vectors.ts";
import { type Bounds, type CountTokens, candidates, defaultBounds, expandTerms, statisticsOf } from "./candidates.ts";
import { allOf, type CardCondition, type CardRow, cardOf, inOrder, oneOf } from "./card-table.ts";

export type StoredRankedCard = StoredCard & Pick<RankedCard, "score" | "explanation">;

interface RankContext {
  vectors: WordVectors | undefined;
  count: CountTokens;
  /** Overridden only when search itself is measured. */
  bounds?: Bounds;
}

/**
 * Cards for a query, best match first; in fixed order if the text has no search terms. The cost is bounded for any
 * index size: the rarest terms of each clause select a few hundred candidates, and only candidates are scored.
 */
export function findCards(
  sql: SqlStorage,
  { text, kinds, servers, limit }: CardQuery,
  conditions: readonly CardCondition[],
  { vectors, count, bounds = defaultBounds }: RankContext,
): StoredRankedCard[] {
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
  return readRankedCards(sql, rank(question, items, statistics, vectors).slice(0, limit));
}

/** Reads the shown fields for the final results only, not for all candidates. */
function readRankedCards(
  sql: SqlStorage,
  ranked: readonly { item: { number: number }; score: number; explanation: Explanation }[],
): StoredRankedCard[] {
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
