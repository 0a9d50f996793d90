import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { capabilities, config, configs, Registry, token, tools } from "../support/registry.ts";

describe("a caller's reads", () => {
  let clock: number;
  let registry: Registry;
  let one: string;
  let other: string;
  const view = capabilities("busy", "s");
  beforeAll(async () => {
    const publisher = await token({ tenants: ["busy"] });
    await new Registry().send("PUT", view, { token: publisher, body: tools("busy_t") });
    one = await token({ sub: "one", tenants: ["busy"] });
    other = await token({ sub: "other", tenants: ["busy"] });
  });
  beforeEach(() => {
    clock = Date.now();
    registry = new Registry({ now: () => clock, vars: { READ_LIMIT: "5/5" } });
  });

  const read = (who: string, path = view) => registry.send("GET", path, { token: who });
  const statuses = async (times: number, who: string) => {
    const seen: number[] = [];
    for (let turn = 0; turn < times; turn += 1) seen.push((await read(who)).status);
    return seen;
  };

  it("are refused with 429 and Retry-After beyond the burst, and another's are not", async () => {
    expect(await statuses(6, one)).toEqual([200, 200, 200, 200, 200, 429]);
    const { headers, body } = await read(one);
    expect(body.error).toMatchObject({ code: "ErrorTooManyRequests", details: { retryAfterSeconds: 1 } });
    expect(headers.get("Retry-After")).toBe("1");
    expect(await statuses(5, other)).toEqual([200, 200, 200, 200, 200]);
  });

  it("come back at the rate, and no further than the burst", async () => {
    await statuses(5, one);
    clock += 200;
    expect(await statuses(2, one)).toEqual([200, 429]);
    clock += 60_000;
    expect(await statuses(6, one)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it("are counted for the caller, whichever token is used", async () => {
    const second = await token({ sub: "one", tenants: ["busy"], scope: "registry:read" });
    await statuses(5, one);
    expect((await read(second)).status).toBe(429);
  });

  it.each([
    ["not modified", "GET", view, { "If-None-Match": "*" }, 304],
    ["not found", "GET", capabilities("busy", "none"), {}, 404],
    ["forbidden", "GET", capabilities("quiet", "s"), {}, 403],
    ["HEAD", "HEAD", view, {}, 200],
    ["a list", "GET", configs, {}, 200],
    ["a config", "GET", config("busy", "s"), {}, 200],
    ["a log", "GET", "/api/changes/busy", {}, 200],
    ["no such path", "GET", "/api/mcp/configs/busy/s/x", {}, 404],
  ])("count also when %s", async (_, method, path, headers, expected) => {
    const seen: number[] = [];
    for (let turn = 0; turn < 6; turn += 1)
      seen.push((await registry.send(method, path, { token: one, headers })).status);
    expect(seen).toEqual([...Array(5).fill(expected), 429]);
  });

  it("count once a request, writes included", async () => {
    const seen: number[] = [];
    for (const name of ["a", "b", "c", "d", "e", "f"]) {
      seen.push((await registry.send("POST", configs, { token: one, body: { tenant: "busy", name } })).status);
    }
    expect(seen).toEqual([201, 201, 201, 201, 201, 429]);
  });

  it("are not needed to look after the service", async () => {
    await statuses(6, one);
    for (const path of ["/healthz", "/openapi.json", "/schemas/", "/.well-known/oauth-protected-resource", "/"]) {
      for (let turn = 0; turn < 6; turn += 1) expect((await read(one, path)).status).toBe(200);
    }
  });
});

describe("a caller's writes", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("are limited by the tenant's object, whichever isolate they come through", async () => {
    const isolates = [new Registry(), new Registry()];
    const flooder = await token({ sub: "flooder", tenants: ["flood", "calm"] });
    const neighbour = await token({ sub: "neighbour", tenants: ["flood"] });
    const { burst, rate } = isolates[0]?.services.config.writeLimit ?? { burst: 0, rate: 0 };
    // Deleting what is not there is the cheapest write there is.
    const remove = (turn: number, who = flooder, tenant = "flood") =>
      (isolates[turn % 2] as Registry).send("DELETE", config(tenant, "none"), { token: who });
    for (let turn = 0; turn < burst; turn += 1) {
      const { status } = await remove(turn);
      if (status !== 404) expect([turn, status]).toEqual([turn, 404]);
    }
    for (const turn of [0, 1]) {
      const { status, headers, body } = await remove(turn);
      expect([status, headers.get("Retry-After"), body.error.code]).toEqual([429, "1", "ErrorTooManyRequests"]);
    }
    expect((await remove(0, neighbour)).status).toBe(404);
    expect((await remove(0, flooder, "calm")).status).toBe(404);
    expect((await (isolates[0] as Registry).send("GET", `${configs}?tenant=flood`, { token: flooder })).status).toBe(
      200,
    );
    vi.setSystemTime(Date.now() + 1_000);
    let allowed = 0;
    while (allowed <= rate && (await remove(0)).status === 404) allowed += 1;
    expect(allowed).toBe(rate);
  });
});
