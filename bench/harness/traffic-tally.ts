import { type TrafficExchange, type TrafficKind, trafficKinds, trafficShares } from "../cases/traffic.ts";
import type { Answer } from "./load.ts";
import { type Percentiles, percentilesOf } from "./statistics.ts";

/** Where a response came from, nearest first: the response cache sends whole responses, the others were rendered. */
export const layers = ["response cache", "memory", "edge", "kv", "object"] as const;

export interface KindFigures extends Percentiles {
  kind: TrafficKind | "all";
  requests: number;
  /** Share of the responses that came from each layer. */
  layers: Record<string, number>;
}

interface Counts {
  latencies: number[];
  layers: Map<string, number>;
}

/** Counts the responses of mixed traffic by kind and layer. */
export class TrafficTally {
  readonly #kinds = new Map<TrafficKind, Counts>(
    trafficKinds.map((kind) => [kind, { latencies: [], layers: new Map() }]),
  );
  #bytes = 0;
  #dropped = 0;

  add({ kind }: TrafficExchange, { headers, bytes, milliseconds }: Answer): void {
    const counts = this.#kinds.get(kind);
    const layer = layerOf(headers);
    counts?.latencies.push(milliseconds);
    counts?.layers.set(layer, (counts.layers.get(layer) ?? 0) + 1);
    this.#bytes += bytes;
  }

  drop(): void {
    this.#dropped += 1;
  }

  get dropped(): number {
    return this.#dropped;
  }

  get requests(): number {
    return this.#sum(({ latencies }) => latencies.length);
  }

  get meanBytes(): number {
    return Math.round(this.#bytes / Math.max(1, this.requests));
  }

  get latencies(): number[] {
    return [...this.#kinds.values()].flatMap(({ latencies }) => latencies);
  }

  /** Of all reads, whether or not their route uses the response cache. */
  get responseCacheHitRate(): number {
    const published = this.#kinds.get("publish")?.latencies.length ?? 0;
    const hits = this.#sum((counts) => counts.layers.get("response cache") ?? 0);
    return share(hits, this.requests - published);
  }

  /** Every kind, then all of them together. */
  figures(): KindFigures[] {
    const all = { latencies: this.latencies, layers: new Map<string, number>() };
    for (const counts of this.#kinds.values()) {
      for (const [layer, count] of counts.layers) all.layers.set(layer, (all.layers.get(layer) ?? 0) + count);
    }
    return [...[...this.#kinds].map(([kind, counts]) => figuresOf(kind, counts)), figuresOf("all", all)];
  }

  #sum(count: (counts: Counts) => number): number {
    return [...this.#kinds.values()].reduce((sum, counts) => sum + count(counts), 0);
  }
}

/** Only a response from the response cache has no request id; every other says in a header where it is from. */
function layerOf(headers: Answer["headers"]): string {
  return headers["x-request-id"] === undefined ? "response cache" : String(headers["rollcall-source"] ?? "unknown");
}

function figuresOf(kind: KindFigures["kind"], { latencies, layers: counted }: Counts): KindFigures {
  const shares = [...counted].map(([layer, count]) => [layer, share(count, latencies.length)]);
  return { kind, requests: latencies.length, ...percentilesOf(latencies), layers: Object.fromEntries(shares) };
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Number((part / whole).toFixed(4));
}

/** Percent that a kind has in the traffic. */
export function percentOf(kind: KindFigures["kind"]): number {
  return kind === "all" ? 100 : trafficShares[kind];
}
