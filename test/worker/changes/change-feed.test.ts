import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LiveStream } from "../../../src/changes/live-stream.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import type { StreamObject } from "../../../src/objects/stream-object.ts";
import { TenantObject } from "../../../src/objects/tenant/tenant-object.ts";
import { type ChainedChange, genesisOf, verifyChain } from "../../../src/registry/change-chain.ts";
import { recordChanges } from "../../../src/registry/sql/change-log.ts";
import { askForClients, EventReader } from "../support/event-reader.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { capabilities, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const accept = { Accept: "text/event-stream" };

let tenant: string;
let bearer: string;
let round = 0;

beforeEach(async () => {
  tenant = `fed-${++round}`;
  bearer = await token({ sub: tenant, tenants: [tenant] });
});

async function publish(...names: string[]): Promise<void> {
  const answer = await registry.send("PUT", capabilities(tenant, "s"), { token: bearer, body: tools(...names) });
  expect(answer.status).toBeLessThan(300);
}

interface Opening {
  query?: string;
  lastEventId?: string;
  method?: string;
  as?: string;
  from?: Registry;
  headers?: Record<string, string>;
}

function open({ query = "", lastEventId, method = "GET", as = bearer, from = registry, headers }: Opening = {}) {
  const resumed: Record<string, string> = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
  const all = { ...accept, ...resumed, ...headers };
  return from.fetch(method, `/api/changes/${tenant}${query}`, { token: as, headers: all });
}

const errorOf = async (response: Response) =>
  [response.status, ((await response.json()) as { error: { code: string } }).error.code] as const;

const streamObject = () => env.STREAMS.get(env.STREAMS.idFromName(`subject ${tenant}`));
const tenantObject = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const openStreams = () => runInDurableObject(streamObject(), (object) => (object as unknown as StreamObject).count());
const watchers = () =>
  runInDurableObject(tenantObject(), (_, { storage }) => storage.sql.exec("SELECT id FROM watcher").toArray().length);
const log = async (): Promise<ChainedChange[]> => {
  const { body } = await registry.send("GET", `/api/changes/${tenant}?limit=1000`, { token: bearer });
  return body.data.items;
};

/** Fills the log without the work of a publish. */
const fill = (entries: number) =>
  runInDurableObject(tenantObject(), (_, { storage }) => {
    const change = { kind: "tool" as const, key: "a", classification: "cosmetic" as const, reasons: [] };
    storage.transactionSync(() => {
      recordChanges(storage.sql, "s", "2026-01-01T00:00:00.000Z", Array(entries).fill(change), 1_000_000);
    });
  });

describe("following a log", () => {
  it("starts at the beginning, tells what happens when it happens, and can be verified", async () => {
    await publish("a");
    const response = await open();
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const reader = new EventReader(response);
    expect(await reader.next()).toEqual({ id: "0", retry: 2_000 });
    const seen = [await reader.named("change")];
    await publish("a", "b");
    seen.push(await reader.named("change"));
    await publish("a");
    seen.push(await reader.named("change"));
    expect(seen.map(({ id }) => id)).toEqual(["1", "2", "3"]);
    const entries = seen.map(({ data }) => data);
    expect(entries).toEqual(await log());
    expect(verifyChain(entries, genesisOf(tenantKey(tenant)))).toEqual({ ok: true, value: entries.at(-1)?.hash });
    await reader.leave();
  });

  it("starts after since, and after Last-Event-ID where there is one", async () => {
    await publish("a", "b", "c");
    for (const [opening, first] of [
      [{ query: "?since=1" }, "2"],
      [{ lastEventId: "2" }, "3"],
      [{ query: "?since=1", lastEventId: "2" }, "3"],
      [{ query: "?since=2", lastEventId: "0" }, "1"],
      [{ query: "?since=2", lastEventId: "" }, "3"],
    ] as const) {
      const response = await vi.waitFor(async () => {
        const opened = await open(opening);
        if (opened.status !== 200) throw new Error(await opened.text());
        return opened;
      }, 5_000);
      const reader = new EventReader(response);
      expect([opening, (await reader.named("change")).id]).toEqual([opening, first]);
      await reader.leave();
    }
  });

  it("waits at the end for what comes, of a tenant that has nothing yet as well", async () => {
    const reader = new EventReader(await open());
    expect(await reader.next()).toEqual({ id: "0", retry: 2_000 });
    await publish("a");
    expect(await reader.named("change")).toMatchObject({ id: "1", data: { name: "a", previous: `genesis:${tenant}` } });
    await publish("a", "b");
    expect(await reader.named("change")).toMatchObject({ id: "2" });
    await reader.leave();
  });

  it("loses nothing and repeats nothing across reconnects while writes go on", async () => {
    await publish("a0");
    const rounds = 25;
    const writing = (async () => {
      for (let turn = 1; turn <= rounds; turn += 1) await publish(`a${turn}`, `b${turn}`);
    })();
    const seen: ChainedChange[] = [];
    // One entry, then three, then four of each publish: two tools come and two go.
    const total = 4 * rounds;
    let lastEventId = "0";
    let connections = 0;
    while (seen.length < total) {
      const response = await open({ lastEventId });
      if (response.status === 429) {
        // The places of those that were left are free again in a moment.
        await response.body?.cancel();
        await scheduler.wait(100);
        continue;
      }
      connections += 1;
      const reader = new EventReader(response);
      for (let count = 0; count < 9 && seen.length < total; count += 1) {
        const event = await reader.named("change");
        seen.push(event.data);
        lastEventId = event.id ?? "";
      }
      await reader.leave();
    }
    await writing;
    expect(connections).toBeGreaterThan(3);
    expect(seen).toEqual(await log());
  });

  it("is told to every stream of a caller, each from where it is", async () => {
    await publish("a", "b");
    const readers = [new EventReader(await open()), new EventReader(await open({ query: "?since=1" }))];
    await publish("a", "b", "c");
    const ids = async (reader: EventReader, count: number) => {
      const seen: (string | undefined)[] = [];
      while (seen.length < count) seen.push((await reader.named("change")).id);
      return seen;
    };
    expect(await ids(readers[0] as EventReader, 3)).toEqual(["1", "2", "3"]);
    expect(await ids(readers[1] as EventReader, 2)).toEqual(["2", "3"]);
    await Promise.all(readers.map((reader) => reader.leave()));
  });
});

describe("a reader who is far behind", () => {
  it("gets all of it, in order", async () => {
    await publish("a");
    await fill(5_000);
    const reader = new EventReader(await open());
    for (let sequence = 1; sequence <= 5_001; sequence += 1) {
      const { id } = await reader.named("change");
      if (id !== String(sequence)) expect(id).toBe(String(sequence));
    }
    await publish("b");
    expect((await reader.named("change")).id).toBe("5002");
    await reader.leave();
  });

  it("sets the pace: no page is fetched before the last one is out", async () => {
    let fetched = 0;
    const followed = {
      tenants: [tenantKey("t")],
      position: "0",
      next: async () => {
        fetched += 1;
        return { events: [{ id: String(fetched), name: "change", data: "x".repeat(1_000) }], more: fetched < 50 };
      },
    };
    const stream = new LiveStream(followed, { lifetimeMs: 60_000, onClosed: () => {} });
    const caughtUp = stream.catchUp(tenantKey("t"));
    await scheduler.wait(50);
    expect(fetched).toBe(0);
    const reader = new EventReader(new Response(stream.readable));
    await reader.next();
    for (let read = 1; read <= 10; read += 1) {
      expect((await reader.named("change")).id).toBe(String(read));
      await scheduler.wait(5);
      expect(fetched - read).toBeLessThanOrEqual(2);
    }
    // News that comes meanwhile changes nothing about that.
    void stream.catchUp(tenantKey("t"));
    await scheduler.wait(50);
    expect(fetched).toBeLessThanOrEqual(12);
    for (let read = 11; read <= 50; read += 1) expect((await reader.named("change")).id).toBe(String(read));
    stream.close();
    await caughtUp;
  });

  it("does not hold back the streams beside it, nor fill the object", async () => {
    await publish("a");
    await fill(10_000);
    const pages = vi.spyOn(TenantObject.prototype, "changes");
    const stalled = await open();
    const reader = new EventReader(await open({ query: "?since=10001" }));
    await publish("b");
    expect((await reader.named("change")).id).toBe("10002");
    await publish("c");
    await reader.named("change");
    // Of the fifty pages, no more than found room on the way to a client that reads none of them.
    expect(pages.mock.calls.filter(([since, limit]) => since < 10_001 && limit > 1).length).toBeLessThan(10);
    expect(pages).toHaveBeenCalledWith(10_001, expect.any(Number));
    pages.mockRestore();
    await reader.leave();
    await stalled.body?.cancel();
  });

  it("who gives up in the middle costs nothing more", async () => {
    await publish("a");
    await fill(20_000);
    const reader = new EventReader(await open());
    await reader.named("change");
    await reader.leave();
    await vi.waitFor(async () => expect([await openStreams(), await watchers()]).toEqual([0, 0]), 3_000);
  });
});

describe("a stream of a log", () => {
  it("is let go, and its tenant stops telling, when the client leaves", async () => {
    await publish("a");
    const reader = new EventReader(await open());
    await reader.named("change");
    expect([await openStreams(), await watchers()]).toEqual([1, 1]);
    await reader.leave();
    await askForClients(streamObject());
    await vi.waitFor(async () => expect([await openStreams(), await watchers()]).toEqual([0, 0]), 2_000);
  });

  it("keeps its watch while another that follows the same ends", async () => {
    await publish("a");
    const [first, second] = [new EventReader(await open()), new EventReader(await open())];
    await first.leave();
    await vi.waitFor(async () => expect(await openStreams()).toBe(1), 2_000);
    expect(await watchers()).toBe(1);
    await publish("b");
    expect((await second.named("change")).id).toBe("1");
    expect((await second.named("change")).id).toBe("2");
    await second.leave();
  });

  it("is one of four, those of sessions among them", async () => {
    await publish("a");
    const request = {
      ...client("notifications", "dev.rollcall/context"),
      extensions: { "dev.rollcall/context": { budget: 10_000, tenants: [tenant] } },
    };
    const { id } = await negotiate(registry, request, bearer);
    const path = "/mcp/subscription/stream";
    const inItsSession = await registry.fetch("GET", path, { token: bearer, ...inSession(id) });
    const streams = [inItsSession, await open(), await open(), await open()];
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const refused = await open();
    expect(refused.headers.get("Retry-After")).toBe("5");
    expect(await errorOf(refused)).toEqual([429, "ErrorTooManyRequests"]);
    // The end of the session is the end of its own stream, and of no other.
    await registry.send("DELETE", "/mcp/session", { token: bearer, ...inSession(id) });
    await vi.waitFor(async () => expect(await openStreams()).toBe(3), 2_000);
    const next = await open();
    expect(next.status).toBe(200);
    await Promise.all([...streams, next].map(({ body }) => body?.cancel()));
  });

  it("is not counted against somebody else", async () => {
    await publish("a");
    const streams = await Promise.all([open(), open(), open(), open()]);
    const other = await open({ as: await token({ sub: `${tenant}-other`, tenants: [tenant] }) });
    expect(other.status).toBe(200);
    await Promise.all([...streams, other].map(({ body }) => body?.cancel()));
  });

  it("beats, and ends with the token, with word of when to come back", async () => {
    await publish("a");
    // The token has a second and a half left of its hour.
    const late = new Registry({ now: () => Date.now() + 3_598_500 });
    const reader = new EventReader(await open({ from: late }));
    const events = [];
    for (let event = await reader.next(); event !== undefined; event = await reader.next()) events.push(event);
    expect(events.slice(0, 2)).toMatchObject([{ id: "0", retry: 2_000 }, { id: "1" }]);
    expect(events.at(-1)).toEqual({ retry: 2_000 });
    expect(events.length).toBeLessThanOrEqual(5);
    expect(await openStreams()).toBe(0);
  });

  it("is not opened by HEAD, which answers what a GET would say of itself", async () => {
    await publish("a");
    const answer = await open({ method: "HEAD" });
    expect([answer.status, answer.headers.get("Content-Type"), await answer.text()]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "",
    ]);
    expect(await openStreams()).toBe(0);
  });

  it("ends when its tenant cannot be read, for the client to come back", async () => {
    const followed = {
      tenants: [tenantKey("t")],
      position: "7",
      next: () => Promise.reject(new Error("the tenant restarts")),
    };
    const closed = vi.fn();
    const stream = new LiveStream(followed, { lifetimeMs: 60_000, onClosed: closed });
    const reader = new EventReader(new Response(stream.readable));
    await Promise.all([reader.next(), stream.catchUp(tenantKey("t"))]);
    expect([await reader.next(), await reader.next()]).toEqual([{ retry: 2_000 }, undefined]);
    expect(closed).toHaveBeenCalledOnce();
  });
});

describe("who may follow", () => {
  it("is the tenant and an admin", async () => {
    await publish("a");
    for (const claims of [{ tenants: [tenant] }, { admin: true }]) {
      const reader = new EventReader(await open({ as: await token({ sub: `${tenant}-any`, ...claims }) }));
      expect((await reader.named("change")).id).toBe("1");
      await reader.leave();
    }
  });

  it("is not someone outside, however public its servers, nor someone without a good token", async () => {
    await publish("a");
    const body = { tenant, name: "s", visibility: "public" };
    await registry.send("PUT", "/api/mcp/configs", { token: bearer, body });
    const outsider = await token({ sub: `${tenant}-out`, tenants: ["elsewhere"] });
    // A question that is wrong as well is not what they hear of.
    for (const query of ["", "?since=x"]) {
      expect(await errorOf(await open({ as: outsider, query }))).toEqual([403, "ErrorTenantPermissionError"]);
      const anonymous = await registry.fetch("GET", `/api/changes/${tenant}${query}`, { headers: accept });
      expect(await errorOf(anonymous)).toEqual([401, "ErrorUnauthorized"]);
      expect((await open({ as: "nonsense", query })).status).toBe(401);
    }
    const unscoped = await token({ sub: tenant, tenants: [tenant], scope: "registry:publish" });
    expect((await open({ as: unscoped })).status).toBe(403);
    expect(await watchers()).toBe(0);
  });
});

describe("a question that cannot be answered", () => {
  it.each(["x", "-1", "1.5", "1e3", "acme:1", "9".repeat(16)])("is refused: position %j", async (value) => {
    await publish("a");
    for (const opening of [{ lastEventId: value }, { query: `?since=${value}` }]) {
      expect(await errorOf(await open(opening))).toEqual([400, "ErrorBadRequest"]);
    }
  });

  it.each([
    ["a bad since beside a good Last-Event-ID", { query: "?since=x", lastEventId: "0" }],
    ["two of them", { query: "?since=0&since=1" }],
    ["an empty since", { query: "?since=" }],
    ["a limit, which a stream has not", { query: "?limit=10" }],
    ["an unknown parameter", { query: "?from=1" }],
    ["a position that the log has not reached", { lastEventId: "2" }],
    ["a since that the log has not reached", { query: "?since=2" }],
    ["a generation that is no number", { headers: { "Rollcall-Min-Generation": "x" } }],
  ])("is refused: %s", async (_, opening) => {
    await publish("a");
    for (const method of ["GET", "HEAD"]) expect((await open({ ...opening, method })).status).toBe(400);
    expect(await openStreams()).toBe(0);
  });

  it("is refused: a generation that does not exist yet", async () => {
    await publish("a");
    const ahead = { headers: { "Rollcall-Min-Generation": "2" } };
    expect(await errorOf(await open(ahead))).toEqual([412, "ErrorGenerationAhead"]);
  });
});
