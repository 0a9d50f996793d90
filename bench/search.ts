import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { CommandError, runCommand } from "../cli/command.ts";
import { startEmbedded } from "../cli/embedded.ts";
import { connect, loadCorpus, type Send, totalTokens } from "../cli/eval/load.ts";
import { percentile } from "../cli/eval/metrics.ts";
import type { CorpusTool } from "../cli/eval/queries.ts";

const help = `
Usage: npm run bench:search -- CATALOG [--tasks N]

Loads a catalogue of servers (one JSON object a line, with "identifier" and "tools", gzipped or not) into one registry
and the first tenth of it into another, asks both the same tasks in turn, and prints what a search costs in each, the
ratio of the two, and how many tokens its first five results take of all that is registered.
  --tasks N   how many (default 300), each the first sentence of what some tool says of itself
`;

const options = { tasks: { type: "string", default: "300" } } as const;
await runCommand({ help, options, takes: ["CATALOG"] }, async ({ tasks: wanted }, [file = ""]) => {
  const corpus = await readCatalogue(file);
  const tasks = tasksFrom(corpus, Number(wanted));
  const [tenth, whole] = [await start(corpus.slice(0, Math.ceil(corpus.length / 10))), await start(corpus)];
  try {
    const times = { tenth: [] as number[], whole: [] as number[] };
    const costs: number[] = [];
    // Once without counting: both warm, and with their tables read.
    for (const round of ["warm", "counted"]) {
      for (const task of tasks) {
        const few = await ask(tenth.send, task);
        const all = await ask(whole.send, task);
        if (round === "warm") continue;
        times.tenth.push(few.ms);
        times.whole.push(all.ms);
        costs.push(all.tokens);
      }
    }
    const total = await totalTokens(whole.send);
    const top5 = costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
    const figures = (values: number[]) => ({
      p50_ms: Number(percentile(values, 0.5).toFixed(2)),
      p95_ms: Number(percentile(values, 0.95).toFixed(2)),
    });
    console.log(
      JSON.stringify({
        tools: corpus.length,
        tasks: tasks.length,
        tenth: figures(times.tenth),
        whole: figures(times.whole),
        p95_ratio: Number((percentile(times.whole, 0.95) / percentile(times.tenth, 0.95)).toFixed(2)),
        tokens_all: total,
        tokens_top5: Math.round(top5),
        tokens_share: Number((top5 / total).toFixed(6)),
      }),
    );
  } finally {
    await tenth.stop();
    await whole.stop();
  }
});

async function readCatalogue(file: string): Promise<CorpusTool[]> {
  const bytes = await readFile(file).catch(() => {
    throw new CommandError(`There is no ${file} to read.`);
  });
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const servers = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { identifier: string; tools?: Omit<CorpusTool, "id" | "server">[] });
  return servers.flatMap(({ identifier: server, tools = [] }) =>
    tools.map((tool) => ({ ...tool, server, id: `${server} ${tool.name}` })),
  );
}

/** From all over the catalogue, so that some are about its first tenth and most are not. */
function tasksFrom(corpus: readonly CorpusTool[], count: number): string[] {
  const said = corpus.map(({ description = "" }) => description.split(/[.\n]/)[0]?.trim() ?? "");
  const telling = said.filter((text) => text.length >= 20 && text.length <= 300);
  const step = Math.max(1, Math.floor(telling.length / count));
  return telling.filter((_, index) => index % step === 0).slice(0, count);
}

async function start(corpus: readonly CorpusTool[]) {
  const data = await mkdtemp(join(tmpdir(), "rollcall-search-"));
  const vars = { READ_LIMIT: "100000/100000", WRITE_LIMIT: "100000/100000" };
  const server = await startEmbedded({ host: "127.0.0.1", port: 0, data, vars, quiet: true, onStep: console.error });
  const stop = async () => {
    await server.stop();
    await rm(data, { recursive: true, force: true });
  };
  const send = await connect(server);
  await loadCorpus(send, corpus);
  return { send, stop };
}

async function ask(send: Send, task: string): Promise<{ ms: number; tokens: number }> {
  const start = performance.now();
  const { data } = await send("GET", `/api/search?limit=5&q=${encodeURIComponent(task)}`);
  const items = data.items as { tokens: number }[];
  return { ms: performance.now() - start, tokens: items.reduce((sum, { tokens }) => sum + tokens, 0) };
}
