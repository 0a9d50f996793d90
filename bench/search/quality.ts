import { indexOf, rankTools } from "../../scripts/eval/index.ts";
import { percentile } from "../../scripts/eval/metrics.ts";
import { parseQuery } from "../../src/search/query.ts";
import { rank } from "../../src/search/rank.ts";
import { type CatalogueServer, catalogueOf } from "../corpus/catalogue.ts";
import type { RealServer } from "../corpus/server.ts";
import { placeOf, sample, type Task } from "./judged.ts";

interface JudgedServers {
  servers: CatalogueServer[];
  tasks: Task[];
}

/** As many as a page of results is made from. */
const asked = 100;

/** How often a right answer is among the first five at each size, and what a search costs this process. */
export async function measureQuality(
  real: readonly RealServer[],
  sizes: readonly number[],
  sets: readonly JudgedServers[],
  own: readonly Task[],
  each: number,
) {
  const { kernel, vectors } = await rankTools();
  const measured = [];
  for (const size of sizes) {
    // A set that would be most of a small catalogue is left out of it.
    const within = sets.filter(({ servers }) => toolsOf(servers) <= size / 2);
    const judged = within.flatMap(({ servers }) => servers);
    const servers = [...judged, ...catalogueOf(real, size - toolsOf(judged))];
    const places = servers.flatMap(({ name, tools }) => tools.map((tool) => placeOf(name, tool.name)));
    const part = indexOf(servers, vectors);
    const tasks = [...own, ...within.flatMap((set) => sample(set.tasks, each))];
    const find = (text: string) => {
      const question = parseQuery(text);
      if (question === undefined) return [];
      const { ranked } = rank(question, [{ part }], { kernel, vectors }, asked);
      return ranked.map(({ place }) => places[place] ?? "");
    };
    for (const { text } of tasks) find(text);
    const times: number[] = [];
    const started = process.cpuUsage();
    let found = 0;
    for (const { text, relevant } of tasks) {
      const start = performance.now();
      const ranked = find(text);
      times.push(performance.now() - start);
      if (ranked.slice(0, 5).some((place) => relevant.includes(place))) found += 1;
    }
    const { user, system } = process.cpuUsage(started);
    measured.push({
      capabilities: part.count,
      tasks: tasks.length,
      index_mb: Number((part.bytes / 1e6).toFixed(1)),
      hit5: Number((found / Math.max(1, tasks.length)).toFixed(4)),
      rank_cpu_ms: Number(((user + system) / 1_000 / Math.max(1, tasks.length)).toFixed(2)),
      rank_p50_ms: Number(percentile(times, 0.5).toFixed(2)),
      rank_p95_ms: Number(percentile(times, 0.95).toFixed(2)),
    });
    console.error(`${size}: ${tasks.length} tasks, every item weighed`);
  }
  return measured;
}

function toolsOf(servers: readonly CatalogueServer[]): number {
  return servers.reduce((sum, { tools }) => sum + tools.length, 0);
}
