import { describe, expect, it } from "vitest";
import { RateLimiter } from "../../../src/kernel/rate-limit.ts";

describe("a token bucket", () => {
  const second = 1_000;
  const drain = (buckets: RateLimiter, caller: string, now: number) => {
    let taken = 0;
    while (taken < 10_000 && buckets.consume(caller, now).ok) taken += 1;
    return taken;
  };

  it.each([
    ["full at first", { rate: 1, burst: 3 }, 0, 3],
    ["refilled at its rate", { rate: 2, burst: 100 }, 10 * second, 20],
    ["never fuller than its burst", { rate: 100, burst: 7 }, 3_600 * second, 7],
    ["without parts of a token", { rate: 1, burst: 5 }, 1.9 * second, 1],
  ])("is %s", (_, limit, wait, expected) => {
    const buckets = new RateLimiter(limit);
    const first = drain(buckets, "a", 0);
    expect(wait === 0 ? first : drain(buckets, "a", wait)).toBe(expected);
  });

  it.each([
    [{ rate: 1, burst: 1 }, 1],
    [{ rate: 1, burst: 100 }, 1],
    [{ rate: 1_000, burst: 1 }, 1],
  ])("with %o says when to come back, in whole seconds", (limit, expected) => {
    const buckets = new RateLimiter(limit);
    drain(buckets, "a", 0);
    const refused = buckets.consume("a", 0);
    expect(refused).toEqual({ ok: false, retryAfterSeconds: expected });
    expect(buckets.consume("a", expected * second)).toEqual({ ok: true });
  });

  it("counts what a request takes, and says when there is enough again", () => {
    const buckets = new RateLimiter({ rate: 10, burst: 100 });
    expect(buckets.consume("a", 0, 60)).toEqual({ ok: true });
    expect(buckets.consume("a", 0, 60)).toEqual({ ok: false, retryAfterSeconds: 2 });
    expect(buckets.consume("a", 0, 40)).toEqual({ ok: true });
    expect(buckets.consume("a", 2 * second, 21)).toEqual({ ok: false, retryAfterSeconds: 1 });
    expect(buckets.consume("a", 2 * second, 20)).toEqual({ ok: true });
  });

  it("lets a request that is larger than itself through when it is full, and waits until that is paid", () => {
    const buckets = new RateLimiter({ rate: 10, burst: 100 });
    expect(buckets.consume("a", 0, 250)).toEqual({ ok: true });
    expect(buckets.consume("a", 0, 1)).toEqual({ ok: false, retryAfterSeconds: 16 });
    expect(buckets.consume("a", 16 * second, 1)).toEqual({ ok: true });
    expect(buckets.consume("b", 0, 100)).toEqual({ ok: true });
    expect(buckets.consume("b", 5 * second, 250)).toEqual({ ok: false, retryAfterSeconds: 5 });
  });

  it("gives nothing for a clock that steps back and forward again", () => {
    const buckets = new RateLimiter({ rate: 1, burst: 5 });
    drain(buckets, "a", 100 * second);
    expect(buckets.consume("a", 0).ok).toBe(false);
    expect(buckets.consume("a", 100 * second).ok).toBe(false);
  });

  it("is each caller's own", () => {
    const buckets = new RateLimiter({ rate: 1, burst: 2 });
    drain(buckets, "a", 0);
    expect(drain(buckets, "b", 0)).toBe(2);
    expect(buckets.consume("__proto__", 0).ok).toBe(true);
  });

  it("is kept for callers that ask again, however many others come", () => {
    const buckets = new RateLimiter({ rate: 0.001, burst: 10 }, 100);
    drain(buckets, "greedy", 0);
    for (let now = 1; now <= 1_000; now += 1) {
      buckets.consume(`passing ${now}`, now);
      if (now % 10 === 0) expect(buckets.consume("greedy", now).ok).toBe(false);
    }
  });

  it("is forgotten only when it is full again, while that makes room", () => {
    const buckets = new RateLimiter({ rate: 1, burst: 100 }, 3);
    drain(buckets, "greedy", 0);
    buckets.consume("idle", 0);
    buckets.consume("idler", 0);
    buckets.consume("new", 2 * second);
    expect(drain(buckets, "greedy", 2 * second)).toBe(2);
  });
});
