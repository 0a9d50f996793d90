import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { sessionLeases } from "../../../src/objects/stubs.ts";
import { Registry, token } from "../support/registry.ts";

const request = { client_name: "c", client_version: "1", supported_capabilities: ["session_resume"] };

describe("negotiating without a token", () => {
  // Each test has an hour of its own, from its first second.
  let hour = Math.floor(Date.now() / 3_600_000);
  let clock: number;
  beforeEach(() => {
    hour += 2;
    clock = hour * 3_600_000;
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(clock);
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const limited = (limit: string) => new Registry({ now: () => clock, vars: { ANONYMOUS_NEGOTIATE_LIMIT: limit } });
  const open = (registry: Registry, address: string, bearer?: string) =>
    registry.send("POST", "/mcp/negotiate", {
      body: request,
      headers: { "CF-Connecting-IP": address },
      ...(bearer === undefined ? {} : { token: bearer }),
    });

  it("is limited a minute for a network, and says so", async () => {
    const registry = limited("2/100000");
    expect((await open(registry, "2001:db8::1")).status).toBe(200);
    expect((await open(registry, "2001:db8::2")).status).toBe(200);
    const refused = await open(registry, "2001:db8::3");
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "30"]);
    expect(refused.body).toMatchObject({
      code: "ErrorTooManyRequests",
      error: "Too many sessions of callers without a token: your network may open 2 a minute",
      details: { bound: { name: "anonymousSessions", limit: 2 }, setting: "ANONYMOUS_NEGOTIATE_LIMIT" },
    });
    expect((await open(registry, "2001:db8:0:1::1")).status).toBe(200);
    expect((await open(registry, "2001:db8::1", await token({}))).status).toBe(200);
    clock += 30_000;
    expect((await open(registry, "2001:db8::1")).status).toBe(200);
  });

  it("is limited an hour for the deployment, over all isolates, and a resume token is not lost by it", async () => {
    const [first, second] = [limited("1000/9"), limited("1000/9")];
    const { body } = await open(first, "192.0.2.1");
    // Leases of one, two and four, of which three are left: the second isolate has two.
    for (let count = 1; count < 4; count += 1) await open(first, "192.0.2.1");
    const statuses: number[] = [];
    for (const address of ["192.0.2.2", "192.0.2.3"]) statuses.push((await open(second, address)).status);
    const refused = await open(second, "192.0.2.4");
    expect([...statuses, refused.status, refused.headers.get("Retry-After")]).toEqual([200, 200, 429, "3600"]);
    expect(refused.body.error).toContain("all networks together may open 9 an hour");
    expect((await open(first, "192.0.2.4")).status).toBe(200);
    expect((await open(second, "192.0.2.4", await token({}))).status).toBe(200);
    const resume = (registry: Registry) =>
      registry.send("POST", "/mcp/session/resume", { body: { resume_token: body.session.resume_token } });
    expect((await resume(second)).status).toBe(429);
    expect((await resume(first)).status).toBe(200);
  });

  it("gets what is left of the hour, and what others of this hour gave back", async () => {
    const leases = sessionLeases(env, createUsage());
    const until = clock + 3_600_000;
    const lease = async (wanted: number, unused = 0, hourEnds = until) =>
      (await leases.leaseSessions(250, { wanted, unused, hourEnds })).sessions;
    expect([await lease(100), await lease(100), await lease(100), await lease(1)]).toEqual([100, 100, 50, 0]);
    expect([await lease(100, 30), await lease(1)]).toEqual([30, 0]);
    // Of the hour before: the sessions of this hour are not more for it.
    expect(await lease(1, 30, clock)).toBe(0);
    vi.setSystemTime(until);
    expect((await leases.leaseSessions(250, { wanted: 251, unused: 0, hourEnds: 0 })).sessions).toBe(250);
  });

  it("goes to those who come, however many isolates had one caller before", async () => {
    const isolates = Array.from({ length: 20 }, () => limited("1000/25"));
    for (const isolate of isolates) expect((await open(isolate, "192.0.2.1")).status).toBe(200);
    const busy = limited("1000/25");
    for (let count = 0; count < 5; count += 1) expect((await open(busy, "192.0.2.1")).status).toBe(200);
    expect((await open(busy, "192.0.2.1")).status).toBe(429);
  });
});
