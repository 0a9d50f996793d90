import { runCommand, UsageError } from "../scripts/command.ts";
import { totalTokens } from "../scripts/eval/load.ts";
import { percentile } from "../scripts/eval/metrics.ts";
import { catalogueOf } from "./corpus/catalogue.ts";
import { realServers } from "./corpus/real-servers.ts";
import { fillRegistries } from "./corpus/registries.ts";
import { readCount, readSizes } from "./corpus/sizes.ts";
import { requireDirectory } from "./harness/output.ts";
import { prepare, startTarget, type Target } from "./harness/target.ts";
import { keptOrScratch } from "./scratch.ts";
import { judgedSet, remembered, sample, type Task } from "./search/judged.ts";
import { measureQuality } from "./search/quality.ts";

const help = `
Usage: npm run bench:search [-- --sizes 1000,10000,100000] [--tasks N] [--data DIR] [--only speed|quality]

Loads catalogues of these sizes through the public API (real servers first, then derived ones) and asks all of them the
same tasks in turn: what a search costs at each size, and how many tokens its first five results take of all that is
registered. Then, in this process, over the same catalogues with judged tools in front: how often a right answer is among
the first five, what ranking all items costs, and how much memory the index takes.
  --sizes    from the smallest (default 1000,10000,100000)
  --tasks N  of each kind (default 100): tools' own words with two of five left out, and two public sets where installed
  --data DIR keeps what was loaded, and uses it again
  --only     one of the two halves
`;

const options = {
  sizes: { type: "string", default: "1000,10000,100000" },
  tasks: { type: "string", default: "100" },
  data: { type: "string" },
  only: { type: "string" },
} as const;

await runCommand({ help, options }, async ({ sizes: wanted, tasks: each, data: kept, only }) => {
  const sizes = readSizes("--sizes", wanted);
  const count = readCount("--tasks", each);
  if (only !== undefined && only !== "speed" && only !== "quality")
    throw new UsageError("--only takes speed or quality.");
  if (kept !== undefined) await requireDirectory("--data", kept);
  const directory = await keptOrScratch(kept, "search");
  const real = await realServers();
  const sets = [await judgedSet("metatool"), await judgedSet("sealtools")];
  const own = remembered([...catalogueOf(real, Math.ceil((sizes[0] ?? 1) / 2))], count);
  const tasks = [own, ...sets.map(({ tasks }) => sample(tasks, count))].flat();
  try {
    const figures: Record<string, unknown> = {};
    if (only !== "quality") {
      const filled = await fillRegistries(directory.path, real, sizes);
      figures["speed"] = await measureSpeed(filled, tasks);
    }
    if (only !== "speed") figures["quality"] = await measureQuality(real, sizes, sets, own, count);
    console.log(JSON.stringify(figures, null, 2));
  } finally {
    await directory.remove();
  }
});

async function measureSpeed(
  registries: readonly { data: string; capabilities: number; seconds: number }[],
  tasks: readonly Task[],
) {
  const servers: Target[] = [];
  try {
    for (const { data } of registries) servers.push(await startTarget(data));
    const asked = registries.map(() => ({ times: [] as number[], tokens: [] as number[] }));
    // Once without counting: all warm, and with their tables read.
    for (const round of ["warm", "counted"]) {
      for (const { text } of tasks) {
        for (const [index, { url }] of servers.entries()) {
          const { ms, tokens } = await ask(url, text);
          if (round === "warm") continue;
          asked[index]?.times.push(ms);
          asked[index]?.tokens.push(tokens);
        }
      }
    }
    const last = servers.at(-1);
    const all = last === undefined ? 0 : await totalTokens((method, path) => prepare(last, method, path, {}));
    const top5 = mean(asked.at(-1)?.tokens ?? []);
    const p95 = asked.map(({ times }) => percentile(times, 0.95));
    return {
      tasks: tasks.length,
      sizes: registries.map(({ capabilities, seconds }, index) => ({
        capabilities,
        load_seconds: seconds,
        p50_ms: rounded(percentile(asked[index]?.times ?? [], 0.5)),
        p95_ms: rounded(p95[index] ?? 0),
      })),
      p95_ratio: rounded((p95.at(-1) ?? 0) / (p95[0] || 1)),
      tokens_all: all,
      tokens_top5: Math.round(top5),
      tokens_share: Number((top5 / all).toFixed(8)),
    };
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function ask(url: string, text: string): Promise<{ ms: number; tokens: number }> {
  const start = performance.now();
  const response = await fetch(`${url}/api/search?limit=5&q=${encodeURIComponent(text)}`);
  const { data } = (await response.json()) as { data: { items: { tokens: number }[] } };
  return { ms: performance.now() - start, tokens: data.items.reduce((sum, { tokens }) => sum + tokens, 0) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}
