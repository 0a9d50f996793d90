import { CommandError } from "../../scripts/command.ts";
import type { Exchange } from "./exchange.ts";
import { Connections, type Load } from "./load.ts";

/** One of those that are asked the same. */
export interface Side {
  name: string;
  origin: string;
  connections: number;
  next: () => Exchange;
  status: number;
}

interface RoundOptions {
  rounds: number;
  /** Of one round, shared among the sides. */
  seconds: number;
}

/**
 * Asks all sides in turn, there and back again within each round (a b b a), so that whatever else the machine does
 * falls on all of them alike. Answers each side's loads, one for each round.
 */
export async function runRounds(
  sides: readonly Side[],
  { rounds, seconds }: RoundOptions,
): Promise<Map<string, Load[]>> {
  const open = sides.map((side) => ({ side, connections: new Connections(side.origin, side.connections) }));
  const loads = new Map<string, Load[]>(sides.map(({ name }) => [name, []]));
  const slice = seconds / (2 * sides.length);
  try {
    // Once without counting: connections are made, caches and compilers warm.
    for (const { side, connections } of open) await loadOf(side, connections, Math.min(1, slice));
    for (let round = 1; round <= rounds; round += 1) {
      const halves = new Map<string, Load[]>(sides.map(({ name }) => [name, []]));
      for (const { side, connections } of [...open, ...open.toReversed()]) {
        halves.get(side.name)?.push(await loadOf(side, connections, slice));
      }
      for (const [name, halvesOf] of halves) loads.get(name)?.push(joined(halvesOf));
    }
  } finally {
    await Promise.all(open.map(({ connections }) => connections.close()));
  }
  return loads;
}

/** What fails says whose it is. */
async function loadOf({ name, next, status }: Side, connections: Connections, seconds: number): Promise<Load> {
  try {
    return await connections.load({ next, status, seconds });
  } catch (error) {
    throw error instanceof CommandError ? new CommandError(`${name}: ${error.message}`) : error;
  }
}

/** The loads of one side in one round as one load. */
export function joined(loads: readonly Load[]): Load {
  const perSecond = loads.reduce((sum, load) => sum + load.perSecond, 0) / loads.length;
  return { perSecond, latencies: loads.flatMap(({ latencies }) => latencies) };
}
