import { writeFile } from "node:fs/promises";
import { ensureBuilt } from "../scripts/bundle.ts";
import { CommandError, runCommand } from "../scripts/command.ts";
import { publishServers } from "./cases/servers.ts";
import { type Point, percentilesOf, slopeOf } from "./harness/statistics.ts";
import { busyCores, costOf, type ProcessCost } from "./process-cost.ts";
import { type Serving, startServing } from "./serving.ts";
import { Clients } from "./soak/clients.ts";
import { prepareKinds } from "./soak/kinds.ts";

const help = `
Usage: npm run soak [-- --minutes N] [--only TEXT] [--without TEXT] [--json FILE]

Everything that callers do, at once, for some minutes: reads, searches, lists, publishes, large publishes, webhooks,
refreshes of sources, sessions, streams that come and go, subscribers, hooks, bad input. Prints for each kind how often and
how fast it was answered; then the memory and the open files of the server. Fails on an answer that the kind does not
expect (429 is counted by itself), on a dropped connection, and on memory that grows by more than 2 MB a minute after the
first. Memory goes up with every large publish and down when the runtime collects its garbage, so what counts is the least
of each quarter of a minute. Needs Linux.

  --minutes N   how long (default 5); of less than four minutes the growth is printed and not judged: the rest of what is kept
                in memory may still be filled up, and a tenth of what a large publish takes for a moment would decide
  --only TEXT   only kinds whose names have this text, to find out which one does what; --without TEXT leaves them out
  --json FILE   the figures as JSON
`;

const options = {
  minutes: { type: "string", default: "5" },
  only: { type: "string" },
  without: { type: "string" },
  json: { type: "string" },
} as const;

interface Chosen {
  only?: string | undefined;
  without?: string | undefined;
}

const betweenLooksMs = 1_000;
const mostMegabytesAMinute = 2;
const fewestMinutesToJudge = 4;
/** In minutes: each has at least one collection of garbage. */
const troughMinutes = 1 / 4;

interface Look extends ProcessCost {
  /** Minutes since the load began. */
  at: number;
  /** What the runtime has of the resident bytes. The rest is the process that started it. */
  runtimeBytes: number;
}

await runCommand({ help, options }, async ({ minutes: given, only, without, json }) => {
  const minutes = Number(given);
  if (!(minutes > 0)) throw new CommandError("--minutes takes a number above 0.");
  await ensureBuilt(() => console.error("Building the Worker …"));
  const serving = await startServing();
  try {
    const figures = await soak(serving, minutes, { only, without });
    console.log(textOf(figures));
    if (json !== undefined) await writeFile(json, `${JSON.stringify(figures, null, 2)}\n`);
    const problems = problemsOf(figures);
    if (problems.length > 0) throw new CommandError(problems.join("\n"));
  } finally {
    await serving.stop();
  }
});

type Figures = Awaited<ReturnType<typeof soak>>;

async function soak(serving: Serving, minutes: number, { only = "", without }: Chosen) {
  const { processes } = serving;
  if (processes === undefined) throw new CommandError("This system does not tell what a process holds.");
  await publishServers(serving);
  const { kinds: all, stop, counts } = await prepareKinds(serving);
  const kinds = all.filter(({ name }) => name.includes(only) && !(without !== undefined && name.includes(without)));
  if (kinds.length === 0) throw new CommandError("No kind is left.");
  const clients = new Clients(serving.url);
  const looks: Look[] = [];
  const started = performance.now();
  const look = async () => {
    const [server, runtime] = [await costOf(processes.server), await costOf(processes.runtime)];
    looks.push({
      at: (performance.now() - started) / 60_000,
      residentBytes: server.residentBytes + runtime.residentBytes,
      runtimeBytes: runtime.residentBytes,
      openFiles: server.openFiles + runtime.openFiles,
    });
  };
  await look();
  const cores = await busyCores();
  const looking = setInterval(() => void look().catch(() => {}), betweenLooksMs);
  try {
    await clients.run(kinds, minutes * 60_000);
  } finally {
    clearInterval(looking);
  }
  const busy = await cores();
  await look();
  await stop();
  // What is kept in memory is filled up to its bounds first.
  const settled = looks.filter(({ at }) => at >= Math.min(1, minutes / 2));
  const points = troughsOf(settled);
  const megabytes = (one: Look | undefined) => Math.round((one?.residentBytes ?? 0) / 1e6);
  return {
    minutes,
    judged: minutes >= fewestMinutesToJudge,
    ...clients.totals(),
    ...counts(),
    coresBusyPercent: busy,
    memory: {
      startMb: megabytes(looks[0]),
      settledMb: megabytes(settled[0]),
      endMb: megabytes(looks.at(-1)),
      slopeMbAMinute: Number(slopeOf(points).toFixed(2)),
    },
    openFiles: {
      start: looks[0]?.openFiles ?? 0,
      most: Math.max(...looks.map(({ openFiles }) => openFiles)),
      end: looks.at(-1)?.openFiles ?? 0,
    },
    kinds: [...clients.tallies].map(([kind, { latencies, ...tally }]) => ({
      kind,
      ...tally,
      requests: latencies.length,
      ...percentilesOf(latencies),
    })),
    samples: clients.samples,
    looks: looks.map(({ at, residentBytes, runtimeBytes, openFiles }) => ({
      minute: Number(at.toFixed(2)),
      mb: Math.round(residentBytes / 1e6),
      runtimeMb: Math.round(runtimeBytes / 1e6),
      openFiles,
    })),
  };
}

/** The look with the least memory of each stretch of time. */
function troughsOf(looks: readonly Look[]): Point[] {
  const stretches = Map.groupBy(looks, ({ at }) => Math.floor(at / troughMinutes));
  return [...stretches.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const least = others.reduce((low, look) => (look.residentBytes < low.residentBytes ? look : low), first);
    return [{ x: least.at, y: least.residentBytes / 1e6 }];
  });
}

function textOf(figures: Figures): string {
  const { minutes, requests, errors, limited, dropped, memory, openFiles, coresBusyPercent, streams, deliveries } =
    figures;
  const rows = figures.kinds.map(
    (row) =>
      `| ${row.kind} | ${row.requests} | ${row.p50} | ${row.p99} | ${row.limited} | ${row.errors} | ${row.dropped} |`,
  );
  return [
    "| kind | requests | p50 ms | p99 ms | 429 | errors | dropped |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows,
    "",
    `${minutes} min, cores ${coresBusyPercent} % busy: ${requests} requests of ${rows.length} kinds, ` +
      `${streams} streams, ${deliveries} deliveries; ${errors} errors, ${limited} times 429, ${dropped} dropped connections`,
    `memory ${memory.startMb} MB at start, ${memory.settledMb} MB ${minutes > 1 ? "after a minute" : "half-way"}, ` +
      `${memory.endMb} MB at the end: ${memory.slopeMbAMinute} MB a minute`,
    `open files ${openFiles.start} at start, ${openFiles.most} at most, ${openFiles.end} at the end`,
    ...figures.samples.map((sample) => `  ${sample}`),
  ].join("\n");
}

function problemsOf({ errors, dropped, judged, memory, kinds }: Figures): string[] {
  return [
    ...(errors > 0 ? [`${errors} answers were not expected.`] : []),
    ...(dropped > 0 ? [`${dropped} connections were dropped.`] : []),
    ...(judged && memory.slopeMbAMinute > mostMegabytesAMinute
      ? [`Memory grew by ${memory.slopeMbAMinute} MB a minute; ${mostMegabytesAMinute} is the most it may.`]
      : []),
    ...kinds.filter(({ requests }) => requests === 0).map(({ kind }) => `${kind} was never answered.`),
  ];
}
