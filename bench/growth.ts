import { cp, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import { CommandError, runCommand, UsageError } from "../scripts/command.ts";
import { cases as allCases } from "./cases/all.ts";
import type { Case, Prepared } from "./cases/case.ts";
import { publishedTools, publishServers } from "./cases/servers.ts";
import { catalogueKind, realServers } from "./corpus/real-servers.ts";
import { fillRegistries } from "./corpus/registries.ts";
import { readCount, readSizes } from "./corpus/sizes.ts";
import { requireDirectory } from "./harness/output.ts";
import { runRounds, type Side } from "./harness/rounds.ts";
import { percentilesOf } from "./harness/statistics.ts";
import { startTarget, type Target } from "./harness/target.ts";
import { type Line, plotSvg } from "./plot.ts";
import { scratchDirectory } from "./scratch.ts";

const help = `
Usage: npm run bench:growth [-- --sizes 1000,10000,100000] [--sessions 1,100,2000] [--case NAME] [--data DIR] [--out DIR]

What each case costs against how much there is: asks registries of these sizes the same in turn, one question at a time,
and prints milliseconds at each size as JSON.
  --sizes      capabilities (default 1000,10000,100000), with those that the cases themselves publish; real ones first,
               then derived ones
  --sessions   open at once (default 1,100,2000)
  --case NAME  only cases whose name contains it
  --rounds N   of six seconds a case (default 3)
  --data DIR   keeps the registries as they were loaded, and uses them again; measures copies of them
  --out DIR    writes growth.json there, and plots to capabilities.svg and sessions.svg
`;

const options = {
  sizes: { type: "string", default: "1000,10000,100000" },
  sessions: { type: "string", default: "1,100,2000" },
  case: { type: "string", default: "" },
  rounds: { type: "string", default: "3" },
  data: { type: "string" },
  out: { type: "string" },
} as const;

const seconds = 6;
/** Cases that go through sessions, and so grow with those. */
const ofSessions = ["negotiate", "session-checked call"];

interface Grown {
  name: string;
  /** Milliseconds at each size. */
  p50: number[];
  p95: number[];
}

interface Growth {
  sizes: number[];
  cases: Grown[];
}

await runCommand({ help, options }, async (values) => {
  const cases = allCases.filter(({ name }) => name.includes(values.case));
  if (cases.length === 0) throw new UsageError(`There is no case with "${values.case}" in its name.`);
  const rounds = readCount("--rounds", values.rounds);
  const loads = readLoads(values.sizes);
  const sessionCounts = readSizes("--sessions", values.sessions);
  if (values.data !== undefined) await requireDirectory("--data", values.data);
  if (values.out !== undefined) await requireDirectory("--out", values.out);
  const scratch = await scratchDirectory("growth");
  try {
    const inSessions = cases.filter(({ name }) => ofSessions.includes(name));
    const sessions = inSessions.length === 0 ? undefined : await overSessions(sessionCounts, inSessions, rounds);
    const capabilities = await overCapabilities(loads, { kept: values.data, scratch: scratch.path }, cases, rounds);
    const only = values.case === "" ? "" : ` --case "${values.case}"`;
    const figures = {
      date: new Date().toISOString(),
      command: `npm run bench:growth -- --sizes ${values.sizes} --sessions ${values.sessions} --rounds ${rounds}${only}`,
      catalogue: catalogueKind(),
      cpus: cpus().length,
      capabilities,
      ...(sessions === undefined ? {} : { sessions }),
    };
    console.log(JSON.stringify(figures));
    if (values.out !== undefined) await write(values.out, figures);
  } finally {
    await scratch.remove();
  }
});

/** How much to load, so that with what the cases publish there are as many as was asked for. */
function readLoads(text: string): number[] {
  const loads = readSizes("--sizes", text).map((size) => Math.max(1, size - publishedTools));
  if (new Set(loads).size === loads.length) return loads;
  throw new UsageError(
    `--sizes takes one size up to ${publishedTools}: the cases themselves publish so many capabilities.`,
  );
}

async function overCapabilities(
  loads: readonly number[],
  { kept, scratch }: { kept: string | undefined; scratch: string },
  cases: readonly Case[],
  rounds: number,
): Promise<Growth> {
  const filled = await fillRegistries(kept ?? scratch, await realServers(), loads);
  const measured: string[] = [];
  for (const { data } of filled) measured.push(kept === undefined ? data : await copyOf(data, scratch));
  return withTargets(measured, async (targets) => {
    for (const target of targets) await publishServers(target);
    const sizes = filled.map(({ capabilities }) => capabilities + publishedTools);
    const sides = targets.map((target, index) => ({ target, size: sizes[index] ?? 0, sessions: 1 }));
    return { sizes, cases: await measure(cases, sides, rounds) };
  });
}

/** Cases publish, and what is kept is to stay as it was loaded. */
async function copyOf(data: string, scratch: string): Promise<string> {
  const copy = join(scratch, basename(data));
  await cp(data, copy, { recursive: true });
  return copy;
}

/** Each number of sessions has a registry of its own, with little else in it. */
async function overSessions(counts: readonly number[], cases: readonly Case[], rounds: number): Promise<Growth> {
  return withTargets(
    counts.map(() => undefined),
    async (targets) => {
      for (const target of targets) await publishServers(target);
      const sides = targets.map((target, index) => {
        const count = counts[index] ?? 1;
        return { target, size: count, sessions: count };
      });
      // The sessions that the check goes through are open while negotiations are measured, too.
      const order = cases.toSorted((a, b) => Number(a.name === "negotiate") - Number(b.name === "negotiate"));
      return { sizes: [...counts], cases: await measure(order, sides, rounds) };
    },
  );
}

interface Sized {
  target: Target;
  size: number;
  sessions: number;
}

async function measure(cases: readonly Case[], sized: readonly Sized[], rounds: number): Promise<Grown[]> {
  const grown: Grown[] = [];
  for (const { name, status, prepare } of cases) {
    const prepared: Prepared[] = [];
    for (const { target, sessions } of sized) prepared.push(await prepare(target, { sessions }));
    const sides = sized.map(({ target, size }, index): Side => {
      const next = prepared[index]?.next;
      if (next === undefined) throw new CommandError(`${name} has nothing to send`);
      return { name: String(size), origin: target.url, connections: 1, next, status };
    });
    const loads = await runRounds(sides, { rounds, seconds });
    for (const { stop } of prepared) await stop?.();
    const times = sides.map((side) =>
      percentilesOf((loads.get(side.name) ?? []).flatMap(({ latencies }) => latencies)),
    );
    const [p50, p95] = [times.map((time) => time.p50), times.map((time) => time.p95)];
    grown.push({ name, p50, p95 });
    console.error(`${name}: ${p50.join(", ")} ms`);
  }
  return grown;
}

async function withTargets<T>(directories: readonly (string | undefined)[], work: (targets: Target[]) => Promise<T>) {
  const targets: Target[] = [];
  try {
    for (const directory of directories) targets.push(await startTarget(directory));
    return await work(targets);
  } finally {
    for (const target of targets) await target.stop();
  }
}

async function write(out: string, figures: { capabilities: Growth; sessions?: Growth }): Promise<void> {
  const { capabilities, sessions } = figures;
  await writeFile(join(out, "growth.json"), `${JSON.stringify(figures, null, 2)}\n`);
  const title = (what: string) => `What a request costs as ${what} grow`;
  await draw(join(out, "capabilities.svg"), title("capabilities"), "capabilities", capabilities);
  if (sessions !== undefined) await draw(join(out, "sessions.svg"), title("sessions"), "sessions open", sessions);
}

async function draw(file: string, title: string, axis: string, { sizes, cases }: Growth): Promise<void> {
  const lines = cases.map(({ name, p50 }): Line => ({ name, values: p50 }));
  const ends = lines.map(({ name, values }) => `${name} ${((values.at(-1) ?? 0) / (values[0] || 1)).toFixed(2)}`);
  const description = `Median time of a request relative to the smallest size. At the largest: ${ends.join(", ")}.`;
  await writeFile(file, plotSvg({ title, description, axis, sizes, lines }));
}
