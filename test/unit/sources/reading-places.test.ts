import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ReadingPlaces } from "../../../src/sources/reading-places.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The time-out of one request to a source. */
const timeoutMs = 10_000;

/** Hangs until its time-out, or until it is told to hurry. */
const hang = (hurry: AbortSignal) =>
  new Promise<"timeout">((resolve) => {
    setTimeout(() => resolve("timeout"), timeoutMs);
    hurry.addEventListener("abort", () => resolve("timeout"));
  });

describe("places for reading sources", () => {
  it.each([
    [0, 0],
    [1, 0],
    [2, 0],
    [4, 4_000],
    [8, 8_000],
  ])("with %i that hang keep the next one waiting for %i ms", async (hanging, waited) => {
    const places = new ReadingPlaces();
    const readings = Array.from({ length: hanging }, () => places.run(hang));
    const started = Date.now();
    const healthy = places.run(async () => Date.now() - started);
    await vi.runAllTimersAsync();
    expect(await healthy).toBe(waited);
    expect(waited).toBeLessThan(timeoutMs);
    await Promise.all(readings);
  });

  it("are four, also when one is handed on while another reading arrives", async () => {
    const places = new ReadingPlaces();
    let [running, most] = [0, 0];
    const read = async () => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
      running -= 1;
    };
    const arrivals = Array.from({ length: 40 }, async (_, index) => {
      for (let turn = 0; turn < 7 * index; turn += 1) await Promise.resolve();
      await places.run(read);
    });
    await Promise.all(arrivals);
    expect(most).toBe(4);
  });

  it("are left by as many as wait, and by nobody while nobody waits", async () => {
    const places = new ReadingPlaces();
    const readings = Array.from({ length: 4 }, () => places.run(hang));
    await vi.advanceTimersByTimeAsync(5_000);
    const healthy = places.run(async () => "read");
    expect(await healthy).toBe("read");
    await vi.runAllTimersAsync();
    expect(await Promise.all(readings)).toEqual(["gave-up", "timeout", "timeout", "timeout"]);
  });
});
