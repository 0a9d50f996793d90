import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { capabilities, drained, Registry, token, tools } from "../support/registry.ts";
import { separateCache, staleKv } from "../support/stale-kv.ts";

/** Two Workers in two data centres: one KV behind them, shown late to each, and a cache of its own for each. */
let clock: number;
let near: Registry;
let far: Registry;
let member: string;
let stranger: string;
let tenant: string;
let round = 0;

beforeEach(async () => {
  clock = Date.now();
  const now = () => clock;
  const dataCentre = () => new Registry({ now, kv: staleKv(env.REGISTRY, now), cache: separateCache() });
  near = dataCentre();
  far = dataCentre();
  tenant = `fresh-${++round}`;
  member = await token({ tenants: [tenant] });
  stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
});

const path = (name = "s") => capabilities(tenant, name);
const publish = (at: Registry, ...names: string[]) => at.send("PUT", path(), { token: member, body: tools(...names) });
const read = (at: Registry, headers: Record<string, string> = {}) => at.send("GET", path(), { token: member, headers });
const generation = (answer: { headers: Headers }) => Number(answer.headers.get("Rollcall-Generation"));
const names = (answer: Awaited<ReturnType<typeof read>>) =>
  answer.body.data.tools.map((tool: { name: string }) => tool.name);

/** Both data centres have the first version in every layer; then the second is published near. */
async function oldFarNewNear() {
  await publish(near, "one");
  await drained(tenant);
  expect(names(await read(far))).toEqual(["one"]);
  await read(near);
  const written = await publish(near, "one", "two");
  await drained(tenant);
  return generation(written);
}

describe("the freshness contract", () => {
  it("shows a publish on the next read where it arrived", async () => {
    await publish(near, "one");
    for (const list of [["one", "two"], ["two"], ["three"]]) {
      const written = await publish(near, ...list);
      const answer = await read(near);
      expect(names(answer)).toEqual(list);
      expect(generation(answer)).toBe(generation(written));
    }
  });

  it("is at most 80 s late anywhere, and never goes back", async () => {
    const written = await oldFarNewNear();
    const start = clock;
    const seen = { near: [] as number[], far: [] as number[] };
    for (const seconds of [0, 1, 3, 14, 16, 29, 31, 46, 59, 61, 76, 80, 95, 150]) {
      clock = start + seconds * 1_000;
      seen.near.push(generation(await read(near)));
      seen.far.push(generation(await read(far)));
    }
    expect(seen.near.every((shown) => shown === written)).toBe(true);
    expect(seen.far).toEqual([...seen.far].sort((a, b) => a - b));
    expect(seen.far.slice(0, 2)).toEqual([written - 1, written - 1]);
    clock = start + 80_000;
    expect(names(await read(far))).toEqual(["one", "two"]);
  });

  it.each([0, 16, 61])("with Rollcall-Min-Generation is never older than asked, %i s after", async (seconds) => {
    const written = await oldFarNewNear();
    clock += seconds * 1_000;
    const answer = await read(far, { "Rollcall-Min-Generation": String(written) });
    expect(names(answer)).toEqual(["one", "two"]);
    expect(generation(answer)).toBeGreaterThanOrEqual(written);
  });

  it("does not go back after a strong read, although KV still shows less", async () => {
    const written = await oldFarNewNear();
    expect(generation(await read(far, { "Cache-Control": "no-cache" }))).toBe(written);
    for (const seconds of [0, 3, 16, 16, 16]) {
      clock += seconds * 1_000;
      const answer = await read(far);
      expect([generation(answer), names(answer)]).toEqual([written, ["one", "two"]]);
    }
  });

  it("holds across isolates of one data centre", async () => {
    const now = () => clock;
    const cache = separateCache();
    const kv = staleKv(env.REGISTRY, now);
    const [first, second] = [new Registry({ now, kv, cache }), new Registry({ now, kv, cache })];
    await publish(first, "one");
    await drained(tenant);
    await read(second);
    const written = generation(await publish(first, "one", "two"));
    expect(generation(await read(second))).toBe(written - 1);
    clock += 2_001;
    expect(generation(await read(second))).toBe(written);
    clock += 15_001;
    expect(generation(await read(second))).toBe(written);
  });

  it("confirms an unchanged server at a later generation, and keeps saying so", async () => {
    await publish(near, "one");
    await drained(tenant);
    await read(near);
    const other = await near.send("PUT", path("other"), { token: member, body: tools("else") });
    const asked = await read(near, { "Rollcall-Min-Generation": String(generation(other)) });
    expect(asked.headers.get("Rollcall-Source")).toBe("object");
    expect(generation(asked)).toBe(generation(other));
    clock += 16_000;
    expect(generation(await read(near))).toBe(generation(other));
  });

  it("answers 412 for a generation that does not exist yet, with the one that does", async () => {
    const written = generation(await publish(near, "one"));
    const { status, body } = await read(near, { "Rollcall-Min-Generation": String(written + 1) });
    expect(status).toBe(412);
    expect(body.error).toMatchObject({ code: "ErrorGenerationAhead", details: { generation: written } });
  });

  it("does not take a cached miss for an answer", async () => {
    expect((await read(far)).status).toBe(404);
    await publish(near, "one");
    clock += 2_001;
    expect((await read(far)).status).toBe(200);
  });

  it("says where each answer came from", async () => {
    await publish(near, "one");
    await drained(tenant);
    const source = async (at: Registry, headers = {}) => (await read(at, headers)).headers.get("Rollcall-Source");
    expect(await source(far)).toBe("kv");
    expect(await source(far)).toBe("memory");
    clock += 2_001;
    expect(await source(far)).toBe("edge");
    clock += 15_001;
    expect(await source(far)).toBe("kv");
    expect(await source(far, { "Cache-Control": "no-cache" })).toBe("object");
  });
});

describe("what is taken away", () => {
  it("is gone everywhere by effectiveBy when a public server becomes private", async () => {
    const config = { tenant, name: "s", visibility: "public" };
    await near.send("POST", "/api/mcp/configs", { token: member, body: config });
    await publish(near, "one");
    await drained(tenant);
    const outside = (at: Registry) => at.send("GET", path(), { token: stranger });
    expect((await outside(far)).status).toBe(200);
    const { body } = await near.send("PUT", "/api/mcp/configs", {
      token: member,
      body: { ...config, visibility: "tenant" },
    });
    await drained(tenant);
    expect((await outside(near)).status).toBe(403);
    const start = clock;
    const deadline = Date.parse(body.data.effectiveBy);
    expect(deadline - start).toBeLessThanOrEqual(80_000);
    for (const seconds of [1, 16, 31, 46, 61, 76]) {
      clock = Math.min(start + seconds * 1_000, deadline);
      await outside(far);
    }
    clock = deadline;
    expect((await outside(far)).status).toBe(403);
  });

  it("is gone everywhere by effectiveBy when a tool is disabled", async () => {
    await oldFarNewNear();
    const items = [{ kind: "tool", name: "one", enabled: false }];
    const { body } = await near.send("PATCH", path(), { token: member, body: { items } });
    await drained(tenant);
    expect(names(await read(near))).toEqual(["two"]);
    clock = Date.parse(body.data.effectiveBy);
    expect(names(await read(far))).toEqual(["two"]);
  });

  it("is gone everywhere by effectiveBy when a server is deleted", async () => {
    await oldFarNewNear();
    const { body } = await near.send("DELETE", `/api/mcp/configs/${tenant}/s`, { token: member });
    await drained(tenant);
    expect((await read(near)).status).toBe(404);
    clock = Date.parse(body.data.effectiveBy);
    expect((await read(far)).status).toBe(404);
    expect((await publish(near, "again")).status).toBe(201);
    expect(names(await read(near))).toEqual(["again"]);
  });
});

describe("a head whose manifest is gone", () => {
  it("is asked for again, so that what was published since is read", async () => {
    await publish(near, "one");
    await drained(tenant);
    const tag = (await read(near)).headers.get("ETag") ?? "";
    // The head alone: nothing is left of the manifest here.
    expect((await read(far, { "If-None-Match": tag })).status).toBe(304);
    await near.send("DELETE", `/api/mcp/configs/${tenant}/s`, { token: member });
    const body = { ...tools("two"), generators: [{ type: "jinja2" }] };
    await near.send("PUT", path(), { token: member, body });
    await drained(tenant);
    const selected = await far.send("POST", `${path()}/generators/select`, { token: member, body: {} });
    expect([selected.status, selected.body.data?.type]).toEqual([200, "jinja2"]);
  });
});

describe("a read that waits for a slow KV", () => {
  it("brings back neither an older head nor a lower floor than was confirmed meanwhile", async () => {
    await publish(near, "one");
    await drained(tenant);
    const old = await env.REGISTRY.get(`head/${tenant}/s`);
    const now = () => clock;
    const cache = separateCache();
    const arrival = Promise.withResolvers<void>();
    const get = (key: string, options: "text") =>
      key.startsWith("head/") ? arrival.promise.then(() => old) : env.REGISTRY.get(key, options);
    const slow = { get } as unknown as KVNamespace;
    const isolate = (kv: KVNamespace) => new Registry({ now, cache, kv });
    const [reader, writer, other] = [isolate(slow), isolate(env.REGISTRY), isolate(slow)];

    const waiting = read(reader);
    const written = generation(await publish(writer, "one", "two"));
    arrival.resolve();
    expect(generation(await waiting)).toBe(written);
    for (const seconds of [0, 3, 16]) {
      clock += seconds * 1_000;
      expect(generation(await read(other))).toBe(written);
    }
  });
});

describe("a read that does not wait for its put", () => {
  it("does not undo the write after it, when the put comes late", async () => {
    await publish(near, "one");
    await drained(tenant);
    const now = () => clock;
    const kv = staleKv(env.REGISTRY, now);
    const inner = separateCache();
    const arrival = Promise.withResolvers<void>();
    const puts: Promise<void>[] = [];
    const cache: typeof inner = {
      match: inner.match,
      put: (key, response) => {
        const isFirst = puts.length === 0 && String(key).includes("/head/");
        const put = isFirst ? arrival.promise.then(() => inner.put(key, response)) : inner.put(key, response);
        if (isFirst) puts.push(put);
        return put;
      },
    };
    const isolate = () => new Registry({ now, kv, cache });
    const [here, other] = [isolate(), isolate()];

    expect(names(await read(here))).toEqual(["one"]);
    const written = generation(await publish(here, "one", "two"));
    arrival.resolve();
    await Promise.all(puts);
    await vi.waitFor(async () => {
      const { floor } = JSON.parse(
        (await (await inner.match(`https://rollcall.invalid/1/head/${tenant}/s`))?.text()) ?? "{}",
      );
      expect(floor).toMatchObject({ generation: written });
    });
    for (const seconds of [0, 3, 16]) {
      clock += seconds * 1_000;
      expect(generation(await read(other))).toBe(written);
    }
  });
});
