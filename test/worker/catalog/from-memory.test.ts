import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { built } from "../directory/edges.ts";
import { Registry, token } from "../support/registry.ts";
import { separateCache, staleKv } from "../support/stale-kv.ts";
import {
  admin,
  both,
  registry as byObject,
  catA,
  catB,
  clock,
  type Item,
  namesOf,
  outsider,
  pass,
  seed,
} from "./catalog-client.ts";

const options = { now: () => clock };
/** The isolate that takes the writes, and one in another data centre whose KV is five minutes late. */
const here = new Registry({ ...options, cache: separateCache() });
const there = new Registry({ ...options, cache: separateCache(), kv: staleKv(env.REGISTRY, () => clock, 300_000) });

const read = (where: Registry, query: string, who?: string, headers: Record<string, string> = {}) =>
  where.send("GET", `/api/catalog${query}`, { headers, ...(who === undefined ? {} : { token: who }) });
const sourceOf = async (where: Registry, query: string, who?: string) =>
  (await read(where, query, who)).headers.get("Rollcall-Source");
const seen = async (where: Registry, query: string, who?: string) =>
  namesOf((await read(where, query, who)).body.data.items as Item[]);

async function loaded(where: Registry): Promise<void> {
  await built();
  await vi.waitFor(async () =>
    expect(await sourceOf(where, `?limit=1&updated_since=2026-01-01T00:00:00Z`)).toBe("memory"),
  );
}

beforeAll(async () => {
  await seed();
  await Promise.all([loaded(here), loaded(there)]);
}, 60_000);

const callers = { anyone: undefined, outsider, member: catA.token, both };
const queries = [
  ...["", "?limit=1", "?limit=100&facets=false", "?kind=tool", "?category=query&status=active", "?order=updated"],
  ...["?tenant=cat-a&facets=tenant,flag", "?fields=title,tokens", "?updated_since=2026-01-01T00:00:00Z&order=updated"],
  ...["?provider=custom", "?probe=live", "?flag=exfiltration", "?tenant=cat-b&tenant=cat-a&limit=2"],
];

describe("from memory", () => {
  it.each(Object.entries(callers))("%s gets what the directory's object would answer, page by page", async (_, who) => {
    for (const query of queries) {
      for (let cursor = "", page = 0; page < 5; page += 1) {
        const asked = `${query}${cursor && `${query === "" ? "?" : "&"}cursor=${cursor}`}`;
        const [memory, object] = [await read(here, asked, who), await read(byObject, asked, who)];
        expect([asked, memory.headers.get("Rollcall-Source")]).toEqual([asked, "memory"]);
        expect([asked, memory.body]).toEqual([asked, object.body]);
        expect(memory.headers.get("ETag")).toBe(object.headers.get("ETag"));
        expect(memory.headers.get("Rollcall-Directory")).toBe(object.headers.get("Rollcall-Directory"));
        if (memory.body.data.nextCursor === undefined) break;
        cursor = memory.body.data.nextCursor;
      }
    }
  });

  it("no object is asked for what is public, and one in two seconds for what is the caller's", async () => {
    const calls = async (query: string, who?: string) => {
      const before = { ...here.services.usage };
      await read(here, query, who);
      return here.services.usage.objectCalls - before.objectCalls;
    };
    pass(3_000);
    expect(await calls("?limit=7")).toBe(0);
    expect(await calls("?limit=8&category=query")).toBe(0);
    expect([await calls("?limit=7", both), await calls("?limit=8", both)]).toEqual([1, 0]);
    expect(await calls("?limit=7", admin)).toBe(1);
    expect(await sourceOf(here, "?limit=7", admin)).toBe("memory");
  });

  it("says how old the copy is, and asks the object with no-cache", async () => {
    const { headers } = await read(here, "?limit=9");
    expect(headers.get("Server-Timing")).toMatch(/^memory;dur=\d+, directory-age;dur=\d+$/);
    expect(headers.get("Rollcall-Directory")).toMatch(/^[0-9a-z]+\.\d+$/);
    const health = await here.send("GET", "/healthz");
    const state = headers.get("Rollcall-Directory");
    expect(health.body.data.directory).toEqual({ state, ageMs: expect.any(Number) });
    const { directory } = (await here.send("GET", "/api/metrics", { token: admin })).body.data;
    expect(directory).toMatchObject({
      capacity: 56 * 1024 * 1024,
      segments: expect.any(Number),
      fallbacks: { loading: expect.any(Number) },
    });
    expect(Object.keys(directory.bytes)).toEqual(expect.arrayContaining(["segments", "catalogue rows"]));
    expect(
      (await read(here, "?limit=9", undefined, { "Cache-Control": "no-cache" })).headers.get("Rollcall-Source"),
    ).toBe("object");
  });
});

describe("a write", () => {
  const mine = (where: Registry) => seen(where, "?tenant=cat-w");
  /** Where else a data centre shows what is public: search, and the official API. */
  const elsewhere = async (where: Registry) => {
    const found = await where.send("GET", "/api/search?task=measure%20barometric%20pressure&tenant=cat-w");
    const listed = await where.send("GET", "/v0.1/servers?search=cat-w");
    return [
      ...found.body.data.items.map(({ name }: { name: string }) => name),
      ...listed.body.servers.map(({ server }: { server: { name: string } }) => server.name),
    ];
  };

  it("is seen at once where it was made, and elsewhere within 80 s, whatever KV shows", async () => {
    const who = await token({ tenants: ["cat-w"], sub: "w" });
    const send = (method: string, settings: object) =>
      here.send(method, "/api/mcp/configs", { token: who, body: { tenant: "cat-w", name: "s", ...settings } });
    expect((await send("POST", { visibility: "public" })).status).toBe(201);
    expect(await sourceOf(here, "?tenant=cat-w")).toBe("memory");
    expect([await mine(here), await mine(there)]).toEqual([["cat-w/s"], []]);
    const manifest = { tools: [{ name: "barometer", description: "Measures the barometric pressure" }] };
    await here.send("PUT", "/api/mcp/capabilities/cat-w/s", { token: who, body: manifest });
    pass(61_000);
    await vi.waitFor(async () => expect(await mine(there)).toEqual(["cat-w/s"]));
    expect(await elsewhere(there)).toEqual(["barometer", "cat-w/s"]);
    expect(await sourceOf(there, "?tenant=cat-w")).toBe("memory");
    // Hidden again: gone at the latest when the copy was not confirmed for 75 s.
    const { body } = await send("PUT", { visibility: "tenant" });
    expect(Date.parse(body.data.effectiveBy) - clock).toBeLessThanOrEqual(80_000);
    expect(await mine(here)).toEqual([]);
    expect(await seen(here, "?tenant=cat-w", who)).toEqual(["cat-w/s"]);
    expect(await mine(there)).toEqual(["cat-w/s"]);
    pass(76_000);
    expect([await mine(there), await elsewhere(there)]).toEqual([[], []]);
  });

  it("is waited for by whoever has its state, and a state that nobody has is 412", async () => {
    await loaded(there);
    const settings = { tenant: "cat-b", name: "api", visibility: "public", title: "Later" };
    const written = await byObject.send("PUT", "/api/mcp/configs", { token: catB.token, body: settings });
    const state = written.headers.get("Rollcall-Directory") ?? "";
    expect((await read(byObject, "?limit=1")).headers.get("Rollcall-Directory")).toBe(state);
    const min = (value: string) =>
      read(there, "?tenant=cat-b", undefined, { "Rollcall-Min-Directory-Generation": value });
    const { body, headers } = await min(state);
    expect(body.data.items[0].title).toBe("Later");
    expect([headers.get("Rollcall-Source"), headers.get("Rollcall-Directory")]).toEqual(["memory", state]);
    const [epoch, generation] = state.split(".");
    for (const wrong of [`${epoch}.${Number(generation) + 1}`, `z${epoch}.1`]) {
      const ahead = await min(wrong);
      expect([ahead.status, ahead.body.error.code, ahead.body.error.details.directory]).toEqual([
        412,
        "ErrorDirectoryAhead",
        state,
      ]);
    }
    for (const bad of ["17", "x.y", `${epoch}.-1`, "", `${epoch}.1e3`]) {
      expect([bad, (await min(bad)).status]).toEqual([bad, 400]);
    }
  });

  it("of another tenant moves no private server into sight", async () => {
    const hidden = await token({ tenants: ["cat-h"], sub: "h" });
    await here.send("PUT", "/api/mcp/capabilities/cat-h/secret", { token: hidden, body: { tools: [{ name: "t" }] } });
    for (const where of [here, there, byObject]) {
      for (const who of [undefined, outsider, both]) {
        expect((await read(where, "?limit=100", who)).text).not.toContain("cat-h");
      }
    }
    expect(await seen(here, "?tenant=cat-h", hidden)).toEqual(["cat-h/secret"]);
  });
});
