import { describe, expect, it } from "vitest";
import { Admission } from "../../../src/kernel/pace/admission.ts";

/** A clock that moves only while somebody waits. */
function clocked() {
  let now = 0;
  const admission = new Admission(() => now);
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  return { admission, enter: (caller: string) => admission.enter(caller, pause), now: () => now };
}

describe("costly requests", () => {
  it("are served two at once, and one of a caller", async () => {
    const { enter } = clocked();
    const leave = await enter("a");
    expect(await enter("a")).toBeUndefined();
    expect(await enter("b")).toBeTypeOf("function");
    expect(await enter("c")).toBeUndefined();
    leave?.();
    expect(await enter("c")).toBeTypeOf("function");
  });

  it("lose a place that is not renewed, and keep one that is", async () => {
    let now = 0;
    const admission = new Admission(() => now, { atOnce: 1, waiting: 0 });
    const enter = (caller: string) => admission.enter(caller, async () => {}, 1_000);
    const leave = await enter("a");
    now = 900;
    leave?.renew();
    now = 1_900;
    expect(await enter("b")).toBeUndefined();
    now = 1_901;
    expect(await enter("b")).toBeTypeOf("function");
  });

  it("wait for at most five seconds, and are counted", async () => {
    const { admission, enter, now } = clocked();
    await enter("a");
    expect(await enter("a")).toBeUndefined();
    expect(now()).toBe(5_000);
    expect(admission.counts).toEqual({ admitted: 1, waited: 1, refused: 1 });
  });

  it("get the place of one that leaves while they wait", async () => {
    const { admission } = clocked();
    const leave = await admission.enter("a", async () => {});
    let pauses = 0;
    const entered = await admission.enter("a", async () => {
      pauses += 1;
      if (pauses === 3) leave?.();
    });
    expect([typeof entered, pauses]).toEqual(["function", 3]);
  });

  it("are sent away at once if eight wait already", async () => {
    const { admission } = clocked();
    await admission.enter("a", async () => {});
    const held = Promise.withResolvers<void>();
    const waiting = Array.from({ length: 8 }, () => admission.enter("a", () => held.promise));
    let paused = false;
    const ninth = await admission.enter("a", async () => {
      paused = true;
    });
    expect([ninth, paused]).toEqual([undefined, false]);
    expect(waiting).toHaveLength(8);
  });

  it("lose their turn to wait if they were cancelled while they waited", async () => {
    const { admission, enter, now } = clocked();
    await admission.enter("a", async () => {});
    const never = new Promise<void>(() => {});
    for (let count = 0; count < 8; count += 1) void admission.enter("a", () => never);
    // Sent away at once while the eight could still wait; the ninth may wait once their time is over.
    expect(await enter("a")).toBeUndefined();
    expect([admission.counts.waited, now()]).toEqual([8, 0]);
    await admission.enter("b", async () => {});
    let later = 0;
    const moved = new Admission(() => later);
    await moved.enter("a", async () => {});
    for (let count = 0; count < 8; count += 1) void moved.enter("a", () => never);
    later = 5_001;
    await moved.enter("a", async () => {
      later += 1_000;
    });
    expect(moved.counts.waited).toBe(9);
  });

  it("lose a place that they never gave back", async () => {
    const { enter } = clocked();
    await enter("a");
    // Each try waits for five seconds, so that a minute passes.
    const tries: unknown[] = [];
    for (let count = 0; count < 13; count += 1) tries.push(await enter("a"));
    expect(tries.findIndex((leave) => leave !== undefined)).toBe(12);
  });
});
