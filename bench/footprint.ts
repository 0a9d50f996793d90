import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundlePath, ensureBuilt } from "../scripts/bundle.ts";
import { CommandError, runCommand } from "../scripts/command.ts";
import { runTool } from "../scripts/run-tool.ts";
import { cases } from "./cases/all.ts";
import { publishServers } from "./cases/servers.ts";
import { tasks } from "./cases/tasks.ts";
import { type CatalogueServer, catalogueOf } from "./corpus/catalogue.ts";
import { publishAll } from "./corpus/load.ts";
import { realServers } from "./corpus/real-servers.ts";
import { readSizes } from "./corpus/sizes.ts";
import { Connections } from "./harness/load.ts";
import { slopeOf, spreadOf } from "./harness/statistics.ts";
import { prepare } from "./harness/target.ts";
import { type IsolateFigures, measureIsolate } from "./isolate/measure-isolate.ts";
import { costOf } from "./process-cost.ts";
import { scratchDirectory } from "./scratch.ts";
import { type Serving, startServing } from "./serving.ts";

const help = `
Usage: npm run bench:footprint [-- --minutes N] [--cards N,N]

What the registry takes before anyone asks it anything, and whether it takes more as they do: the size of the Worker, how
long it takes to start, the memory of \`npm run serve\` (its process and the runtime below it) with the whole real
catalogue, and how that memory moves under load. Figures of memory need Linux.
  --minutes N   of load (default 5)
  --cards N,N   only what an isolate holds with a directory of so many cards more than an empty one: 12000 and 100000 are
                part of the whole run
`;

/** Everything but sessions, which live for an hour and are measured by themselves. */
const loading = [
  ...["hot authenticated read", "304", "view", "catalogue page", "search", "budgeted index"],
  ...["MCP tools/list", "MCP resources/read", "publish one changed of 1,000", "webhook"],
];
const starts = 5;
const betweenLooksMs = 5_000;

const directorySizes = "12000,100000";

const options = { minutes: { type: "string", default: "5" }, cards: { type: "string" } } as const;

await runCommand({ help, options }, async ({ minutes: wanted, cards }) => {
  const minutes = Number(wanted);
  if (!(minutes > 0)) throw new CommandError("--minutes takes a number above 0.");
  const sizes = readSizes("--cards", cards ?? directorySizes);
  await ensureBuilt(() => console.error("Building the Worker …"));
  const isolates = await measureIsolates(sizes);
  if (cards !== undefined) {
    console.log(JSON.stringify({ isolates }, null, 2));
    return;
  }
  const figures = {
    bundle_gzip_kb: Math.round(gzipSync(await readFile(bundlePath)).length / 1_000),
    start_ms: await startTime(),
    ...(await memory(minutes)),
    isolates,
  };
  console.log(JSON.stringify(figures, null, 2));
});

async function measureIsolates(sizes: readonly number[]): Promise<IsolateFigures[]> {
  const real = await realServers();
  const measured: IsolateFigures[] = [];
  for (const cards of sizes) {
    console.error(`An isolate with ${cards} cards …`);
    measured.push(await measureIsolate(real, cards));
  }
  return measured;
}

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
  timeDeltas: number[];
}

/** What evaluating the Worker takes before it can be asked anything, by Wrangler's own profile of it. */
async function startTime(): Promise<number> {
  const { path: scratch, remove } = await scratchDirectory("start");
  try {
    const file = join(scratch, "start.cpuprofile");
    const times: number[] = [];
    for (let index = 0; index < starts; index += 1) {
      const { exitCode, output } = await runTool("wrangler", ["check", "startup", "--outfile", file]);
      if (exitCode !== 0) throw new CommandError(`The start could not be profiled.\n\n${output}`);
      const { nodes, samples, timeDeltas } = JSON.parse(await readFile(file, "utf8")) as CpuProfile;
      const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id));
      times.push(samples.reduce((sum, id, at) => sum + (idle.has(id) ? 0 : (timeDeltas[at] ?? 0)), 0) / 1_000);
    }
    return Math.round(spreadOf(times).median);
  } finally {
    await remove();
  }
}

/** Publishes the catalogue into one server, and looks at another that is started on the same data. */
async function memory(minutes: number) {
  const { path: data, remove } = await scratchDirectory("footprint");
  try {
    const real = await realServers();
    const servers = catalogueOf(real, Number.POSITIVE_INFINITY).take(real.length).toArray();
    const published = await withServer(data, async (serving, look) => {
      const empty = await look();
      console.error("Publishing the real catalogue …");
      const tools = await publishAll(serving, servers);
      return { servers: servers.length, tools, empty_mb: megabytes(empty), once_published_mb: megabytes(await look()) };
    });
    const served = await withServer(data, async (serving, look) => {
      await readAll(serving, servers);
      const all = await look();
      console.error(`Everything at once for ${minutes} minutes …`);
      const { looks, dropped } = await underLoad(serving, minutes, look);
      return {
        started_and_read_mb: megabytes(all),
        ...(dropped.length === 0 ? {} : { dropped }),
        after_load_mb: megabytes(await look()),
        // The first part of it fills what is kept in memory up to its bounds.
        slope_mb_a_minute: Number(
          (
            slopeOf(looks.filter(({ at }) => at > minutes / 5).map(({ at, bytes }) => ({ x: at, y: bytes }))) / 1e6
          ).toFixed(2),
        ),
        looks_mb: looks.map(({ bytes }) => Math.round(bytes / 1e6)),
      };
    });
    return { ...published, ...served };
  } finally {
    await remove();
  }
}

/** What the two processes of a server hold. */
interface Held {
  server: number;
  runtime: number;
}

async function withServer<T>(data: string, work: (serving: Serving, look: () => Promise<Held>) => Promise<T>) {
  const serving = await startServing(data);
  try {
    const { processes } = serving;
    if (processes === undefined) throw new CommandError("This system does not tell what a process holds.");
    return await work(serving, async () => ({
      server: (await costOf(processes.server)).residentBytes,
      runtime: (await costOf(processes.runtime)).residentBytes,
    }));
  } finally {
    await serving.stop();
  }
}

/** Every server once, as a crawler would, and some questions about all of them. */
async function readAll(serving: Serving, servers: readonly CatalogueServer[]): Promise<void> {
  const reader = await serving.callerOf(["reader"]);
  const paths = [
    ...servers.map(({ tenant, name }) => `/api/mcp/capabilities/${tenant}/${name}`),
    ...tasks.map((task) => `/api/search?q=${encodeURIComponent(task)}`),
    "/api/catalog?limit=100",
  ];
  for (const path of paths) await prepare(serving, "GET", path, reader);
}

function megabytes({ server, runtime }: Held) {
  const [a, b] = [Math.round(server / 1e6), Math.round(runtime / 1e6)];
  return { server: a, runtime: b, together: a + b };
}

interface Look {
  /** Minutes since the load began. */
  at: number;
  bytes: number;
}

/** Asks everything at once for some minutes. */
async function underLoad(
  serving: Serving,
  minutes: number,
  look: () => Promise<Held>,
): Promise<{ looks: Look[]; dropped: string[] }> {
  await publishServers(serving);
  const chosen = cases.filter(({ name }) => loading.includes(name));
  const looks: Look[] = [];
  const dropped: string[] = [];
  const started = performance.now();
  const looking = setInterval(async () => {
    const { server, runtime } = await look();
    looks.push({ at: (performance.now() - started) / 60_000, bytes: server + runtime });
  }, betweenLooksMs);
  try {
    await Promise.all(
      chosen.map(async ({ prepare: ready, status }) => {
        const { next } = await ready(serving, { sessions: 1 });
        for (let left = minutes * 60; left > 0; left = minutes * 60 - (performance.now() - started) / 1_000) {
          const open = new Connections(serving.url, 2);
          // The load goes on where a connection is dropped; that it was is told.
          await open.load({ next, status, seconds: left }).catch((cause) => dropped.push(String(cause.message)));
          await open.close();
        }
      }),
    );
  } finally {
    clearInterval(looking);
  }
  return { looks, dropped };
}
