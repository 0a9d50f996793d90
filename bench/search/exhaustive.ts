import { parseQuery } from "../../src/search/query.ts";
import { rank, type Weighable } from "../../src/search/rank.ts";
import { statisticsOf } from "../../src/search/sql/candidates.ts";
import { termCounts } from "../../src/search/sql/term-counts.ts";
import { readTermWeights } from "../../src/search/term-weights.ts";
import { vectorOfItem, type WordVectors } from "../../src/search/word-vectors.ts";

/** The same scoring with no bound at all: every item of the index is weighed for every task. */
export function exhaustiveSearch(sql: SqlStorage, vectors: WordVectors): (text: string, limit: number) => string[] {
  const rows = sql.exec<{ place: string; bag: ArrayBuffer }>(
    "SELECT server || '/' || key AS place, bag FROM card ORDER BY tenant, server, kind, key",
  );
  const items = rows.toArray().map(({ place, bag: packed }): Weighable & { place: string } => {
    const bag = readTermWeights(packed);
    return { place, bag, meaning: vectorOfItem(vectors, bag) };
  });
  return (text, limit) => {
    const question = parseQuery(text);
    if (question === undefined) return [];
    const ranked = rank(question, items, statisticsOf(sql, termCounts, question.whole.terms), vectors);
    return ranked.slice(0, limit).map(({ item }) => item.place);
  };
}
