import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { refreshPlaces } from "../../../src/sources/refresh-places.ts";
import { capabilities, configs, Registry, token, tools } from "../support/registry.ts";
import { serveUpstreams } from "../support/upstreams.ts";

const wait = (milliseconds: number) => scheduler.wait(milliseconds);

/** A registry whose two places are taken, and whose clock lets nobody wait for long. */
async function busyRegistry() {
  let clock = Date.now();
  const registry = new Registry({ now: () => (clock += 500) });
  const leave = [
    await registry.services.admission.enter("a", wait),
    await registry.services.admission.enter("b", wait),
  ];
  return { registry, leave: () => leave.map((one) => one?.()) };
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
const small = (count: number) => ({ tools: names(count).map((name) => ({ name })) });
const openApi = { openapi: "3.1.0", info: { title: "T", version: "1" }, paths: { "/t": { get: { responses: {} } } } };

describe("a costly request without a place", () => {
  let publisher: string;
  beforeAll(async () => {
    publisher = await token({ tenants: ["crowd"] });
  });

  it.each([
    ["an import", "POST", "/api/import/openapi?tenant=crowd&name=api&dryRun=true", openApi, 200],
    ["a body over 256 KiB", "PUT", capabilities("crowd", "a"), `{"tools":[]${" ".repeat(256 * 1024)}}`, 201],
    ["over 500 items", "PUT", `${capabilities("crowd", "b")}?dryRun=true`, small(501), 200],
  ])("is answered 503 with Retry-After: %s", async (_, method, path, body, served) => {
    const { registry, leave } = await busyRegistry();
    const refused = await registry.send(method, path, { token: publisher, body });
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect(refused.body.error).toMatchObject({
      code: "ErrorUnavailable",
      details: { retryAfterSeconds: 5, bound: { name: "admission" }, hint: expect.stringContaining("Retry-After") },
    });
    leave();
    expect((await registry.send(method, path, { token: publisher, body })).status).toBe(served);
  });

  it.each([
    ["a body of 256 KiB", `{"tools":[]}`.padEnd(256 * 1024), ""],
    ["500 items", small(500), "?dryRun=true"],
  ])("is not one with %s", async (_, body, query) => {
    const { registry } = await busyRegistry();
    const { status } = await registry.send("PUT", capabilities("crowd", "c") + query, { token: publisher, body });
    expect([200, 201]).toContain(status);
  });

  it("is refused when the bodies of others have used up the memory for them", async () => {
    const registry = new Registry();
    const others = registry.services.uploads.start("others");
    const path = "/api/import/openapi?tenant=crowd&name=api&dryRun=true";
    const body = JSON.stringify(openApi).padEnd(300 * 1024);
    const send = () => registry.send("POST", path, { token: publisher, body });
    others.hold(48 * 1024 * 1024 - body.length + 1);
    expect((await send()).status).toBe(503);
    others.hold(-1);
    expect((await send()).status).toBe(200);
  });

  it("is an index over 2,000 items, and no other read", async () => {
    const own = await token({ tenants: ["shelf"] });
    const registry = new Registry();
    await registry.send("PUT", capabilities("shelf", "most"), { token: own, body: small(2_000) });
    await registry.send("PUT", capabilities("shelf", "one"), { token: own, body: tools("last") });
    const advertise = { advertiseResources: true, variants: { summary: true } };
    await registry.send("PUT", "/api/index/shelf/advertise", { token: own, body: advertise });
    await registry.send("PATCH", `${configs}/shelf/most`, { token: own, body: { advertise } });
    const { registry: busy, leave } = await busyRegistry();
    const read = (path: string) => busy.send("GET", path, { token: own });
    expect((await read("/api/index/shelf/most/summary")).status).toBe(200);
    const refused = await read("/api/index/shelf/summary");
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect((await read(capabilities("shelf", "most"))).status).toBe(200);
    leave();
    expect((await read("/api/index/shelf/summary")).status).toBe(200);
    // From memory: no work, no place.
    await busy.services.admission.enter("a", wait);
    await busy.services.admission.enter("b", wait);
    expect((await read("/api/index/shelf/summary")).status).toBe(200);
  });

  it("is a refresh of more than 2,000 items", async () => {
    const offers = serveUpstreams();
    const registry = new Registry();
    const own = await token({ tenants: ["stream"] });
    const source = { type: "streamable-http", id: "up", url: "https://up.example/mcp" };
    await registry.send("POST", configs, { token: own, body: { tenant: "stream", name: "s", sources: [source] } });
    offers.set("up.example", { tools: names(2_001).map((name) => ({ name, inputSchema: { type: "object" } })) });
    const entered = vi.spyOn(refreshPlaces, "enter");
    const refresh = () => registry.send("POST", `${capabilities("stream", "s")}/refresh`, { token: own });
    entered.mockResolvedValue(undefined);
    const refused = await refresh();
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    // At the edge no place is asked for.
    offers.get("up.example")?.tools.pop();
    expect((await refresh()).status).toBe(200);
    vi.restoreAllMocks();
  });
});

describe("work of one caller", () => {
  let clock: number;
  const limited = (limit: string) => {
    clock = Date.now();
    return new Registry({ now: () => clock, vars: { WORK_LIMIT: limit } });
  };
  let one: string;
  let other: string;
  beforeAll(async () => {
    one = await token({ sub: "one", tenants: ["toil"] });
    other = await token({ sub: "other", tenants: ["toil"] });
  });

  it("is limited in bytes a minute, whatever becomes of them", async () => {
    const registry = limited("1/1000");
    const body = " ".repeat(700 * 1024);
    const send = (who: string) => registry.send("PUT", capabilities("toil", "s"), { token: who, body });
    expect((await send(one)).status).toBe(400);
    const refused = await send(one);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "23"]);
    expect(refused.body.error).toMatchObject({
      code: "ErrorTooManyRequests",
      message: expect.stringContaining("716800 bytes of bodies, and one caller may send 1048576 a minute"),
      details: {
        retryAfterSeconds: 23,
        bound: { name: "workBytes", limit: 1_048_576, found: 716_800 },
        setting: "WORK_LIMIT",
        hint: expect.stringMatching(/Retry in 23 s.*operator: the setting WORK_LIMIT/),
      },
    });
    expect((await send(other)).status).toBe(400);
    clock += 23_000;
    expect((await send(one)).status).toBe(400);
  });

  it("is limited in bytes also where no length was announced", async () => {
    const registry = limited("1/1000");
    const stream = () => new Blob([" ".repeat(700 * 1024)]).stream();
    const send = () => registry.send("PUT", capabilities("toil", "s"), { token: one, body: stream() });
    expect([(await send()).status, (await send()).status]).toEqual([400, 429]);
  });

  it("is limited in items a minute, published or imported", async () => {
    const registry = limited("64/5");
    const publish = (count: number) =>
      registry.send("PUT", `${capabilities("toil", "s")}?dryRun=true`, { token: one, body: small(count) });
    expect((await publish(3)).status).toBe(200);
    expect((await publish(2)).status).toBe(200);
    const refused = await publish(1);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "12"]);
    expect(refused.body.error.details.bound).toEqual({ name: "workItems", limit: 5, found: 1 });
    const path = "/api/import/mcp?tenant=toil&name=m&dryRun=true";
    const body = { tools: [{ name: "a", inputSchema: { type: "object" } }] };
    expect((await registry.send("POST", path, { token: one, body })).status).toBe(429);
    clock += 60_000;
    expect((await publish(5)).status).toBe(200);
  });
});

describe("a bound that was met", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("is counted by tenant, logged in one line, and tells both sides what to do", async () => {
    const lines = vi.spyOn(console, "log").mockImplementation(() => {});
    const registry = new Registry({ vars: { BOUNDS: '{"manifestBytes": 4096, "capabilityBytes": 1024}' } });
    const publisher = await token({ tenants: ["edge", "rim"] });
    const put = (tenant: string, body: unknown) =>
      registry.send("PUT", capabilities(tenant, "s"), { token: publisher, body });
    const large = await put("edge", `{"tools":[]}`.padEnd(4_097));
    expect(large.body.error.details).toMatchObject({
      bound: { name: "manifestBytes", limit: 4_096 },
      setting: "BOUNDS",
      hint: "Split the manifest over several servers; operator: the setting BOUNDS raises manifestBytes",
    });
    const item = await put("edge", { tools: [{ name: "a", description: "word ".repeat(220) }] });
    expect(item.body.error.details).toMatchObject({ bound: { name: "capabilityBytes" }, setting: "BOUNDS" });
    await put("rim", `{"tools":[]}`.padEnd(5_000));
    const yaml = await registry.send("POST", "/api/import/openapi?tenant=rim&name=y", {
      token: publisher,
      body: `a: &a 1\nb: [${"*a, ".repeat(1_001)}]`,
      headers: { "Content-Type": "application/yaml" },
    });
    expect(yaml.body.error.details).toMatchObject({
      bound: { name: "yamlAliases", limit: 1_000, found: 1_001 },
      hint: expect.stringContaining("no setting raises this bound"),
    });
    const { body } = await registry.send("GET", "/api/metrics", { token: await token({ admin: true }) });
    expect(body.data.bounds).toEqual([
      { bound: "manifestBytes", tenant: "edge", times: 1 },
      { bound: "capabilityBytes", tenant: "edge", times: 1 },
      { bound: "manifestBytes", tenant: "rim", times: 1 },
      { bound: "yamlAliases", tenant: "rim", times: 1 },
    ]);
    const logged = lines.mock.calls.map(([line]) => JSON.parse(String(line))).filter(({ event }) => event === "bound");
    expect(logged.map(({ bound, tenant, limit }) => [bound, tenant, limit])).toEqual([
      ["manifestBytes", "edge", 4_096],
      ["capabilityBytes", "edge", undefined],
      ["manifestBytes", "rim", 4_096],
      ["yamlAliases", "rim", 1_000],
    ]);
  });
});
