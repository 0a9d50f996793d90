import { readBag } from "../../src/domain/search/bag.ts";
import { readQuestion } from "../../src/domain/search/question.ts";
import { rank, type Weighable } from "../../src/domain/search/rank.ts";
import { meaningOfBag, type WordVectors } from "../../src/domain/search/word-vectors.ts";
import { statisticsOf } from "../../src/objects/card-candidates.ts";
import { termCounts } from "../../src/objects/directory/term-counts.ts";

/** The same scoring with no bound at all: every item of the index is weighed for every task. */
export function exhaustiveSearch(sql: SqlStorage, vectors: WordVectors): (text: string, limit: number) => string[] {
  const rows = sql.exec<{ place: string; bag: ArrayBuffer }>(
    "SELECT server || '/' || key AS place, bag FROM card ORDER BY tenant, server, kind, key",
  );
  const items = rows.toArray().map(({ place, bag: packed }): Weighable & { place: string } => {
    const bag = readBag(packed);
    return { place, bag, meaning: meaningOfBag(vectors, bag) };
  });
  return (text, limit) => {
    const question = readQuestion(text);
    if (question === undefined) return [];
    const ranked = rank(question, items, statisticsOf(sql, termCounts, question.whole.terms), vectors);
    return ranked.slice(0, limit).map(({ item }) => item.place);
  };
}
