import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AttemptOutcome,
  maxAttempts,
  nextAttempt,
  readRetryAfter,
} from "../../../src/subscriptions/retry-schedule.ts";

const now = Date.parse("2027-01-15T08:00:00Z");
const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const answered = (status: number, retryAfter: string | null = null): AttemptOutcome => ({
  kind: "answered",
  status,
  retryAfter,
});

describe("after an attempt", () => {
  it.each([200, 201, 202, 204, 299])("%i is success", (status) => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      expect(nextAttempt(answered(status), attempt, now, 0)).toEqual({ kind: "delivered" });
    }
  });

  it.each([300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 599])(
    "%i is tried again",
    (status) => {
      expect(nextAttempt(answered(status), 1, now, 0)).toEqual({ kind: "retry", at: now + 5 * second, attempt: 2 });
    },
  );

  it("so is one without an answer", () => {
    expect(nextAttempt({ kind: "unanswered" }, 1, now, 0)).toMatchObject({ kind: "retry", at: now + 5 * second });
  });

  it("410 disables at once, and so does an address that is refused", () => {
    for (const attempt of [1, 5, maxAttempts]) {
      expect(nextAttempt(answered(410, "5"), attempt, now, 0)).toEqual({ kind: "disable", reason: "gone" });
      expect(nextAttempt({ kind: "refused" }, attempt, now, 0)).toEqual({ kind: "disable", reason: "refused" });
    }
  });
});

describe("the schedule", () => {
  /** Every attempt of a delivery that keeps failing, as the time since the one before, and how it ends. */
  function failing(outcome: AttemptOutcome, random: number) {
    const waits: number[] = [];
    let [at, attempt] = [now, 1];
    for (;;) {
      const next = nextAttempt(outcome, attempt, at, random);
      if (next.kind !== "retry") return { waits, next };
      waits.push(next.at - at);
      [at, attempt] = [next.at, next.attempt];
    }
  }

  it("has ten attempts, and then gives up", () => {
    const { waits, next } = failing({ kind: "unanswered" }, 0);
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * hour);
    expect(waits).toEqual([5 * second, 5 * minute, 30 * minute, ...hours]);
    expect(next).toEqual({ kind: "disable", reason: "dead" });
    expect(maxAttempts).toBe(10);
  });

  it("gives up on 5xx, 4xx and 3xx alike, also where more time is asked for", () => {
    for (const status of [302, 404, 429, 503]) {
      const { waits, next } = failing(answered(status, "60"), 0.5);
      expect(waits).toHaveLength(9);
      expect(next).toEqual({ kind: "disable", reason: "dead" });
    }
  });

  it("spreads attempts by up to a fifth, always later", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const [least, some] = [0, random].map((chance) => nextAttempt({ kind: "unanswered" }, attempt, 0, chance));
        if (least?.kind !== "retry" || some?.kind !== "retry") throw new Error("no retry");
        expect(some.at).toBeGreaterThanOrEqual(least.at);
        expect(some.at).toBeLessThanOrEqual(least.at * 1.2);
        expect(Number.isInteger(some.at)).toBe(true);
      }),
    );
    expect(nextAttempt({ kind: "unanswered" }, 2, now, 0.5)).toMatchObject({ at: now + 5.5 * minute });
  });
});

describe("Retry-After", () => {
  it("puts the next attempt off, but never brings it forward", () => {
    expect(nextAttempt(answered(429, "3600"), 1, now, 0)).toMatchObject({ at: now + hour, attempt: 2 });
    expect(nextAttempt(answered(503, "Fri, 15 Jan 2027 09:30:00 GMT"), 1, now, 0)).toMatchObject({
      at: now + 90 * minute,
    });
    expect(nextAttempt(answered(429, "1"), 1, now, 0)).toMatchObject({ at: now + 5 * second });
    expect(nextAttempt(answered(429, "Fri, 15 Jan 2027 07:00:00 GMT"), 1, now, 0)).toMatchObject({
      at: now + 5 * second,
    });
  });

  it.each(["86401", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])(
    "is no more than a day, not %s",
    (text) => {
      expect(nextAttempt(answered(503, text), 1, now, 0)).toMatchObject({ at: now + 24 * hour });
    },
  );

  it.each([
    ...[null, "", "soon", "-5", "1.5", "1e3", "0x10", "+5", "5s", "5, 6", "9".repeat(21)],
    ...["2027-01-15T09:00:00Z", "Fri, 15 Jan 2027 09:00:00", "Fri, 15 Jan 2027 09:00:00 PST"],
    ...["Fri, 15 Foo 2027 09:00:00 GMT", "Fri, 45 Jan 2027 09:00:00 GMT", "Fri, 15 Jan 2027 29:00:00 GMT"],
  ])("says nothing as %j", (text) => {
    expect(readRetryAfter(text, now, hour)).toBeUndefined();
  });

  it("is within its bounds whatever it says", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.nat().map(String),
          fc.date().map((date) => date.toUTCString()),
        ),
        (text) => {
          const at = readRetryAfter(text, now, hour) ?? now;
          expect(at >= now && at <= now + hour).toBe(true);
        },
      ),
    );
  });
});
