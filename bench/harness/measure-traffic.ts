import { CommandError } from "../../scripts/command.ts";
import { prepareTraffic } from "../cases/prepare-traffic.ts";
import { hotRead } from "../cases/reads.ts";
import { publishReadServer } from "../cases/servers.ts";
import { type TrafficExchange, trafficName, trafficStatus } from "../cases/traffic.ts";
import type { Exchange } from "./exchange.ts";
import { startFloor } from "./floor.ts";
import { Connections, type Load, receive } from "./load.ts";
import { type CaseFigures, type Effort, rounded } from "./measure.ts";
import { counter, type Operations } from "./operations.ts";
import { joined } from "./rounds.ts";
import { percentilesOf, type Spread, spreadOf } from "./statistics.ts";
import { startTarget, type Target } from "./target.ts";
import { type KindFigures, TrafficTally } from "./traffic-tally.ts";

export interface TrafficFigures extends CaseFigures {
  requests: number;
  /** Connections that the server closed with a request under way. */
  dropped: number;
  /** Requests a second against the hot read's in the same round. */
  ratioToHotRead: Spread;
  hotRead: { ratio: number; perSecond: number };
  responseCacheHitRate: number;
  kinds: KindFigures[];
}

/** A connection now and then may be lost under load; more than this share of requests lost is a defect. */
const mostDropped = 0.01;

interface Sent {
  /** The hot read, which the floor is asked as well. */
  hot: Exchange;
  next: () => TrafficExchange;
}

type Side = "floor" | "hot" | "mixed";

interface Round extends Record<Side, Load> {
  /** All that the registry touched meanwhile, in the background as well. */
  operations: Operations;
}

/**
 * Measures mixed traffic, and in the same rounds the hot read and its floor. In a registry of its own: the servers would
 * change what the other cases find, and the writes of those would still be under way.
 */
export async function measureTraffic(effort: Effort): Promise<TrafficFigures> {
  const target = await startTarget();
  const stops = [target.stop];
  try {
    await publishReadServer(target);
    const { next } = await prepareTraffic(target);
    const hot = (await hotRead.prepare(target, { sessions: 1 })).next();
    const answer = await receive(target.url, hot);
    const floor = await startFloor([{ name: hotRead.name, answer, readsBody: false }]);
    stops.push(floor.stop);
    return await measureRounds(target, floor.origins.get(hotRead.name) ?? "", { hot, next }, effort);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function measureRounds(target: Target, floor: string, sent: Sent, effort: Effort): Promise<TrafficFigures> {
  const { rounds, connections } = effort;
  const open = {
    floor: new Connections(floor, connections),
    hot: new Connections(target.url, connections),
    mixed: new Connections(target.url, connections),
  };
  const count = await counter(target);
  try {
    // Once without counting: what was published reaches KV, tokens are verified, bodies rendered, compilers warm.
    await measureRound(open, sent, count, effort, new TrafficTally());
    const tally = new TrafficTally();
    const measured: Round[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      measured.push(await measureRound(open, sent, count, effort, tally));
    }
    return figuresOf(measured, tally, connections);
  } finally {
    await Promise.all(Object.values(open).map((one) => one.close()));
  }
}

/** Floor, hot read, traffic, hot read, floor. The traffic is not interrupted, so that heads expire as they do in use. */
async function measureRound(
  open: Record<Side, Connections>,
  sent: Sent,
  count: () => Promise<Operations>,
  { traffic: { seconds, besideSeconds } }: Effort,
  tally: TrafficTally,
): Promise<Round> {
  const loads: Record<"floor" | "hot", Load[]> = { floor: [], hot: [] };
  const beside = async (side: "floor" | "hot") => {
    const load = await open[side].load({ next: () => sent.hot, status: hotRead.status, seconds: besideSeconds / 4 });
    loads[side].push(load);
  };
  await beside("floor");
  await beside("hot");
  const before = await count();
  const mixed = await open.mixed.load({
    next: sent.next,
    status: trafficStatus,
    seconds,
    onAnswer: (exchange, answer) => tally.add(exchange, answer),
    onDropped: () => tally.drop(),
  });
  const after = await count();
  await beside("hot");
  await beside("floor");
  return { floor: joined(loads.floor), hot: joined(loads.hot), mixed, operations: difference(after, before) };
}

function difference(after: Operations, before: Operations): Operations {
  return Object.fromEntries(Object.entries(after).map(([name, total]) => [name, total - (before[name] ?? 0)]));
}

function figuresOf(measured: readonly Round[], tally: TrafficTally, connections: number): TrafficFigures {
  const { requests, dropped } = tally;
  if (dropped > mostDropped * requests) {
    throw new CommandError(`${trafficName}: ${dropped} connections were dropped beside ${requests} responses.`);
  }
  const perSecond = (side: Side) => Math.round(spreadOf(measured.map((round) => round[side].perSecond)).median);
  const against = (side: Side, other: Side) =>
    rounded(spreadOf(measured.map((round) => round[side].perSecond / round[other].perSecond)));
  const ratio = against("mixed", "floor");
  return {
    name: trafficName,
    ratio: ratio.median,
    ratioLowest: ratio.lowest,
    ratioHighest: ratio.highest,
    perSecond: perSecond("mixed"),
    ...percentilesOf(tally.latencies),
    floor: {
      perSecond: perSecond("floor"),
      ...percentilesOf(measured.flatMap((round) => round.floor.latencies)),
    },
    bytes: tally.meanBytes,
    connections,
    operations: perRequest(
      measured.map(({ operations }) => operations),
      requests,
    ),
    requests,
    dropped,
    ratioToHotRead: against("mixed", "hot"),
    hotRead: { ratio: against("hot", "floor").median, perSecond: perSecond("hot") },
    responseCacheHitRate: tally.responseCacheHitRate,
    kinds: tally.figures(),
  };
}

function perRequest(rounds: readonly Operations[], requests: number): Operations {
  const names = Object.keys(rounds[0] ?? {});
  const sum = (name: string) => rounds.reduce((total, operations) => total + (operations[name] ?? 0), 0);
  return Object.fromEntries(names.map((name) => [name, Number((sum(name) / Math.max(1, requests)).toPrecision(3))]));
}
