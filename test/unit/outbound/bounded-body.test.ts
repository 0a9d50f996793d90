import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { boundBody, readBounded } from "../../../src/outbound/bounded-body.ts";
import { startTimeLimit } from "../../../src/outbound/time-limit.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A body that gives a byte some time after it is asked. */
const slow = (milliseconds: number) =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, milliseconds));
        controller.enqueue(new Uint8Array(1));
      },
    },
    { highWaterMark: 0 },
  );

/** Reads three times with a pause before each but the first; "read", or how it failed. */
async function readSlowly(body: ReadableStream<Uint8Array>, pause: number): Promise<string> {
  const reader = body.getReader();
  try {
    await reader.read();
    for (let count = 0; count < 2; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      await reader.read();
    }
    await reader.cancel();
    return "read";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the silence that a body may keep", () => {
  const tooLong = "No response in time";

  it.each([
    ["the sender's and the reader's are counted apart", 300, 300, "read"],
    ["the sender's is too long", 401, 0, tooLong],
    ["so is the reader's, as nobody may be left to read", 0, 401, tooLong],
  ])("%s", async (_, sender, pause, expected) => {
    const reading = readSlowly(boundBody(slow(sender), 100, startTimeLimit({ idleMs: 400 })), pause);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await reading).toBe(expected);
  });
});

describe("a body's clock", () => {
  it("is stopped whichever way the body ends", async () => {
    const whole = boundBody(new Blob(["hello"]).stream(), 100, startTimeLimit({ deadlineMs: 1_000, idleMs: 500 }));
    expect(await readBounded(whole)).toMatchObject({ ok: true });
    const large = boundBody(new Blob(["hello"]).stream(), 4, startTimeLimit({ deadlineMs: 1_000, idleMs: 500 }));
    expect(await readBounded(large)).toMatchObject({ ok: false, error: { kind: "too-large" } });
    const unread = boundBody(new Blob(["hello"]).stream(), 4, startTimeLimit({ deadlineMs: 1_000, idleMs: 500 }));
    await unread.cancel();
    expect(vi.getTimerCount()).toBe(0);
  });
});
