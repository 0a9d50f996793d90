import type { Case, Prepared } from "../cases/case.ts";
import type { Received } from "./exchange.ts";
import type { Floor } from "./floor.ts";
import { atRest, type Operations, operationsOf } from "./operations.ts";
import { runRounds } from "./rounds.ts";
import { type Percentiles, percentilesOf, type Spread, spreadOf } from "./statistics.ts";
import type { Target } from "./target.ts";

/** How long and how hard each case is asked. */
export interface Effort {
  rounds: number;
  /** Of one round of a hot case, shared between the registry and the floor. */
  hotSeconds: number;
  /** Of one round of any other. */
  seconds: number;
  connections: number;
  /** How many writes are counted, each by itself. */
  writesCounted: number;
  /** Of one round of mixed traffic; hot read and floor share the seconds beside it. */
  traffic: { seconds: number; besideSeconds: number };
}

export interface CaseFigures extends Percentiles {
  name: string;
  /** Requests a second against the floor's in the same round: the median of all rounds. */
  ratio: number;
  ratioLowest: number;
  ratioHighest: number;
  perSecond: number;
  floor: Percentiles & { perSecond: number };
  bytes: number;
  connections: number;
  operations: Operations;
}

/** A case that is ready to be asked, with what it answers. */
export interface ReadyCase {
  case: Case;
  prepared: Prepared;
  answer: Received;
}

/** And with what it touches. */
export interface CountedCase extends ReadyCase {
  operations: Operations;
}

/**
 * Counts all cases before any of them is measured: under load thousands of things are published, and for minutes after
 * that there is something to be done for one of them.
 */
export async function countCases(
  target: Target,
  ready: readonly ReadyCase[],
  { writesCounted }: Effort,
): Promise<CountedCase[]> {
  await atRest(target);
  const counted: CountedCase[] = [];
  for (const one of ready) {
    counted.push({
      ...one,
      operations: await operationsOf(one.prepared.target ?? target, one.prepared, one.case, writesCounted),
    });
  }
  return counted;
}

export async function measureCase(
  target: Target,
  floor: Floor,
  { case: measured, prepared, answer, operations }: CountedCase,
  effort: Effort,
): Promise<CaseFigures> {
  const { name, status, hot = false } = measured;
  const connections = measured.connections ?? effort.connections;
  const side = { connections, next: prepared.next, status };
  const loads = await runRounds(
    [
      { ...side, name: "floor", origin: floor.origins.get(name) ?? "" },
      { ...side, name: "registry", origin: (prepared.target ?? target).url },
    ],
    { rounds: effort.rounds, seconds: hot ? effort.hotSeconds : effort.seconds },
  );
  const [bare = [], own = []] = [loads.get("floor"), loads.get("registry")];
  const ratio = rounded(spreadOf(own.map(({ perSecond }, round) => perSecond / (bare[round]?.perSecond ?? 1))));
  return {
    name,
    ratio: ratio.median,
    ratioLowest: ratio.lowest,
    ratioHighest: ratio.highest,
    perSecond: Math.round(spreadOf(own.map(({ perSecond }) => perSecond)).median),
    ...percentilesOf(own.flatMap(({ latencies }) => latencies)),
    floor: {
      perSecond: Math.round(spreadOf(bare.map(({ perSecond }) => perSecond)).median),
      ...percentilesOf(bare.flatMap(({ latencies }) => latencies)),
    },
    bytes: answer.body.length,
    connections,
    operations,
  };
}

/** Slow cases are a small part of the floor: three figures that tell something, rather than three places. */
export function rounded({ median, lowest, highest }: Spread): Spread {
  const short = (value: number) => Number(value.toPrecision(3));
  return { median: short(median), lowest: short(lowest), highest: short(highest) };
}
