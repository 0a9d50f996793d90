import { setTimeout as sleep } from "node:timers/promises";
import { openDataDir } from "../../scripts/data-dir.ts";
import type { Place } from "../../src/directory/rows.ts";
import { tasks } from "../cases/tasks.ts";
import { catalogueOf } from "../corpus/catalogue.ts";
import type { RealServer } from "../corpus/server.ts";
import { prepare, startTarget } from "../harness/target.ts";
import { scratchDirectory } from "../scratch.ts";
import { heldBytes } from "./heap.ts";
import { placeOf, readWordVectors } from "./places.ts";
import { writeDirectory } from "./write-directory.ts";

export interface IsolateFigures {
  cards: number;
  servers: number;
  segments_mb: number;
  /** After garbage was collected, with the same questions asked of both. */
  empty_mb: number;
  held_mb: number;
  more_mb: number;
  /** Of the Worker itself, counted: segments, and what each room makes of them. */
  counted_mb: Record<string, number>;
}

/** The most that a deployment may set: the bound is not what is measured. */
const directoryMegabytes = "80";
const loadingMs = 60_000;
const lookMs = 100;

/** What an isolate holds with a directory of so many cards, against one with an empty directory. */
export async function measureIsolate(real: readonly RealServer[], cards: number): Promise<IsolateFigures> {
  const { path, remove } = await scratchDirectory("isolate");
  try {
    const empty = await withIsolate(path, async (isolate) => {
      await isolate.ask();
      return isolate.held();
    });
    const vectors = await readWordVectors();
    const places = catalogueOf(real, cards)
      .map((server): Place => placeOf(server, vectors))
      .toArray();
    const root = await writeDirectory(await openDataDir(path), places);
    return await withIsolate(path, async (isolate) => {
      await isolate.loaded(root.segments.length);
      await isolate.ask();
      const held = await isolate.held();
      return {
        cards: root.frequencies.cards,
        servers: root.frequencies.servers,
        segments_mb: megabytes(root.segments.reduce((sum, { bytes }) => sum + bytes, 0)),
        empty_mb: megabytes(empty),
        held_mb: megabytes(held),
        more_mb: megabytes(held - empty),
        counted_mb: await isolate.counted(),
      };
    });
  } finally {
    await remove();
  }
}

interface Metrics {
  directory: { segments: number; bytes: Record<string, number> };
}

interface Isolate {
  /** What makes an isolate load all that it keeps: words, pages, lists of versions. */
  ask(): Promise<void>;
  loaded(segments: number): Promise<void>;
  held(): Promise<number>;
  counted(): Promise<Record<string, number>>;
}

async function withIsolate<T>(data: string, work: (isolate: Isolate) => Promise<T>): Promise<T> {
  const target = await startTarget(data, { inspect: true, vars: { DIRECTORY_MB: directoryMegabytes } });
  try {
    const admin = await target.callerOf([], { admin: true });
    const metrics = async () => (await prepare<Metrics>(target, "GET", "/api/metrics", admin)).data.directory;
    const paths = [
      ...tasks.map((task) => `/api/search?limit=5&task=${encodeURIComponent(task)}`),
      ...["/api/catalog?limit=30", "/api/catalog?limit=30&order=updated", "/v0.1/servers?limit=30"],
    ];
    return await work({
      async ask() {
        for (const path of paths) await prepare(target, "GET", path, {});
      },
      async loaded(segments) {
        const until = Date.now() + loadingMs;
        while ((await metrics()).segments !== segments) {
          if (Date.now() > until) throw new Error("The isolate did not load the directory within a minute");
          await prepare(target, "GET", "/api/catalog?limit=1", {});
          await sleep(lookMs);
        }
      },
      held: () => heldBytes(target.inspectorUrl ?? ""),
      async counted() {
        const { bytes } = await metrics();
        return Object.fromEntries(Object.entries(bytes).map(([name, size]) => [name, megabytes(size)]));
      },
    });
  } finally {
    await target.stop();
  }
}

function megabytes(bytes: number): number {
  return Number((bytes / 1e6).toFixed(1));
}
