import { parseQuery } from "../../src/search/query.ts";
import { rank } from "../../src/search/rank.ts";
import { indexOf, rankTools } from "./index.ts";
import { type Quality, qualityOf } from "./metrics.ts";
import type { CorpusTool, Judged } from "./queries.ts";

/** Results looked at for one task. */
const looked = 100;

/** What each idea of the ranking is worth, measured in this process, over the same index as a search has. */
export async function measureIdeas(corpus: readonly CorpusTool[], queries: readonly Judged[]) {
  const { kernel, vectors } = await rankTools();
  const servers = [...Map.groupBy(corpus, ({ server }) => server)].map(([title, tools]) => ({
    name: title,
    title,
    tools,
  }));
  const ids = servers.flatMap(({ tools }) => tools.map(({ id }) => id));
  const part = indexOf(servers, vectors);
  const measure = (byClause: boolean, table: typeof vectors | undefined): Quality =>
    qualityOf(
      queries.map(({ query, relevant }) => {
        const question = parseQuery(query);
        if (question === undefined) return { found: [], relevant };
        const asked = byClause ? question : { ...question, clauses: [question.whole] };
        const { ranked } = rank(asked, [{ part }], { kernel, vectors: table }, looked);
        return { found: ranked.map(({ place }) => ids[place] ?? ""), relevant };
      }),
    );
  return [
    { idea: "words", ...measure(false, undefined) },
    { idea: "words, clause by clause", ...measure(true, undefined) },
    { idea: "words and meaning", ...measure(false, vectors) },
    { idea: "words and meaning, clause by clause", ...measure(true, vectors) },
  ];
}
