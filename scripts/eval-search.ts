import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError, runCommand } from "./command.ts";
import { startEmbedded } from "./embedded.ts";
import { measureIdeas } from "./eval/ideas.ts";
import { connect, loadCorpus, type Send, totalTokens } from "./eval/load.ts";
import { percentile, qualityOf } from "./eval/metrics.ts";
import { type CorpusTool, type Judged, readCatalogue, readSet } from "./eval/queries.ts";

const help = `
Usage: npm run eval:search -- DIR [--among FILE] [--most N] [--ideas]

Loads DIR/corpus.ndjson ({id, server, name, description, inputSchema?}) into a registry of its own through the public
API, asks every task of DIR/queries.ndjson ({query, relevant: [id]}), and prints one line of JSON: hit1, hit5, recall10,
mrr, ndcg10, tokens_top5, tokens_all, p50_ms, p95_ms.
  --among FILE  loads a catalogue as well, one server a line ({identifier, server: {name}, tools}), gzipped or not: how
             well the set's tools are found among all others
  --most N   only the first N tasks
  --ideas    instead, what each idea of the ranking is worth, one line each; in this process, without a server
`;

/** Enough for every measure, and what a page holds. */
const asked = 20;

const options = {
  among: { type: "string" },
  most: { type: "string" },
  ideas: { type: "boolean", default: false },
} as const;
await runCommand({ help, options, takes: ["DIR"] }, async ({ among, most, ideas }, [directory = ""]) => {
  const { corpus: judged, queries: all } = await readSet(directory);
  const corpus = among === undefined ? judged : [...judged, ...(await readCatalogue(among))];
  const count = most === undefined ? all.length : Number(most);
  if (!Number.isInteger(count) || count < 1) throw new CommandError("--most takes a whole number above 0.");
  const queries = all.slice(0, count);
  if (ideas) {
    for (const line of await measureIdeas(corpus, queries)) console.log(JSON.stringify(line));
    return;
  }
  const data = await mkdtemp(join(tmpdir(), "rollcall-eval-"));
  const vars = {
    READ_LIMIT: "100000/100000",
    WRITE_LIMIT: "100000/100000",
    SEARCH_LIMIT: "100000/100000",
    WORK_LIMIT: "1000000/1000000000",
  };
  const server = await startEmbedded({ host: "127.0.0.1", port: 0, data, vars, quiet: true, onStep: console.error });
  try {
    console.log(JSON.stringify(await evaluate(await connect(server), corpus, queries)));
  } finally {
    await server.stop();
    await rm(data, { recursive: true, force: true });
  }
});

async function evaluate(send: Send, corpus: readonly CorpusTool[], queries: readonly Judged[]) {
  const ids = await loadCorpus(send, corpus);
  const tokensOfAll = await totalTokens(send);
  const outcomes = [];
  const times: number[] = [];
  const costs: number[] = [];
  for (const [index, { query, relevant }] of queries.entries()) {
    const path = `/api/search?limit=${asked}&task=${encodeURIComponent(query)}`;
    const start = performance.now();
    const { data } = await send("GET", path);
    times.push(performance.now() - start);
    const items = data.items as { server: string; name: string; tokens: number }[];
    outcomes.push({ found: items.map(({ server, name }) => ids.get(`${server}/${name}`) ?? ""), relevant });
    costs.push(items.slice(0, 5).reduce((sum, { tokens }) => sum + tokens, 0));
    if ((index + 1) % 500 === 0) console.error(`${index + 1} of ${queries.length} tasks`);
  }
  return {
    ...qualityOf(outcomes),
    tokens_top5: Math.round(costs.reduce((sum, cost) => sum + cost, 0) / Math.max(1, costs.length)),
    tokens_all: tokensOfAll,
    p50_ms: Number(percentile(times, 0.5).toFixed(2)),
    p95_ms: Number(percentile(times, 0.95).toFixed(2)),
  };
}
