import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { percentile } from "../../scripts/eval/metrics.ts";
import { projectPath } from "../../scripts/project.ts";
import { findCards } from "../../src/search/sql/find-cards.ts";
import { termCounts } from "../../src/search/sql/term-counts.ts";
import { readVectors, type WordVectors } from "../../src/search/word-vectors.ts";
import { type CatalogueServer, catalogueOf } from "../corpus/catalogue.ts";
import type { RealServer } from "../corpus/server.ts";
import { exhaustiveSearch } from "./exhaustive.ts";
import { placeOf, sample, type Task } from "./judged.ts";
import { openIndex } from "./local-index.ts";

interface JudgedServers {
  servers: CatalogueServer[];
  tasks: Task[];
}

/** As many as a page of results is made from. */
const asked = 100;

/** What the bounds of a search lose at each size, against weighing every item. */
export async function measureQuality(
  directory: string,
  real: readonly RealServer[],
  sizes: readonly number[],
  sets: readonly JudgedServers[],
  own: readonly Task[],
  each: number,
) {
  const vectors = await readTable();
  const measured = [];
  for (const size of sizes) {
    // A set that would be most of a small catalogue is left out of it.
    const within = sets.filter(({ servers }) => toolsOf(servers) <= size / 2);
    const judged = within.flatMap(({ servers }) => servers);
    const index = await openIndex(join(directory, `index-${size}.sqlite`), function* () {
      yield* judged;
      yield* catalogueOf(real, size - toolsOf(judged));
    });
    const tasks = [...own, ...within.flatMap((set) => sample(set.tasks, each))];
    measured.push({ capabilities: size, tasks: tasks.length, ...compare(index, vectors, tasks) });
    console.error(`${size}: ${tasks.length} tasks with and without bounds`);
  }
  return measured;
}

function compare(sql: SqlStorage, vectors: WordVectors, tasks: readonly Task[]) {
  const exhaustive = exhaustiveSearch(sql, vectors);
  const bounded = (text: string) =>
    findCards(sql, { text, limit: asked }, [], { vectors, count: termCounts }).map(({ server, key }) =>
      placeOf(server, key),
    );
  for (const { text } of tasks) bounded(text);
  const times: number[] = [];
  let [found, foundByAll, lost] = [0, 0, 0];
  for (const { text, relevant } of tasks) {
    const start = performance.now();
    const places = bounded(text);
    times.push(performance.now() - start);
    const hit = isHit(places, relevant);
    const hitByAll = isHit(exhaustive(text, asked), relevant);
    found += hit ? 1 : 0;
    foundByAll += hitByAll ? 1 : 0;
    lost += hitByAll && !hit ? 1 : 0;
  }
  return {
    hit5: share(found, tasks),
    hit5_exhaustive: share(foundByAll, tasks),
    lost_tasks: lost,
    find_p50_ms: Number(percentile(times, 0.5).toFixed(2)),
    find_p95_ms: Number(percentile(times, 0.95).toFixed(2)),
  };
}

function isHit(places: readonly string[], relevant: readonly string[]): boolean {
  return places.slice(0, 5).some((place) => relevant.includes(place));
}

function share(count: number, tasks: readonly Task[]): number {
  return Number((count / Math.max(1, tasks.length)).toFixed(4));
}

function toolsOf(servers: readonly CatalogueServer[]): number {
  return servers.reduce((sum, { tools }) => sum + tools.length, 0);
}

async function readTable(): Promise<WordVectors> {
  const bytes = await readFile(projectPath("assets/word-vectors.bin"));
  const table = readVectors(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  if (table === undefined) throw new Error("assets/word-vectors.bin cannot be read");
  return table;
}
