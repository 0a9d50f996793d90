import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError, runCommand } from "./command.ts";
import { type EmbeddedServer, startEmbedded } from "./embedded.ts";
import { measureIdeas } from "./eval/ideas.ts";
import { percentile, qualityOf } from "./eval/metrics.ts";
import { type CorpusTool, type Judged, readSet } from "./eval/queries.ts";
import { defaultScope, mintToken } from "./mint-token.ts";

const help = `
Usage: npm run eval:search -- DIR [--most N] [--ideas]

Loads DIR/corpus.ndjson ({id, server, name, description, inputSchema?}) into a registry of its own through the public
API, asks every task of DIR/queries.ndjson ({query, relevant: [id]}), and prints one line of JSON: hit1, hit5, recall10,
mrr, ndcg10, tokens_top5, tokens_all, p50_ms, p95_ms.
  --most N   only the first N tasks
  --ideas    instead, what each idea of the ranking is worth, one line each; in this process, without a server
`;

const tenant = "eval";
const publishedAtOnce = 4;
/** Enough for every measure, and what a page holds. */
const asked = 20;

const options = { most: { type: "string" }, ideas: { type: "boolean", default: false } } as const;
await runCommand({ help, options, takes: ["DIR"] }, async ({ most, ideas }, [directory = ""]) => {
  const { corpus, queries: all } = await readSet(directory);
  const count = most === undefined ? all.length : Number(most);
  if (!Number.isInteger(count) || count < 1) throw new CommandError("--most takes a whole number above 0.");
  const queries = all.slice(0, count);
  if (ideas) {
    for (const line of await measureIdeas(corpus, queries)) console.log(JSON.stringify(line));
    return;
  }
  const data = await mkdtemp(join(tmpdir(), "rollcall-eval-"));
  const vars = { READ_LIMIT: "100000/100000", WRITE_LIMIT: "100000/100000" };
  const server = await startEmbedded({ host: "127.0.0.1", port: 0, data, vars, quiet: true, onStep: console.error });
  try {
    console.log(JSON.stringify(await evaluate(await connect(server), corpus, queries)));
  } finally {
    await server.stop();
    await rm(data, { recursive: true, force: true });
  }
});

type Send = (method: string, path: string, body?: object) => Promise<{ data: Record<string, unknown> }>;

async function connect({ url, vars, data }: EmbeddedServer): Promise<Send> {
  const claims = { subject: "eval", tenants: [tenant], scope: defaultScope, admin: false, lifetime: 3_600 };
  const token = await mintToken(data.secret.value, vars, claims);
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new CommandError(`${method} ${path.slice(0, 200)}: ${response.status} ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };
}

async function evaluate(send: Send, corpus: readonly CorpusTool[], queries: readonly Judged[]) {
  const ids = await publish(send, corpus);
  const tokensOfAll = await totalTokens(send);
  const outcomes = [];
  const times: number[] = [];
  const costs: number[] = [];
  for (const [index, { query, relevant }] of queries.entries()) {
    const path = `/api/search?limit=${asked}&q=${encodeURIComponent(query)}`;
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

/** Publishes every tool, by server; answers which id is where. */
async function publish(send: Send, corpus: readonly CorpusTool[]): Promise<Map<string, string>> {
  const servers = new Map<string, CorpusTool[]>();
  for (const tool of corpus) servers.set(tool.server, [...(servers.get(tool.server) ?? []), tool]);
  const ids = new Map<string, string>();
  const left = [...servers].entries();
  let rejected = 0;
  const work = async () => {
    for (const [index, [title, tools]] of left) {
      // Servers may be called anything here, and have a plain name there.
      const name = nameOf(title, index);
      await send("POST", "/api/mcp/configs", { tenant, name, title });
      const items = tools.map(({ id: _, server: __, ...tool }) => tool);
      const { data } = await send("PUT", `/api/mcp/capabilities/${tenant}/${name}?partial=true`, { tools: items });
      rejected += (data.rejected as unknown[] | undefined)?.length ?? 0;
      for (const tool of tools) ids.set(`${name}/${tool.name}`, tool.id);
    }
  };
  await Promise.all(Array.from({ length: publishedAtOnce }, work));
  console.error(`${corpus.length} tools of ${servers.size} servers published, ${rejected} rejected`);
  return ids;
}

function nameOf(title: string, index: number): string {
  const plain = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 60);
  return `${plain || "server"}-${index}`;
}

/** What it would cost to read every definition. */
async function totalTokens(send: Send): Promise<number> {
  let sum = 0;
  for (let cursor = ""; ; ) {
    const { data } = await send("GET", `/api/catalog?facets=false&fields=tokens&limit=100${cursor}`);
    sum += (data.items as { tokens?: number }[]).reduce((total, { tokens = 0 }) => total + tokens, 0);
    if (data.nextCursor === undefined) return sum;
    cursor = `&cursor=${encodeURIComponent(String(data.nextCursor))}`;
  }
}
