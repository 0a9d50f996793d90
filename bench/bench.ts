import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { runCommand, UsageError } from "../cli/command.ts";
import { cases } from "./cases/all.ts";
import type { Case } from "./cases/case.ts";
import { publishServers, tenant } from "./cases/servers.ts";
import { startFloor } from "./harness/floor.ts";
import { receive } from "./harness/load.ts";
import { type CaseFigures, type Effort, measureCase, type ReadyCase } from "./harness/measure.ts";
import { measurePeers, ownPeer, readPeer } from "./harness/peers.ts";
import { caseTable, peerTable } from "./harness/report.ts";
import { startTarget, type Target } from "./harness/target.ts";

const help = `
Usage: npm run bench [-- --quick] [--json FILE] [--case NAME ...] [--peer NAME=URL ...]

Measures the built Worker, run as \`npm run serve\` runs it, against a floor: a bare Worker in the same runtime that
returns the same bytes. Both are asked in turn within every round; what is told is the median ratio of all rounds. Use
a machine that does nothing else meanwhile.
  --quick            a rough look in less than a minute: three short rounds
  --json FILE        writes the figures there as well
  --case NAME        only this case; may be given several times
  --peer NAME=URL    asks another server the same three questions in the same rounds (see bench/peers.md)
`;

/** Hot cases have goals as ratios and get the time for it: five rounds of eight seconds each. */
const whole: Effort = { rounds: 5, hotSeconds: 8, seconds: 3, connections: 16 };
const quick: Effort = { rounds: 3, hotSeconds: 0.5, seconds: 0.3, connections: 16 };

const options = {
  quick: { type: "boolean", default: false },
  json: { type: "string" },
  case: { type: "string", multiple: true, default: [] as string[] },
  peer: { type: "string", multiple: true, default: [] as string[] },
} as const;

await runCommand({ help, options }, async ({ quick: rough, json, case: wanted, peer }) => {
  const effort = rough ? quick : whole;
  const chosen = chooseCases(wanted);
  const others = await Promise.all(peer.map(readPeer));
  const target = await startTarget();
  const stops: (() => Promise<void>)[] = [target.stop];
  try {
    await publishServers(target);
    const ready = await readyCases(target, chosen, stops);
    const floor = await startFloor(
      ready.map(({ case: { name, writes = false }, answer }) => ({ name, answer, readsBody: writes })),
    );
    stops.push(floor.stop);
    const figures: CaseFigures[] = [];
    for (const [index, one] of ready.entries()) {
      console.error(`${index + 1} of ${ready.length}: ${one.case.name}`);
      figures.push(await measureCase(target, floor, one, effort));
    }
    console.log(caseTable(figures));
    const own = ownPeer(target.url, await target.callerOf([tenant]));
    const compared =
      others.length === 0 ? [] : await measurePeers([own, ...others], { ...effort, seconds: effort.hotSeconds });
    if (compared.length > 0) console.log(`\n${peerTable(compared)}`);
    if (json !== undefined) await writeFile(json, `${JSON.stringify(document(figures, compared, effort), null, 2)}\n`);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});

function chooseCases(wanted: readonly string[]): readonly Case[] {
  const unknown = wanted.find((name) => !cases.some((one) => one.name === name));
  if (unknown === undefined) return wanted.length === 0 ? cases : cases.filter(({ name }) => wanted.includes(name));
  throw new UsageError(`There is no case "${unknown}"; there are ${cases.map(({ name }) => name).join(", ")}.`);
}

async function readyCases(
  target: Target,
  chosen: readonly Case[],
  stops: (() => Promise<void>)[],
): Promise<ReadyCase[]> {
  const ready: ReadyCase[] = [];
  for (const one of chosen) {
    const prepared = await one.prepare(target, { sessions: 1 });
    if (prepared.stop !== undefined) stops.push(prepared.stop);
    ready.push({ case: one, prepared, answer: await receive(target.url, prepared.next()) });
  }
  return ready;
}

/** The floor on top is that of the first case; each case has its own, for the bytes that it answers. */
function document(figures: readonly CaseFigures[], peers: readonly object[], effort: Effort) {
  return {
    date: new Date().toISOString(),
    machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
    effort,
    floor: figures[0]?.floor,
    cases: figures,
    ...(peers.length === 0 ? {} : { peers }),
  };
}
