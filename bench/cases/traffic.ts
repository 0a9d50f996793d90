import { type Random, seeded, zipf } from "../corpus/random.ts";
import type { Exchange } from "../harness/exchange.ts";
import { tool } from "./tools.ts";

export const trafficName = "mixed traffic";
/** Publishes go to servers that exist, so every response of the traffic has this status. */
export const trafficStatus = 200;

/** Percent of all requests. */
export const trafficShares = {
  "manifest read": 69,
  "capability by id": 10,
  search: 10,
  "catalogue page": 5,
  "official list": 5,
  publish: 1,
} as const;
export type TrafficKind = keyof typeof trafficShares;
export const trafficKinds = Object.keys(trafficShares) as TrafficKind[];

export interface TrafficExchange extends Exchange {
  kind: TrafficKind;
}

/** Has a token of its own. */
export interface TrafficCaller {
  tenants: readonly string[];
  headers: Record<string, string>;
}

const [tenantCount, serverCount, callerCount, toolsEach] = [30, 300, 500, 12];
const seed = 20_261_120;
/** Of the first tool: no other case publishes tools with seeds near it. */
const firstSeed = 500_000;

/** Each is in about one tool of ten. */
const words = [
  ...["invoice", "parcel", "forecast", "ticket", "recipe", "station"],
  ...["account", "photo", "timetable", "lease", "export", "customer"],
];

export interface TrafficServer {
  tenant: string;
  name: string;
  firstSeed: number;
}

/** From the most read to the least; each tenant has servers all along the order. */
export const trafficServers = Array.from(
  { length: serverCount },
  (_, rank): TrafficServer => ({
    tenant: `traffic-${rank % tenantCount}`,
    name: `server-${rank}`,
    firstSeed: firstSeed + rank * toolsEach,
  }),
);

export function toolsOf(server: TrafficServer, note?: string): Record<string, unknown>[] {
  return Array.from({ length: toolsEach }, (_, index) => tool(server.firstSeed + index, note));
}

/** Two different tenants for every caller; every tenant has members. */
export function tenantsOfCallers(): string[][] {
  const random = seeded(seed);
  return Array.from({ length: callerCount }, (_, index) => {
    const first = index % tenantCount;
    const second = (first + 1 + random.below(tenantCount - 1)) % tenantCount;
    return [`traffic-${first}`, `traffic-${second}`];
  });
}

/** The same requests in the same order in every run. */
export function mixTraffic(callers: readonly TrafficCaller[]): () => TrafficExchange {
  const random = seeded(seed);
  const rank = zipf(random, serverCount);
  const members = new Map(
    trafficServers.map(({ tenant }) => [tenant, callers.filter(({ tenants }) => tenants.includes(tenant))]),
  );
  let published = 0;
  const exchanges: Record<TrafficKind, () => Exchange> = {
    "manifest read": () => get(random, callers, manifestPath(at(trafficServers, rank()))),
    "capability by id": () => get(random, callers, capabilityPath(at(trafficServers, rank()), random.below(toolsEach))),
    search: () => get(random, callers, `/api/search?limit=5&q=${drawWords(random).join("+")}`),
    "catalogue page": () => get(random, callers, "/api/catalog?limit=30"),
    "official list": () => get(random, callers, "/v0.1/servers"),
    publish() {
      const server = at(trafficServers, rank());
      const { headers } = drawn(random, members.get(server.tenant) ?? []);
      published += 1;
      // The names stay, so that every capability is still there to be read by its id.
      const body = { version: `1.0.${published}`, tools: toolsOf(server, ` Change ${published}.`) };
      return {
        method: "PUT",
        path: manifestPath(server),
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      };
    },
  };
  return () => {
    const kind = drawKind(random);
    return { ...exchanges[kind](), kind };
  };
}

function get(random: Random, callers: readonly TrafficCaller[], path: string): Exchange {
  return { method: "GET", path, headers: drawn(random, callers).headers };
}

function manifestPath({ tenant, name }: TrafficServer): string {
  return `/api/mcp/capabilities/${tenant}/${name}`;
}

function capabilityPath({ tenant, name, firstSeed: first }: TrafficServer, index: number): string {
  return `/api/capabilities/${tenant}/mcp.${name}.${tool(first + index)["name"]}`;
}

function drawKind(random: Random): TrafficKind {
  let left = random.below(100);
  for (const kind of trafficKinds) {
    left -= trafficShares[kind];
    if (left < 0) return kind;
  }
  throw new Error("The shares of the traffic are less than 100 percent");
}

/** Two to five different words, in any order. */
function drawWords(random: Random): string[] {
  const left = [...words];
  return Array.from({ length: 2 + random.below(4) }, () => at(left.splice(random.below(left.length), 1), 0));
}

function drawn<T>(random: Random, from: readonly T[]): T {
  return at(from, random.below(from.length));
}

function at<T>(from: readonly T[], index: number): T {
  const found = from[index];
  if (found === undefined) throw new Error(`The traffic has no item ${index} of ${from.length}`);
  return found;
}
