import { beforeEach, describe, expect, it, vi } from "vitest";
import type { SubscriptionChange } from "../../../src/subscriptions/schema.ts";
import { newTenant, onBench } from "./delivery-bench.ts";

beforeEach(async () => {
  await newTenant();
  vi.spyOn(console, "error").mockImplementation(() => {});
});

const seconds = (...values: number[]) => values.map((value) => value * 1_000);
const minute = 60;
const hour = 60 * minute;

describe("the schedule", () => {
  it("is the standard's, and then the subscription is stopped and says why", () =>
    onBench(async (bench) => {
      bench.receiver.answer = () => 500;
      const { id } = bench.subscribe();
      bench.write();
      const waits: number[] = [];
      for (let attempt = 1; attempt <= 12 && bench.show(id).state === "active"; attempt += 1) {
        await bench.deliveries.drain();
        waits.push((bench.due(id)[0] ?? 0) - bench.now);
        // Not a millisecond early.
        bench.now = (bench.due(id)[0] ?? 0) - 1;
        const before = bench.receiver.received.length;
        await bench.deliveries.drain();
        if (bench.show(id).state === "active") expect(bench.receiver.received).toHaveLength(before);
        bench.now += 1;
      }
      const delays = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
      expect(waits.slice(0, -1)).toEqual(seconds(...delays));
      expect(bench.receiver.received).toHaveLength(10);
      const shown = bench.show(id);
      expect(shown).toMatchObject({ state: "disabled", reason: "dead", pending: 1 });
      expect(shown.attempts.map(({ attempt }) => attempt)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
      expect(shown.attempts[0]).toMatchObject({ status: 500 });
      expect(shown.attempts[0]?.nextAt).toBeUndefined();
      expect(shown.attempts[1]?.nextAt).toBe(shown.attempts[0]?.at);
    }));

  it("has jitter", () =>
    onBench(async (bench) => {
      bench.receiver.answer = () => 500;
      bench.random = 0.5;
      const { id } = bench.subscribe();
      bench.write();
      await bench.deliveries.drain();
      expect(bench.due(id)).toEqual([bench.now + 5_500]);
    }));

  it("starts over when the subscription is started again, with what waited and nothing of what it missed", () =>
    onBench(async (bench) => {
      bench.receiver.answer = () => 410;
      const { id } = bench.subscribe();
      const before = bench.write();
      await bench.deliveries.drain();
      expect(bench.show(id)).toMatchObject({ state: "disabled", reason: "gone" });
      bench.write();
      bench.now += 10 * hour * 1_000;
      bench.receiver.answer = () => 200;
      await bench.deliveries.drain();
      expect(bench.receiver.received).toHaveLength(1);

      bench.change(id, { enabled: true });
      const after = bench.write();
      await bench.deliveries.drain();
      expect(bench.receiver.received.slice(1).map(({ body }) => body.data.generation)).toEqual([before, after]);
      expect(bench.show(id)).toMatchObject({ state: "active", pending: 0 });
      expect(bench.show(id).reason).toBeUndefined();
    }));

  it.each<[string, SubscriptionChange, "active" | "disabled"]>([
    ["started again", { enabled: true }, "disabled"],
    ["sent elsewhere", { url: "https://receiver.example/mended" }, "active"],
  ])("is a whole one for what waited when the subscription is %s", (_, change, state) =>
    onBench(async (bench) => {
      bench.receiver.answer = () => 500;
      const { id } = bench.subscribe();
      bench.write();
      for (let attempt = 1; attempt < (state === "active" ? 4 : 11); attempt += 1) {
        await bench.deliveries.drain();
        bench.now = bench.due(id)[0] ?? bench.now;
      }
      // In the middle of a wait of hours, or after the last.
      bench.now -= 1;
      expect(bench.show(id).state).toBe(state);
      bench.change(id, change);
      await bench.deliveries.drain();
      expect(bench.show(id).attempts[0]).toMatchObject({ attempt: 1, status: 500 });
      expect(bench.due(id)).toEqual([bench.now + 5_000]);
    }),
  );

  it.each([301, 302, 303, 304, 307, 308, 400, 401, 404, 500, 503])(
    "goes on after %i, which is not followed",
    (status) =>
      onBench(async (bench) => {
        bench.receiver.answer = () =>
          new Response(null, { status, headers: { Location: "https://elsewhere.example/caught" } });
        const { id } = bench.subscribe();
        bench.write();
        await bench.deliveries.drain();
        expect(bench.receiver.received.map(({ url }) => url)).toEqual(["https://receiver.example/in"]);
        expect(bench.show(id)).toMatchObject({ state: "active", pending: 1, attempts: [{ status }] });
        expect(bench.due(id)).toEqual([bench.now + 5_000]);
      }),
  );

  it.each([200, 201, 202, 204, 299])("ends with %i", (status) =>
    onBench(async (bench) => {
      bench.receiver.answer = () => status;
      const { id } = bench.subscribe();
      bench.write();
      await bench.deliveries.drain();
      expect(bench.show(id)).toMatchObject({ state: "active", pending: 0, attempts: [{ status }] });
    }),
  );

  it("ends at once with 410, for all that waits", () =>
    onBench(async (bench) => {
      bench.receiver.answer = () => 410;
      const { id } = bench.subscribe();
      for (let count = 0; count < 5; count += 1) bench.write();
      await bench.deliveries.drain();
      // Two were under way together.
      expect(bench.receiver.received.length).toBeLessThanOrEqual(2);
      expect(bench.show(id)).toMatchObject({ state: "disabled", reason: "gone", since: "2040-01-01T00:00:00.000Z" });
      bench.write();
      bench.now += 100 * hour * 1_000;
      const before = bench.receiver.received.length;
      await bench.deliveries.drain();
      expect(bench.receiver.received).toHaveLength(before);
    }));

  it.each([
    ["in seconds", "600", 600],
    ["as a date", "Sun, 01 Jan 2040 00:10:00 GMT", 600],
    ["sooner than the schedule", "1", 5],
    ["in ten years", "315360000", 24 * hour],
    ["in words", "soon", 5],
  ])("waits as long as 429 asks, %s", (_, retryAfter, wait) =>
    onBench(async (bench) => {
      bench.receiver.answer = () => new Response(null, { status: 429, headers: { "Retry-After": retryAfter } });
      const { id } = bench.subscribe();
      bench.write();
      await bench.deliveries.drain();
      expect(bench.due(id)).toEqual([bench.now + wait * 1_000]);
    }),
  );

  it("keeps everything back from a receiver that asks for time", () =>
    onBench(async (bench) => {
      bench.receiver.answer = () => new Response(null, { status: 503, headers: { "Retry-After": "600" } });
      const { id } = bench.subscribe();
      bench.write();
      await bench.deliveries.drain();
      bench.write();
      bench.write();
      bench.now += 599_000;
      await bench.deliveries.drain();
      expect(bench.receiver.received).toHaveLength(1);
      bench.now += 1_000;
      bench.receiver.answer = () => 200;
      await bench.deliveries.drain();
      expect(bench.receiver.received).toHaveLength(4);
      expect(bench.show(id).pending).toBe(0);
    }));

  it("counts no answer in time as a failure", () =>
    onBench(async (bench) => {
      bench.receiver.answer = () => new Promise<Response>(() => {});
      const { id } = bench.subscribe();
      bench.write();
      await bench.deliveries.drain();
      expect(bench.show(id)).toMatchObject({ pending: 1, attempts: [{ failure: "timeout", attempt: 1 }] });
      expect(bench.due(id)).toEqual([bench.now + 5_000]);
    }));

  it("does not wait for a body that never ends, nor mind its size", () =>
    onBench(async (bench) => {
      bench.receiver.answer = () =>
        new Response(new ReadableStream({ pull: () => new Promise(() => {}) }), {
          headers: { "Content-Length": "100000000000" },
        });
      const { id } = bench.subscribe();
      bench.write();
      await bench.deliveries.drain();
      expect(bench.show(id)).toMatchObject({ pending: 0, attempts: [{ status: 200 }] });
    }));

  it("survives seven throws in a row and has one effect", () =>
    onBench(async (bench) => {
      bench.receiver.answer = (_, count) => (count <= 7 ? Promise.reject(new Error("the network is down")) : 200);
      const { id } = bench.subscribe();
      bench.write();
      for (let ring = 0; ring < 8; ring += 1) {
        // Each time as after a restart.
        await bench.another().drain();
        bench.now = bench.due(id)[0] ?? bench.now;
      }
      expect(bench.receiver.received).toHaveLength(8);
      const shown = bench.show(id);
      expect(shown).toMatchObject({ state: "active", pending: 0 });
      expect(shown.attempts.map(({ status, failure }) => status ?? failure)).toEqual([
        200,
        ...Array.from({ length: 7 }, () => "unreachable"),
      ]);
    }));

  it("is not begun for an address that may no longer be asked", () =>
    onBench(async (bench) => {
      const { id } = bench.subscribe("https://receiver.example/in");
      bench.write();
      bench.policy.ownHosts = ["receiver.example"];
      await bench.deliveries.drain();
      expect(bench.receiver.received).toEqual([]);
      expect(bench.show(id)).toMatchObject({
        state: "disabled",
        reason: "refused",
        attempts: [{ failure: "refused" }],
      });
    }));
});
