import { readFile } from "node:fs/promises";
import { itemTermWeights } from "../../src/search/item-terms.ts";
import { parseQuery } from "../../src/search/query.ts";
import { rank } from "../../src/search/rank.ts";
import { hashOf, readTermWeights } from "../../src/search/term-weights.ts";
import { readVectors } from "../../src/search/word-vectors.ts";
import { projectPath } from "../project.ts";
import { type Quality, qualityOf } from "./metrics.ts";
import type { CorpusTool, Judged } from "./queries.ts";

/**
 * What each idea of the ranking is worth, measured in this process over all items: no index, no bounds, so that also
 * shows what the bounds of the real search lose.
 */
export async function measureIdeas(corpus: readonly CorpusTool[], queries: readonly Judged[]) {
  const bytes = await readFile(projectPath("assets/word-vectors.bin"));
  const table = readVectors(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const items = corpus.map((tool) => {
    const bag = itemTermWeights({ key: tool.name, declared: { ...tool } }, { name: tool.server });
    return { id: tool.id, bag: readTermWeights(bag) };
  });
  const having = new Map<number, number>();
  for (const { bag } of items) for (const hash of bag.hashes) having.set(hash, (having.get(hash) ?? 0) + 1);
  const statistics = { documents: items.length, frequency: (term: string) => having.get(hashOf(term)) ?? 0 };

  const measure = (byClause: boolean, vectors: typeof table): Quality =>
    qualityOf(
      queries.map(({ query, relevant }) => {
        const question = parseQuery(query);
        if (question === undefined) return { found: [], relevant };
        const asked = byClause ? question : { ...question, clauses: [question.whole] };
        return { found: rank(asked, items, statistics, vectors).map(({ item }) => item.id), relevant };
      }),
    );
  return [
    { idea: "words", ...measure(false, undefined) },
    { idea: "words, clause by clause", ...measure(true, undefined) },
    { idea: "words and meaning", ...measure(false, table) },
    { idea: "words and meaning, clause by clause", ...measure(true, table) },
  ];
}
