import { describe, expect, it } from "vitest";
import { AnonymousAllowance } from "../../../src/sessions/anonymous-allowance.ts";
import type { LeaseRequest, SessionLease } from "../../../src/sessions/contract.ts";

function allowanceFrom(...leases: SessionLease[]) {
  let clock = 0;
  const requests: LeaseRequest[] = [];
  const allowance = new AnonymousAllowance({
    lease: async (request) => leases[Math.min(requests.push(request), leases.length) - 1] as SessionLease,
    now: () => clock,
    pause: async (milliseconds) => {
      clock += milliseconds;
    },
  });
  const pass = (milliseconds: number) => {
    clock += milliseconds;
  };
  return { allowance, requests, asked: () => requests.length, pass };
}

describe("the allowance for sessions of callers without a token", () => {
  it("is asked for when it is used up, not for each session", async () => {
    const { allowance, asked } = allowanceFrom({ sessions: 3, until: 1_000 });
    for (let count = 0; count < 7; count += 1) expect(await allowance.take()).toEqual({ ok: true });
    expect(asked()).toBe(3);
  });

  it("doubles each time that it is used up, to 100 at most", async () => {
    let clock = 0;
    const wanted: number[] = [];
    const allowance = new AnonymousAllowance({
      lease: async (request) => {
        wanted.push(request.wanted);
        return { sessions: request.wanted, until: 3_600_000 };
      },
      now: () => clock++,
      pause: async () => {},
    });
    for (let count = 0; count < 300; count += 1) await allowance.take();
    expect(wanted).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100]);
  });

  it("gives back what was not used within a minute, and asks for as many as were", async () => {
    const hour = 3_600_000;
    const { allowance, requests, pass } = allowanceFrom({ sessions: 8, until: hour });
    for (let count = 0; count < 3; count += 1) await allowance.take();
    pass(60_000);
    await allowance.take();
    expect(requests).toEqual([
      { wanted: 1, unused: 0, hourEnds: 0 },
      { wanted: 3, unused: 5, hourEnds: hour },
    ]);
  });

  it("ends with the hour, used or not", async () => {
    const { allowance, asked, pass } = allowanceFrom({ sessions: 100, until: 1_000 }, { sessions: 100, until: 2_000 });
    await allowance.take();
    pass(999);
    await allowance.take();
    expect(asked()).toBe(1);
    pass(1);
    await allowance.take();
    expect(asked()).toBe(2);
  });

  it("is refused until the hour ends where the deployment has none left, without asking again", async () => {
    const { allowance, asked, pass } = allowanceFrom({ sessions: 0, until: 2_500 }, { sessions: 1, until: 5_000 });
    expect(await allowance.take()).toEqual({ ok: false, retryAfterSeconds: 3 });
    pass(2_000);
    expect(await allowance.take()).toEqual({ ok: false, retryAfterSeconds: 1 });
    expect(asked()).toBe(1);
    pass(500);
    expect(await allowance.take()).toEqual({ ok: true });
  });

  it("is given by an object whose clock is behind", async () => {
    const { allowance, pass } = allowanceFrom({ sessions: 5, until: 1_000 });
    pass(5_000);
    expect(await allowance.take()).toEqual({ ok: true });
    const none = allowanceFrom({ sessions: 0, until: 1_000 });
    none.pass(5_000);
    expect(await none.allowance.take()).toEqual({ ok: false, retryAfterSeconds: 1 });
  });

  it("is asked for once by requests that come together", async () => {
    const { allowance, asked } = allowanceFrom({ sessions: 10, until: 1_000 });
    const taken = await Promise.all(Array.from({ length: 10 }, () => allowance.take()));
    expect([taken.every(({ ok }) => ok), asked()]).toEqual([true, 1]);
  });
});
