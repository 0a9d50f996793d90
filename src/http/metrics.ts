import { z } from "zod";
import type { AnswerSource, Usage } from "../kernel/platform/usage.ts";

/** Upper bounds of the latency buckets, in milliseconds. */
const edges = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];

const counts = z.record(z.string(), z.int());

/** Pairs of a bound and a tenant that are told apart. */
const maxBounds = 1_000;

export const MetBound = z.object({
  bound: z.string().describe("Name of the bound, as in `details.bound` of the error."),
  tenant: z.string().optional().describe("Absent where the request named none."),
  times: z.int(),
});

export const RouteCounts = z.object({
  requests: z.int(),
  statuses: counts.describe("Responses by status."),
  sources: counts.describe("Responses by the layer that they came from."),
  latency: z
    .array(z.int())
    .describe("Requests per bucket of `latencyEdgesMs`; the last bucket is above the highest edge."),
});
type RouteCounts = z.infer<typeof RouteCounts>;

/**
 * Counts of one isolate since it started, in memory only. For totals, a deployment scrapes them or uses its platform's
 * metrics.
 */
export class Metrics {
  readonly #routes = new Map<string, RouteCounts>();
  /** How often a bound was met, by its name and the tenant. */
  readonly #bounds = new Map<string, number>();
  readonly #operations: () => Usage;
  readonly #startedAt: number;

  constructor(operations: () => Usage, startedAt: number) {
    this.#operations = operations;
    this.#startedAt = startedAt;
  }

  record(route: string, status: number, milliseconds: number, source: AnswerSource | undefined): void {
    let counts = this.#routes.get(route);
    if (counts === undefined) {
      counts = { requests: 0, statuses: {}, sources: {}, latency: new Array(edges.length + 1).fill(0) };
      this.#routes.set(route, counts);
    }
    counts.requests += 1;
    counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
    if (source !== undefined) counts.sources[source] = (counts.sources[source] ?? 0) + 1;
    let bucket = 0;
    while (bucket < edges.length && milliseconds > (edges[bucket] ?? 0)) bucket += 1;
    counts.latency[bucket] = (counts.latency[bucket] ?? 0) + 1;
  }

  /** Counts a request that met a bound. Made-up tenants must not fill the table: those beyond it count together. */
  recordBound(bound: string, tenant: string | undefined): void {
    const own = `${bound} ${tenant ?? ""}`;
    const key = this.#bounds.has(own) || this.#bounds.size < maxBounds ? own : `${bound} `;
    this.#bounds.set(key, (this.#bounds.get(key) ?? 0) + 1);
  }

  snapshot(now: number) {
    return {
      since: new Date(this.#startedAt).toISOString(),
      uptimeSeconds: Math.round((now - this.#startedAt) / 1_000),
      operations: { ...this.#operations() },
      latencyEdgesMs: edges,
      bounds: [...this.#bounds].map(([key, times]) => {
        const [bound = "", tenant = ""] = key.split(" ");
        return { bound, tenant: tenant === "" ? undefined : tenant, times };
      }),
      routes: Object.fromEntries([...this.#routes].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }
}
