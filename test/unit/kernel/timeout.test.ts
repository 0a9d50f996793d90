import { describe, expect, it } from "vitest";
import { Semaphore } from "../../../src/kernel/semaphore.ts";
import { withTimeout } from "../../../src/kernel/timeout.ts";

const never = new Promise<never>(() => {});

describe("withTimeout", () => {
  it("returns the result of work that ends in time, and its error", async () => {
    expect(await withTimeout(Promise.resolve("done"), 1_000)).toBe("done");
    await expect(withTimeout(Promise.reject(new Error("broken")), 1_000)).rejects.toThrow("broken");
  });

  it("rejects when the time is up, at once for a time that has passed", async () => {
    await expect(withTimeout(never, 5)).rejects.toMatchObject({ name: "TimeoutError", message: "no answer in 5 ms" });
    await expect(withTimeout(never, -1)).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("rejects when the signal aborts, before or after the start", async () => {
    const controller = new AbortController();
    const late = withTimeout(never, 60_000, controller.signal);
    controller.abort();
    await expect(late).rejects.toMatchObject({ name: "TimeoutError", message: "given up before an answer" });
    await expect(withTimeout(never, 60_000, controller.signal)).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("a semaphore", () => {
  it("lets as many run at once as it was made for, in order, and goes on after one fails", async () => {
    const semaphore = new Semaphore(2);
    const started: number[] = [];
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<number>());
    const runs = gates.map((gate, index) =>
      semaphore.run(() => {
        started.push(index);
        return gate.promise;
      }),
    );
    await Promise.resolve();
    expect(started).toEqual([0, 1]);
    gates[1]?.reject(new Error("broken"));
    await expect(runs[1]).rejects.toThrow("broken");
    expect(started).toEqual([0, 1, 2]);
    gates[0]?.resolve(0);
    await runs[0];
    expect(started).toEqual([0, 1, 2, 3]);
    gates[2]?.resolve(2);
    gates[3]?.resolve(3);
    expect(await Promise.all([runs[0], runs[2], runs[3]])).toEqual([0, 2, 3]);
  });
});
