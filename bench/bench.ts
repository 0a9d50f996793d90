import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { runCommand, UsageError } from "../scripts/command.ts";
import { cases as shared } from "./cases/all.ts";
import type { Case } from "./cases/case.ts";
import { newWords } from "./cases/new-words.ts";
import { publishServers, tenant } from "./cases/servers.ts";
import { trafficName } from "./cases/traffic.ts";
import { startFloor } from "./harness/floor.ts";
import { receive } from "./harness/load.ts";
import { type CaseFigures, countCases, type Effort, measureCase, type ReadyCase } from "./harness/measure.ts";
import { measureTraffic } from "./harness/measure-traffic.ts";
import { requireWritable } from "./harness/output.ts";
import { type Peer, type Question, questions } from "./harness/peer.ts";
import { measurePeers, ownPeer, type PeerFigures } from "./harness/peers.ts";
import { readPeers } from "./harness/read-peers.ts";
import { caseTable, peerTable, trafficTable } from "./harness/report.ts";
import { startTarget, type Target } from "./harness/target.ts";
import { tryPeer } from "./harness/try-peer.ts";

const help = `
Usage: npm run bench [-- --quick] [--json FILE] [--case NAME ...] [--peer NAME=URL|FILE ...]

Measures the built Worker, run as \`npm run serve\` runs it, against a floor: a bare Worker in the same runtime that
returns the same bytes. Both are asked in turn within every round; what is told is the median ratio of all rounds. Use
a machine that does nothing else meanwhile. The case "mixed traffic" and those of new words have registries of their
own; the first is compared with the hot read, in the same rounds.
  --quick            a rough look in about a minute and a half: three short rounds
  --json FILE        writes the figures there as well
  --case NAME        only this case; may be given several times
  --peer NAME=URL    asks another server that speaks the official registry's API the same three questions, in rounds
                     with this one; may be given several times (see docs/explanation/performance/peers.md)
  --peer NAME=FILE   the same for a server with its own paths: JSON with url, list, get, search and headers
`;

/** Hot cases have goals as ratios and get the time for it: five rounds of eight seconds each. */
const whole: Effort = {
  rounds: 5,
  hotSeconds: 8,
  seconds: 3,
  connections: 16,
  writesCounted: 2,
  traffic: { seconds: 5, besideSeconds: 2 },
};
const quick: Effort = {
  rounds: 3,
  hotSeconds: 0.5,
  seconds: 0.3,
  connections: 16,
  writesCounted: 1,
  traffic: { seconds: 2, besideSeconds: 0.5 },
};

const cases = [...shared, ...newWords];

const options = {
  quick: { type: "boolean", default: false },
  json: { type: "string" },
  case: { type: "string", multiple: true, default: [] as string[] },
  peer: { type: "string", multiple: true, default: [] as string[] },
} as const;

await runCommand({ help, options }, async ({ quick: rough, json, case: wanted, peer }) => {
  const effort = rough ? quick : whole;
  const chosen = chooseCases(wanted);
  if (json !== undefined) await requireWritable("--json", json);
  const others = await Promise.all((await readPeers(peer)).map(tryPeer));
  const figures: CaseFigures[] = [];
  const compared: PeerFigures[] = [];
  const write = async () => {
    if (json !== undefined) await writeFile(json, `${JSON.stringify(document(figures, compared, effort), null, 2)}\n`);
  };
  if (chosen.cases.length > 0 || others.length > 0) {
    await withTarget(async (target, stops) => {
      const peers =
        others.length === 0 ? [] : [await tryPeer(ownPeer(target.url, await target.callerOf([tenant]))), ...others];
      if (chosen.cases.length > 0) {
        figures.push(...(await measureCases(target, chosen.cases, effort, stops)));
        console.log(caseTable(figures));
        await write();
      }
      await comparePeers(peers, effort, compared, write);
    });
  }
  if (chosen.traffic) {
    console.error(`${trafficName}: publishing its servers …`);
    const traffic = await measureTraffic(effort);
    figures.push(traffic);
    console.log(`\n${caseTable([traffic])}\n\n${trafficTable(traffic)}`);
    await write();
  }
});

async function withTarget(work: (target: Target, stops: (() => Promise<void>)[]) => Promise<void>): Promise<void> {
  const target = await startTarget();
  const stops = [target.stop];
  try {
    await publishServers(target);
    await work(target, stops);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function measureCases(
  target: Target,
  chosen: readonly Case[],
  effort: Effort,
  stops: (() => Promise<void>)[],
): Promise<CaseFigures[]> {
  const ready = await readyCases(target, chosen, stops);
  const floor = await startFloor(
    ready.map(({ case: { name, writes = false }, answer }) => ({ name, answer, readsBody: writes })),
  );
  stops.push(floor.stop);
  console.error("Counting what each case touches …");
  const counted = await countCases(target, ready, effort);
  const figures: CaseFigures[] = [];
  for (const [index, one] of counted.entries()) {
    console.error(`${index + 1} of ${counted.length}: ${one.case.name}`);
    figures.push(await measureCase(target, floor, one, effort));
  }
  return figures;
}

/** Whatever becomes of a peer, what was measured before is written and shown. */
async function comparePeers(
  peers: readonly Peer[],
  { rounds, hotSeconds, connections }: Effort,
  compared: PeerFigures[],
  write: () => Promise<void>,
): Promise<void> {
  if (peers.length === 0) return;
  try {
    for (const question of Object.keys(questions) as Question[]) {
      console.error(`${questions[question]}: ${peers.map(({ name }) => name).join(", ")}`);
      compared.push(...(await measurePeers(question, peers, { rounds, seconds: hotSeconds, connections })));
      await write();
    }
  } finally {
    if (compared.length > 0) console.log(`\n${peerTable(compared)}`);
  }
}

function chooseCases(wanted: readonly string[]): { cases: readonly Case[]; traffic: boolean } {
  const known = [...cases.map(({ name }) => name), trafficName];
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new UsageError(`There is no case "${unknown}"; there are ${known.join(", ")}.`);
  if (wanted.length === 0) return { cases, traffic: true };
  return { cases: cases.filter(({ name }) => wanted.includes(name)), traffic: wanted.includes(trafficName) };
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
    ready.push({ case: one, prepared, answer: await receive((prepared.target ?? target).url, prepared.next()) });
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
