import { readFile } from "node:fs/promises";
import { z } from "zod";
import { CommandError, UsageError } from "../../cli/command.ts";
import { readServer, tenant } from "../cases/servers.ts";
import { receive } from "./load.ts";
import { runRounds } from "./rounds.ts";
import { type Percentiles, percentilesOf, spreadOf } from "./statistics.ts";

/** What is asked of every server, in its own paths. */
export const questionNames = ["list 30 servers", "get one server's capabilities", "search"] as const;
export type QuestionName = (typeof questionNames)[number];

const Questions = z.strictObject({
  list: z.string(),
  get: z.string(),
  search: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
});
type Questions = z.infer<typeof Questions>;

export interface Peer {
  name: string;
  origin: string;
  questions: Questions;
}

export interface PeerFigures extends Percentiles {
  question: QuestionName;
  name: string;
  /** Against this registry in the same rounds. */
  ratio: number;
  perSecond: number;
  bytes: number;
}

/** What speaks the API of the official registry is asked in it; `{name}` is the first server that it lists. */
const official: Questions = {
  list: "/v0.1/servers?limit=30",
  get: "/v0.1/servers/{name}/versions/latest",
  search: "/v0.1/servers?search=weather&limit=5",
  headers: {},
};

/** Reads `NAME=URL`, or `NAME=FILE` of a peer that has its own paths. */
export async function readPeer(text: string): Promise<Peer> {
  const [, name, where] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || where === undefined)
    throw new UsageError(`--peer takes NAME=URL or NAME=FILE, not ${text}.`);
  if (/^https?:\/\//.test(where)) return withName({ name, origin: originOf(where), questions: official });
  const file = await readFile(where, "utf8").catch(() => {
    throw new CommandError(`--peer ${name}: ${where} is neither a URL nor a file.`);
  });
  const parsed = Questions.extend({ url: z.url() }).safeParse(JSON.parse(file));
  if (!parsed.success) throw new CommandError(`--peer ${name}: ${where}: ${z.prettifyError(parsed.error)}`);
  const { url, ...questions } = parsed.data;
  return withName({ name, origin: originOf(url), questions });
}

function originOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) throw new UsageError(`${url} is not a URL.`);
  return parsed.origin;
}

/** Puts in the server that is asked for: the first of the list. */
async function withName(peer: Peer): Promise<Peer> {
  const { origin, questions } = peer;
  if (!questions.get.includes("{name}")) return peer;
  const listed = await receive(origin, { method: "GET", path: questions.list, headers: questions.headers });
  const { servers = [] } = JSON.parse(listed.body.toString()) as { servers?: { server?: { name?: string } }[] };
  const name = servers[0]?.server?.name;
  if (name === undefined) throw new CommandError(`${peer.name} lists no server to ask for.`);
  return { ...peer, questions: { ...questions, get: questions.get.replace("{name}", encodeURIComponent(name)) } };
}

/** This registry, in its own paths. */
export function ownPeer(origin: string, headers: Record<string, string>): Peer {
  const list = "/api/catalog?limit=30&facets=false";
  const get = `/api/mcp/capabilities/${tenant}/${readServer}`;
  return { name: "rollcall", origin, questions: { list, get, search: "/api/search?limit=5&q=weather", headers } };
}

/** Asks all of them the same in the same rounds; the first is what the others are compared with. */
export async function measurePeers(
  peers: readonly Peer[],
  { rounds, seconds, connections }: { rounds: number; seconds: number; connections: number },
): Promise<PeerFigures[]> {
  const figures: PeerFigures[] = [];
  for (const [key, question] of [
    ["list", questionNames[0]],
    ["get", questionNames[1]],
    ["search", questionNames[2]],
  ] as const) {
    const asked = peers.map(({ name, origin, questions: { headers, ...paths } }) => {
      const exchange = { method: "GET", path: paths[key], headers };
      return { name, origin, connections, next: () => exchange, status: 200, exchange };
    });
    const bytes = new Map<string, number>();
    for (const { name, origin, exchange } of asked) {
      const { status, body } = await receive(origin, exchange);
      if (status !== 200) throw new CommandError(`${name}: GET ${exchange.path} answered ${status}.`);
      bytes.set(name, body.length);
    }
    const loads = await runRounds(asked, { rounds, seconds });
    const first = loads.get(peers[0]?.name ?? "") ?? [];
    for (const [name, own] of loads) {
      const ratio = spreadOf(own.map(({ perSecond }, round) => perSecond / (first[round]?.perSecond ?? 1)));
      figures.push({
        question,
        name,
        ratio: Number(ratio.median.toPrecision(3)),
        perSecond: Math.round(spreadOf(own.map(({ perSecond }) => perSecond)).median),
        ...percentilesOf(own.flatMap(({ latencies }) => latencies)),
        bytes: bytes.get(name) ?? 0,
      });
    }
  }
  return figures;
}
