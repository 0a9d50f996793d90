import { describe, expect, it } from "vitest";
import { AnonymousLeave } from "../../../src/sessions/anonymous-leave.ts";
import type { SessionLease } from "../../../src/sessions/contract.ts";

function leaveFrom(...leases: SessionLease[]) {
  let clock = 0;
  let asked = 0;
  const leave = new AnonymousLeave({
    lease: async () => leases[Math.min(asked++, leases.length - 1)] as SessionLease,
    now: () => clock,
    pause: async (milliseconds) => {
      clock += milliseconds;
    },
  });
  const pass = (milliseconds: number) => {
    clock += milliseconds;
  };
  return { leave, asked: () => asked, pass };
}

describe("leave for sessions of callers without a token", () => {
  it("is asked for when it is used up, not for each session", async () => {
    const { leave, asked } = leaveFrom({ sessions: 3, until: 1_000 });
    for (let count = 0; count < 7; count += 1) expect(await leave.take()).toEqual({ ok: true });
    expect(asked()).toBe(3);
  });

  it("ends with the hour, used or not", async () => {
    const { leave, asked, pass } = leaveFrom({ sessions: 100, until: 1_000 }, { sessions: 100, until: 2_000 });
    await leave.take();
    pass(999);
    await leave.take();
    expect(asked()).toBe(1);
    pass(1);
    await leave.take();
    expect(asked()).toBe(2);
  });

  it("is refused until the hour ends where the deployment has none left, without asking again", async () => {
    const { leave, asked, pass } = leaveFrom({ sessions: 0, until: 2_500 }, { sessions: 1, until: 5_000 });
    expect(await leave.take()).toEqual({ ok: false, retryAfterSeconds: 3 });
    pass(2_000);
    expect(await leave.take()).toEqual({ ok: false, retryAfterSeconds: 1 });
    expect(asked()).toBe(1);
    pass(500);
    expect(await leave.take()).toEqual({ ok: true });
  });

  it("is given by an object whose clock is behind", async () => {
    const { leave, pass } = leaveFrom({ sessions: 5, until: 1_000 });
    pass(5_000);
    expect(await leave.take()).toEqual({ ok: true });
    const none = leaveFrom({ sessions: 0, until: 1_000 });
    none.pass(5_000);
    expect(await none.leave.take()).toEqual({ ok: false, retryAfterSeconds: 1 });
  });

  it("is asked for once by requests that come together", async () => {
    const { leave, asked } = leaveFrom({ sessions: 10, until: 1_000 });
    const taken = await Promise.all(Array.from({ length: 10 }, () => leave.take()));
    expect([taken.every(({ ok }) => ok), asked()]).toEqual([true, 1]);
  });
});
