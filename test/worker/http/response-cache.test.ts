import { beforeAll, describe, expect, it } from "vitest";
import {
  clock,
  isKept,
  isolate,
  member,
  outsider,
  pass,
  path,
  said,
  seed,
  tenant,
  untilKept,
} from "../support/kept-answers.ts";
import { capabilities, configs, token, tools } from "../support/registry.ts";

beforeAll(seed);

describe("an answer that is sent again", () => {
  it.each([path, `${path}/tools`, "/api/catalog?limit=5"])("is the one that was made: %s", async (question) => {
    const registry = isolate();
    const ask = () => registry.send("GET", question, { token: member });
    await ask();
    const made = await ask();
    const kept = await untilKept(ask);
    expect(kept.text).toBe(made.text);
    expect({ ...said(kept), "rollcall-source": "memory" }).toEqual({ ...said(made), "rollcall-source": "memory" });
    expect(kept.headers.get("Rollcall-Source")).toBe("memory");
  });

  it("is a 304 for who has it, any number of times, asked for in whole before or not", async () => {
    const registry = isolate();
    const etag = (await isolate().send("GET", path, { token: member })).headers.get("ETag") ?? "";
    const headers = { "If-None-Match": etag };
    const ask = () => registry.send("GET", path, { token: member, headers });
    for (const answer of [await untilKept(ask), await ask(), await ask()]) {
      expect([answer.status, answer.text, isKept(answer)]).toEqual([304, "", true]);
      expect([answer.headers.get("ETag"), answer.headers.get("Cache-Control")]).toEqual([etag, "private, no-cache"]);
      expect(answer.headers.get("Rollcall-Generation")).toMatch(/^\d+$/);
    }
    const whole = await registry.send("GET", path, { token: member });
    expect([whole.status, whole.body.data.tools.length]).toEqual([200, 1]);
    const other = await registry.send("GET", path, { token: member, headers: { "If-None-Match": '"other"' } });
    expect(other.status).toBe(200);
  });

  it("is never another caller's", async () => {
    const registry = isolate();
    const closed = capabilities(tenant, "closed");
    await untilKept(() => registry.send("GET", closed, { token: member }));
    const others = [
      { token: outsider },
      {},
      { headers: { Authorization: "" } },
      { headers: { Authorization: "Bearer x" } },
    ];
    const statuses = [];
    for (const options of others) statuses.push((await registry.send("GET", closed, options)).status);
    expect(statuses).toEqual([403, 401, 401, 401]);
  });

  it("is not sent once the token has expired", async () => {
    const registry = isolate();
    const brief = await token({ sub: "brief", tenants: [tenant] }, clock - 3_590_000);
    await untilKept(() => registry.send("GET", path, { token: brief }));
    pass(75_000);
    expect((await registry.send("GET", path, { token: brief })).status).toBe(401);
  });

  it("shows what was written a moment ago", async () => {
    const registry = isolate();
    const ask = () => registry.send("GET", path, { token: member });
    await untilKept(ask);
    await registry.send("PUT", path, { token: member, body: tools("first", "second") });
    expect((await ask()).body.data.tools).toHaveLength(2);
    await registry.send("PUT", path, { token: member, body: tools("first") });
    expect((await ask()).body.data.tools).toHaveLength(1);
  });

  it("is not sent to an outsider from whom the server was hidden", async () => {
    const registry = isolate();
    const ask = () => registry.send("GET", path, { token: outsider });
    await untilKept(ask);
    const hide = (visibility: string) =>
      registry.send("PUT", configs, { token: member, body: { tenant, name: "open", visibility } });
    expect((await hide("tenant")).status).toBe(200);
    expect((await ask()).status).toBe(403);
    await hide("public");
  });

  it("counts against what a caller may read, with a token or without", async () => {
    for (const [question, options] of [
      [path, { token: member }],
      ["/api/catalog", {}],
    ] as const) {
      const registry = isolate({ READ_LIMIT: "1/6" });
      const ask = () => registry.send("GET", question, options);
      const statuses = [];
      for (let asked = 0; asked < 8; asked += 1) statuses.push((await ask()).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    }
  });

  it("gives way to whoever wants something particular", async () => {
    const registry = isolate({ CORS_ORIGINS: "https://a.test" });
    const ask = (headers: Record<string, string> = {}) => registry.send("GET", path, { token: member, headers });
    const kept = await untilKept(() => ask());
    expect((await ask({ "Cache-Control": "no-cache" })).headers.get("Rollcall-Source")).toBe("object");
    expect((await ask({ "Rollcall-Min-Generation": "1000000" })).status).toBe(412);
    const origin = await ask({ Origin: "https://a.test" });
    expect(origin.headers.get("Access-Control-Allow-Origin")).toBe("https://a.test");
    expect([kept.headers.get("Access-Control-Allow-Origin"), kept.headers.get("Vary")]).toEqual([null, "Origin"]);
    expect((await registry.send("HEAD", path, { token: member })).text).toBe("");
    expect((await registry.send("GET", `${path}?x=1`, { token: member })).status).toBe(400);
  });

  it("costs one turn, whether or not there is more of it than its tag", async () => {
    const etag = (await isolate().send("GET", path, { token: member })).headers.get("ETag") ?? "";
    const registry = isolate({ READ_LIMIT: "1/6" });
    const statuses = [];
    for (const headers of [...Array(3).fill({ "If-None-Match": etag }), ...Array(4).fill({})]) {
      statuses.push((await registry.send("GET", path, { token: member, headers })).status);
    }
    expect(statuses).toEqual([304, 304, 304, 200, 200, 200, 429]);
  });

  it("has the id that the request came with, where it can be shown", async () => {
    const registry = isolate();
    const etag = (await untilKept(() => registry.send("GET", path, { token: member }))).headers.get("ETag") ?? "";
    const before = { ...registry.services.usage };
    const conditions: Record<string, string>[] = [{}, { "If-None-Match": etag }];
    for (const conditional of conditions) {
      const ask = (id: string) =>
        registry.send("GET", path, { token: member, headers: { ...conditional, "X-Request-Id": id } });
      expect((await ask("my-own-request")).headers.get("X-Request-Id")).toBe("my-own-request");
      expect((await ask("<script>")).headers.get("X-Request-Id")).toBeNull();
    }
    // A head and an answer each, and nothing was made.
    expect(registry.services.usage.memory - before.memory).toBe(8);
    expect((await registry.send("GET", path, { token: member })).headers.get("X-Request-Id")).toBeNull();
  });

  it("is counted like any other", async () => {
    const registry = isolate();
    const admin = await token({ sub: "admin", tenants: [], admin: true });
    for (let asked = 0; asked < 3; asked += 1) await registry.send("HEAD", path, { token: member });
    for (let asked = 0; asked < 7; asked += 1) await registry.send("GET", path, { token: member });
    const { body } = await registry.send("GET", "/api/metrics", { token: admin });
    expect(body.data.routes.getCapabilities).toMatchObject({
      requests: 10,
      statuses: { 200: 10 },
    });
  });
});
