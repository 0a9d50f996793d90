import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError, runCommand, UsageError } from "../cli/command.ts";
import { projectPath } from "../cli/project.ts";
import { cases as allCases } from "./cases/all.ts";
import type { Case, Prepared } from "./cases/case.ts";
import { publishServers, readServer, tenant } from "./cases/servers.ts";
import { realServers } from "./corpus/real-servers.ts";
import { fillRegistries } from "./corpus/registries.ts";
import { readSizes } from "./corpus/sizes.ts";
import { runRounds, type Side } from "./harness/rounds.ts";
import { percentilesOf } from "./harness/statistics.ts";
import { startTarget, type Target } from "./harness/target.ts";
import { type Line, plotSvg } from "./plot.ts";

const help = `
Usage: npm run bench:growth [-- --sizes 1000,10000,100000] [--sessions 1,100,2000] [--case NAME] [--data DIR] [--out DIR]

What each case costs against how much there is: asks registries of these sizes the same in turn, one question at a time,
and writes milliseconds at each size to growth.json and plots of them to capabilities.svg and sessions.svg.
  --sizes      capabilities (default 1000,10000,100000); real ones first, then derived ones
  --sessions   open at once (default 1,100,2000)
  --case NAME  only cases whose name contains it
  --rounds N   of six seconds a case (default 3)
  --data DIR   keeps the registries, and uses them again
  --out DIR    where to write (default docs/performance)
`;

const options = {
  sizes: { type: "string", default: "1000,10000,100000" },
  sessions: { type: "string", default: "1,100,2000" },
  case: { type: "string", default: "" },
  rounds: { type: "string", default: "3" },
  data: { type: "string" },
  out: { type: "string", default: projectPath("docs/performance") },
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

await runCommand({ help, options }, async ({ sizes, sessions, case: part, rounds: wanted, data: kept, out }) => {
  const cases = allCases.filter(({ name }) => name.includes(part));
  if (cases.length === 0) throw new UsageError(`There is no case with ${part} in its name.`);
  const rounds = Number(wanted);
  if (!Number.isInteger(rounds) || rounds < 1) throw new UsageError("--rounds takes a whole number above 0.");
  const directory = kept ?? (await mkdtemp(join(tmpdir(), "rollcall-growth-")));
  try {
    const capabilities = await overCapabilities(directory, readSizes(sizes), cases, rounds);
    const inSessions = cases.filter(({ name }) => ofSessions.includes(name));
    const open = await overSessions(readSizes(sessions), inSessions, rounds);
    await mkdir(out, { recursive: true });
    await writeFile(join(out, "growth.json"), `${JSON.stringify({ capabilities, sessions: open }, null, 2)}\n`);
    await draw(
      join(out, "capabilities.svg"),
      "What a request costs as capabilities grow",
      "capabilities",
      capabilities,
    );
    await draw(join(out, "sessions.svg"), "What a request costs as sessions grow", "sessions open", open);
    console.log(JSON.stringify({ capabilities, sessions: open }));
  } finally {
    if (kept === undefined) await rm(directory, { recursive: true, force: true });
  }
});

interface Growth {
  sizes: number[];
  cases: Grown[];
}

async function overCapabilities(
  directory: string,
  sizes: readonly number[],
  cases: readonly Case[],
  rounds: number,
): Promise<Growth> {
  const filled = await fillRegistries(directory, await realServers(), sizes);
  return withTargets(
    filled.map(({ data }) => data),
    async (targets) => {
      for (const target of targets) if (!(await hasServers(target))) await publishServers(target);
      const sides = targets.map((target, index) => ({ target, size: sizes[index] ?? 0, sessions: 1 }));
      return { sizes: filled.map(({ capabilities }) => capabilities), cases: await measure(cases, sides, rounds) };
    },
  );
}

/** Each number of sessions has a registry of its own, with little else in it. */
async function overSessions(sizes: readonly number[], cases: readonly Case[], rounds: number): Promise<Growth> {
  return withTargets(
    sizes.map(() => undefined),
    async (targets) => {
      const sides = targets.map((target, index) => ({ target, size: sizes[index] ?? 0, sessions: sizes[index] ?? 1 }));
      // The sessions that the check goes through are open while negotiations are measured, too.
      const order = cases.toSorted((a, b) => Number(a.name === "negotiate") - Number(b.name === "negotiate"));
      return { sizes: [...sizes], cases: await measure(order, sides, rounds) };
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

async function hasServers(target: Target): Promise<boolean> {
  const headers = await target.callerOf([tenant]);
  const response = await fetch(`${target.url}/api/mcp/capabilities/${tenant}/${readServer}`, { headers });
  await response.body?.cancel();
  return response.ok;
}

async function draw(file: string, title: string, axis: string, { sizes, cases }: Growth): Promise<void> {
  const lines = cases.map(({ name, p50 }): Line => ({ name, values: p50 }));
  const ends = lines.map(({ name, values }) => `${name} ${((values.at(-1) ?? 0) / (values[0] || 1)).toFixed(2)}`);
  const description = `Median time of a request relative to the smallest size. At the largest: ${ends.join(", ")}.`;
  await writeFile(file, plotSvg({ title, description, axis, sizes, lines }));
}
