import { describe, expect, it } from "vitest";
import {
  mixTraffic,
  type TrafficKind,
  tenantsOfCallers,
  trafficKinds,
  trafficShares,
} from "../../bench/cases/traffic.ts";
import { TrafficTally } from "../../bench/harness/traffic-tally.ts";

const callers = tenantsOfCallers().map((tenants, index) => ({
  tenants,
  headers: { Authorization: `caller ${index}` },
}));
const drawn = (count: number) => Array.from({ length: count }, mixTraffic(callers));
const many = drawn(20_000);
const ofKind = (kind: TrafficKind) => many.filter((exchange) => exchange.kind === kind);
const callerOf = ({ headers }: { headers: Record<string, string> }) =>
  callers.find((caller) => caller.headers.Authorization === headers.Authorization);

describe("mixed traffic", () => {
  it("is the same in every run", () => {
    expect(drawn(500)).toEqual(many.slice(0, 500));
  });

  it("has every kind of request as often as its share", () => {
    expect(Object.values(trafficShares).reduce<number>((sum, share) => sum + share, 0)).toBe(100);
    for (const kind of trafficKinds) {
      const percent = (100 * ofKind(kind).length) / many.length;
      expect(Math.abs(percent / trafficShares[kind] - 1), kind).toBeLessThan(0.1);
    }
  });

  it("comes from 500 callers who hold two tenants of thirty each", () => {
    expect(new Set(many.map(({ headers }) => headers.Authorization)).size).toBe(500);
    expect(new Set(callers.map(({ tenants }) => new Set(tenants).size))).toEqual(new Set([2]));
    expect(new Set(callers.flatMap(({ tenants }) => tenants)).size).toBe(30);
  });

  it("reads 300 servers, the first about twice as often as the second", () => {
    const counts = new Map<string, number>();
    for (const { path } of ofKind("manifest read")) counts.set(path, (counts.get(path) ?? 0) + 1);
    const [first = 0, second = 0] = [...counts.values()].sort((a, b) => b - a);
    expect(counts.size).toBe(300);
    expect(first / second).toBeGreaterThan(1.6);
    expect(first / second).toBeLessThan(2.4);
  });

  it("publishes twelve tools as a member of the tenant, each time different", () => {
    const publishes = ofKind("publish");
    expect(new Set(publishes.map(({ body }) => body)).size).toBe(publishes.length);
    for (const exchange of publishes) {
      expect(callerOf(exchange)?.tenants).toContain(exchange.path.split("/")[4]);
      expect(JSON.parse(exchange.body ?? "").tools).toHaveLength(12);
    }
  });

  it("searches for two to five different words out of twelve", () => {
    const asked = ofKind("search").map(({ path }) => path.split("q=")[1]?.split("+") ?? []);
    expect(new Set(asked.flat()).size).toBe(12);
    expect(new Set(asked.map((words) => words.length))).toEqual(new Set([2, 3, 4, 5]));
    expect(asked.filter((words) => new Set(words).size < words.length)).toEqual([]);
  });
});

describe("the tally of mixed traffic", () => {
  it("counts responses by kind and layer; one without a request id came from the response cache", () => {
    const tally = new TrafficTally();
    const add = (kind: TrafficKind, headers: Record<string, string>) =>
      tally.add({ kind, method: "GET", path: "/", headers: {} }, { headers, bytes: 10, milliseconds: 1 });
    add("manifest read", { "rollcall-source": "memory" });
    add("manifest read", { "rollcall-source": "memory", "x-request-id": "1" });
    add("search", { "rollcall-source": "object", "x-request-id": "2" });
    add("publish", { "rollcall-source": "object", "x-request-id": "3" });
    const figures = new Map(tally.figures().map(({ kind, requests, layers }) => [kind, { requests, layers }]));
    expect(figures.get("manifest read")).toEqual({ requests: 2, layers: { "response cache": 0.5, memory: 0.5 } });
    expect(figures.get("all")).toEqual({ requests: 4, layers: { "response cache": 0.25, memory: 0.25, object: 0.5 } });
    expect(tally.responseCacheHitRate).toBe(0.3333);
    expect(tally.meanBytes).toBe(10);
  });
});
