import { readServer, tenant } from "../cases/servers.ts";
import { receive } from "./load.ts";
import { ownName, type Peer, type Question, questions } from "./peer.ts";
import { runRounds } from "./rounds.ts";
import { type Percentiles, percentilesOf, spreadOf } from "./statistics.ts";

export interface PeerFigures extends Percentiles {
  question: string;
  name: string;
  /** Against this registry in the same rounds. */
  ratio: number;
  perSecond: number;
  bytes: number;
}

/** This registry, in its own paths, with a word that the servers of the cases speak of. */
export function ownPeer(origin: string, headers: Record<string, string>): Peer {
  const list = "/api/catalog?limit=30&facets=false";
  const get = `/api/mcp/capabilities/${tenant}/${readServer}`;
  return { name: ownName, origin, paths: { list, get, search: "/api/search?limit=5&q=invoice" }, headers };
}

/** Asks all of them one question in the same rounds; the first is what the others are compared with. */
export async function measurePeers(
  question: Question,
  peers: readonly Peer[],
  { rounds, seconds, connections }: { rounds: number; seconds: number; connections: number },
): Promise<PeerFigures[]> {
  const asked = peers.flatMap(({ name, origin, paths: { [question]: path }, headers }) => {
    if (path === undefined) return [];
    const exchange = { method: "GET", path, headers };
    return [{ name, origin, connections, next: () => exchange, status: 200, exchange }];
  });
  const loads = await runRounds(asked, { rounds, seconds });
  const first = loads.get(peers[0]?.name ?? "") ?? [];
  const figures: PeerFigures[] = [];
  for (const { name, origin, exchange } of asked) {
    const own = loads.get(name) ?? [];
    const ratio = spreadOf(own.map(({ perSecond }, round) => perSecond / (first[round]?.perSecond ?? 1)));
    figures.push({
      question: questions[question],
      name,
      ratio: Number(ratio.median.toPrecision(3)),
      perSecond: Math.round(spreadOf(own.map(({ perSecond }) => perSecond)).median),
      ...percentilesOf(own.flatMap(({ latencies }) => latencies)),
      bytes: (await receive(origin, exchange)).body.length,
    });
  }
  return figures;
}
