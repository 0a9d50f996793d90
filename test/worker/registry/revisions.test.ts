import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { digestOf } from "../../../src/kernel/digest.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { bodyKey } from "../../../src/registry/cache/keys.ts";
import { capabilities, configs, drained, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();

/** Publishes to one tenant and reads its history. */
async function historian(tenant: string) {
  const mine = await token({ sub: `${tenant}-publisher`, tenants: [tenant] });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
  return {
    send,
    publish: async (name: string, manifest: unknown): Promise<string> =>
      (await send("PUT", capabilities(tenant, name), manifest)).body.data.digest,
    revisions: (name: string, query = "") => send("GET", `${capabilities(tenant, name)}/revisions${query}`),
    revision: (name: string, digest: string, headers?: Record<string, string>) =>
      send("GET", `${capabilities(tenant, name)}/revisions/${digest}`, undefined, headers),
    diff: (name: string, query: string) => send("GET", `${capabilities(tenant, name)}/diff${query}`),
  };
}
type Historian = Awaited<ReturnType<typeof historian>>;

const unknownDigest = `sha256-${"0".repeat(64)}`;

describe("the list of revisions", () => {
  let past: Historian;
  const digests: string[] = [];
  beforeAll(async () => {
    past = await historian("past");
    for (const size of [1, 2, 3, 4, 5]) {
      digests.push(
        await past.publish("s", tools(...["a", "b", "c", "d", "e"].slice(0, size).map((name) => `past_${name}`))),
      );
    }
  });

  it("is newest first, with who published what when", async () => {
    const { status, body, headers } = await past.revisions("s");
    expect(status).toBe(200);
    expect(body.data.items.map(({ digest }: { digest: string }) => digest)).toEqual([...digests].reverse());
    expect(body.data).toMatchObject({ current: digests[4], generation: 5 });
    expect(body.data.nextCursor).toBeUndefined();
    expect(headers.get("Rollcall-Generation")).toBe("5");
    const [newest] = body.data.items;
    expect(newest).toMatchObject({ number: 5, generation: 5, publishedBy: "past-publisher" });
    expect(newest.changes).toEqual({ breaking: 0, additive: 1, cosmetic: 0, removed: 0 });
    expect(Date.parse(newest.publishedAt)).not.toBeNaN();
  });

  it("has the cost of each, as the items of that revision add up", async () => {
    const { body } = await past.revisions("s");
    const sums = await Promise.all(
      body.data.items.map(async ({ digest }: { digest: string }) => {
        const { data } = (await past.revision("s", digest)).body;
        return data.capabilities.reduce(
          (sum: number, { registry }: { registry: { tokens: number } }) => sum + registry.tokens,
          0,
        );
      }),
    );
    expect(body.data.items.map(({ tokens }: { tokens: number }) => tokens)).toEqual(sums);
    expect(new Set(sums).size).toBe(5);
    expect((await past.revision("s", digests[2] ?? "")).body.data.tokens).toBe(sums[2]);
  });

  it("comes in pages, each revision once", async () => {
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await past.revisions("s", `?limit=2${cursor}`);
      seen.push(...body.data.items.map(({ digest }: { digest: string }) => digest));
      sizes.push(body.data.items.length);
      if (body.data.nextCursor === undefined) break;
      cursor = `&cursor=${body.data.nextCursor}`;
      // A publish between two pages moves nothing.
      if (sizes.length === 1) await past.publish("s", tools("past_z"));
    }
    expect(seen).toEqual([...digests].reverse());
    expect(sizes).toEqual([2, 2, 1]);
  });

  it("is empty for a server that has published nothing", async () => {
    await past.send("POST", configs, { tenant: "past", name: "empty" });
    expect((await past.revisions("empty")).body.data).toMatchObject({ current: null, items: [] });
  });

  it("gets no entry from a publish that changes nothing", async () => {
    await past.publish("still", tools("past_still"));
    await past.publish("still", tools("past_still"));
    expect((await past.revisions("still")).body.data.items).toHaveLength(1);
  });

  it("takes before for a cursor", async () => {
    const { body } = await past.revisions("s", "?limit=1&before=3");
    expect(body.data).toMatchObject({ items: [{ number: 2 }], nextCursor: "2" });
  });

  it.each(["?limit=0", "?limit=101", "?limit=x", "?before=1&before=2", "?before=1&cursor=1", "?after=1"])(
    "refuses %s",
    async (query) => {
      const { status, body } = await past.revisions("s", query);
      expect([status, body.error.code]).toEqual([400, "ErrorBadRequest"]);
    },
  );

  it.each(["0", "-1", "x", "1.5", "1e3", "01", "1234567890123456", "W10.AAAAAAAAAAAAAAAAAAAAAA"])(
    "refuses %s as a cursor",
    async (cursor) => {
      const { status, body } = await past.revisions("s", `?cursor=${cursor}`);
      expect([status, body.error.code]).toEqual([400, "ErrorCursorInvalid"]);
    },
  );
});

describe("one revision", () => {
  let whole: Historian;
  beforeAll(async () => {
    whole = await historian("whole");
  });

  it("is served whole, and hashes to its digest", async () => {
    const manifest = {
      version: "1",
      "x-own": { kept: [1, 2.5, null] },
      resources: [{ uri: "whole://r", "x-own": true }],
      tools: [
        { name: "whole_b", description: "é ☃", inputSchema: { $defs: { d: {} }, additionalProperties: false } },
        { name: "whole_a", annotations: { destructiveHint: false } },
      ],
      prompts: [{ name: "whole_p" }],
      resourceTemplates: [{ uriTemplate: "whole://{x}" }],
      generators: [{ type: "whole-g", upstreamDependencies: null }],
      operations: [{ name: "whole_o" }],
    };
    const digest = await whole.publish("s", manifest);
    await whole.publish("s", tools("whole_now"));

    const { status, body, headers } = await whole.revision("s", digest);
    expect(status).toBe(200);
    expect(body.data.manifest).toEqual(manifest);
    expect(await digestOf(body.data.manifest)).toBe(digest);
    expect(body.data).toMatchObject({ digest, number: 1, publishedBy: "whole-publisher", version: manifest.version });
    expect(headers.get("ETag")).toContain(digest);
    for (const item of body.data.capabilities) {
      expect(item).toMatchObject({ registry: { tokens: expect.any(Number), flags: [] }, enabled: true });
      expect(item.digest).toMatch(/^sha256-[0-9a-f]{64}$/);
    }
    const ids = body.data.capabilities.map(({ kind, name, id }: Record<string, string>) => [kind, name, id]);
    expect(ids.slice(0, 2)).toEqual([
      ["tool", "whole_b", "mcp.s.whole_b"],
      ["tool", "whole_a", "mcp.s.whole_a"],
    ]);
    const [, second] = body.data.capabilities;
    expect(second.digest).toBe(await digestOf(manifest.tools[1]));
  });

  it("hashes to its digest without what moves on its own", async () => {
    const tool = {
      name: "whole_moving",
      enabled: true,
      lastSynced: "2024-01-01T00:00:00Z",
      metadata: { discovery: { method: "scan", created_at: "2024" } },
    };
    const digest = await whole.publish("moving", { tools: [tool] });
    const { manifest } = (await whole.revision("moving", digest)).body.data;
    expect(manifest).toEqual({ tools: [{ name: "whole_moving", metadata: { discovery: { method: "scan" } } }] });
    expect(await digestOf(manifest)).toBe(digest);
  });

  it("answers 304 for the tag it gave", async () => {
    const digest = await whole.publish("tag", tools("whole_tag"));
    const etag = (await whole.revision("tag", digest)).headers.get("ETag") ?? "";
    const again = await whole.revision("tag", digest, { "If-None-Match": etag });
    expect([again.status, again.text]).toEqual([304, ""]);
  });

  it("is not found by the digest of another server of the same tenant", async () => {
    const digest = await whole.publish("mine", tools("whole_mine"));
    await whole.publish("yours", tools("whole_yours"));
    for (const answer of [await whole.revision("yours", digest), await whole.diff("yours", `?from=${digest}`)]) {
      expect([answer.status, answer.body.error.code]).toEqual([404, "ErrorRevisionNotFound"]);
    }
    expect((await whole.revision("yours", unknownDigest)).status).toBe(404);
    expect((await whole.revision("nowhere", digest)).body.error.code).toBe("ErrorMCPServerNotFound");
  });

  it("is forbidden to another tenant, whatever the digest", async () => {
    const digest = await whole.publish("ours", tools("whole_ours"));
    const other = await historian("whole-other");
    for (const path of [
      `/revisions/${digest}`,
      `/revisions/${unknownDigest}`,
      `/diff?from=${digest}`,
      `/diff?from=${unknownDigest}&to=${digest}`,
      "/revisions",
    ]) {
      const { status, body } = await other.send("GET", capabilities("whole", "ours") + path);
      expect([path, status, body.error.code]).toEqual([path, 403, "ErrorTenantPermissionError"]);
    }
  });

  it.each([
    "x",
    "sha256-",
    `sha256-${"0".repeat(63)}`,
    `sha256-${"A".repeat(64)}`,
    `md5-${"0".repeat(32)}`,
    "..%2f..",
    "%00",
  ])("refuses %s as a digest", async (digest) => {
    await whole.publish("s2", tools("whole_s2"));
    const { status, body } = await whole.revision("s2", digest);
    expect([status, body.error.code]).toEqual([400, "ErrorBadRequest"]);
  });
});

describe("two servers with one manifest", () => {
  it("show their own ids and revisions, not each other's", async () => {
    const twins = await historian("twins");
    const manifest = tools("twins_t");
    const digest = await twins.publish("first", manifest);
    await drained("twins");
    await twins.publish("second", tools("twins_before"));
    expect(await twins.publish("second", manifest)).toBe(digest);
    await drained("twins");
    for (const [name, number] of [
      ["first", 1],
      ["second", 2],
    ] as const) {
      const { body } = await twins.revision(name, digest);
      expect(body.data).toMatchObject({ number, capabilities: [{ id: `mcp.${name}.twins_t` }] });
    }
  });

  it("show their own time of first sight", async () => {
    const twins = await historian("twins-dated");
    const manifest = (created_at: string) => ({
      tools: [{ name: "dated_t", metadata: { discovery: { created_at } } }],
    });
    const seen = async (name: string) =>
      (await twins.send("GET", capabilities("twins-dated", name))).body.data.tools[0].metadata.discovery.created_at;
    const digest = await twins.publish("first", manifest("2024-01-01"));
    await drained("twins-dated");
    expect(await twins.publish("second", manifest("2025-02-02"))).toBe(digest);
    expect([await seen("first"), await seen("second")]).toEqual(["2024-01-01", "2025-02-02"]);
  });
});

describe("the difference between two revisions", () => {
  let drift: Historian;
  let a: string;
  let b: string;
  let c: string;
  const schema = (properties: Record<string, unknown>, required: string[] = []) => ({
    type: "object",
    properties,
    required,
  });
  beforeAll(async () => {
    drift = await historian("drift");
    a = await drift.publish("s", {
      tools: [
        { name: "same", description: "Stays." },
        { name: "worded", description: "Old words." },
        { name: "wider", inputSchema: schema({ x: { type: "string" } }) },
        { name: "stricter", inputSchema: schema({ x: { type: "string" } }) },
        { name: "leaving", description: "Goes." },
      ],
    });
    b = await drift.publish("s", {
      title: "Drift",
      tools: [
        { name: "same", description: "Stays." },
        { name: "worded", description: "New words." },
        { name: "wider", inputSchema: schema({ x: { type: "string" }, y: { type: "string" } }) },
        { name: "stricter", inputSchema: schema({ x: { type: "string" } }, ["x"]) },
        { name: "arriving", description: "Comes." },
      ],
    });
    c = await drift.publish("s", { tools: [{ name: "same", description: "Stays." }] });
  });

  it("is classified item by item, with reasons", async () => {
    const { status, body } = await drift.diff("s", `?from=${a}&to=${b}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ from: a, to: b, counts: { breaking: 2, additive: 2, cosmetic: 2, removed: 1 } });
    const changes = Object.fromEntries(body.data.changes.map((change: { name: string }) => [change.name, change]));
    expect(Object.keys(changes).sort()).toEqual(["arriving", "leaving", "s", "stricter", "wider", "worded"]);
    expect(changes.s).toMatchObject({ kind: "server", classification: "cosmetic", breaking: false });
    expect(changes.worded).toMatchObject({
      kind: "tool",
      classification: "cosmetic",
      breaking: false,
      reasons: [{ path: "/description" }],
    });
    expect(changes.wider).toMatchObject({
      classification: "additive",
      breaking: false,
      reasons: [{ path: expect.stringContaining("/inputSchema") }],
    });
    expect(changes.stricter).toMatchObject({
      classification: "breaking",
      breaking: true,
      reasons: [{ path: expect.stringContaining("/required"), message: expect.any(String) }],
    });
    expect(changes.leaving).toMatchObject({
      classification: "removed",
      breaking: true,
      from: expect.stringMatching(/^sha256-/),
    });
    expect(changes.arriving).toMatchObject({
      classification: "additive",
      breaking: false,
      to: expect.stringMatching(/^sha256-/),
    });
    expect(changes.stricter.from).not.toBe(changes.stricter.to);
  });

  it("has both versions of what changed where they are asked for", async () => {
    const writer = await historian("versions");
    const manifest = (description: string, version: string, ...more: object[]) => ({
      version,
      tools: [{ name: "versions_kept", description, inputSchema: { type: "object" } }, ...more],
    });
    const from = await writer.publish(
      "s",
      manifest("Old words.", "1", { name: "gone", inputSchema: { type: "object" } }),
    );
    await writer.publish("s", manifest("New words.", "2"));
    const plain = await writer.diff("s", `?from=${from}`);
    expect(plain.body.data.changes.some((change: object) => "before" in change || "after" in change)).toBe(false);
    const { body } = await writer.diff("s", `?from=${from}&include=items`);
    const shown = Object.fromEntries(body.data.changes.map((change: { name: string }) => [change.name, change]));
    expect(shown["versions_kept"]).toMatchObject({
      before: { description: "Old words." },
      after: { description: "New words." },
    });
    expect(shown["gone"]).toMatchObject({ before: { name: "gone" } });
    expect(shown["gone"]).not.toHaveProperty("after");
    expect(shown["s"]).toMatchObject({ kind: "server", before: { version: "1" }, after: { version: "2" } });
    expect((await writer.diff("s", `?from=${from}&include=all`)).status).toBe(400);
  });

  it("can be taken in any direction, between any two", async () => {
    const back = (await drift.diff("s", `?from=${b}&to=${a}`)).body.data;
    const wider = back.changes.find(({ name }: { name: string }) => name === "wider");
    expect(wider).toMatchObject({ classification: "breaking" });
    expect(back.changes.find(({ name }: { name: string }) => name === "arriving")).toMatchObject({
      classification: "removed",
    });
    const far = (await drift.diff("s", `?from=${c}&to=${a}`)).body.data;
    expect(far.counts).toEqual({ breaking: 0, additive: 4, cosmetic: 0, removed: 0 });
  });

  it("goes to the present revision where none is named", async () => {
    const { body } = await drift.diff("s", `?from=${a}`);
    expect(body.data).toMatchObject({ to: c, counts: { removed: 4 } });
    expect((await drift.diff("s", `?from=${c}`)).body.data).toMatchObject({
      to: c,
      changes: [],
      counts: { breaking: 0, additive: 0, cosmetic: 0, removed: 0 },
    });
  });

  it.each([
    ["no from", "", 400, "ErrorBadRequest"],
    ["an empty from", "?from=", 400, "ErrorBadRequest"],
    ["a from that is no digest", "?from=latest", 400, "ErrorBadRequest"],
    ["a from given twice", `?from=${unknownDigest}&from=${unknownDigest}`, 400, "ErrorBadRequest"],
    ["an unknown parameter", `?from=${unknownDigest}&since=1`, 400, "ErrorBadRequest"],
    ["a from that is not there", `?from=${unknownDigest}`, 404, "ErrorRevisionNotFound"],
  ])("refuses %s", async (_, query, status, code) => {
    const answer = await drift.diff("s", query);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  it("refuses a to that is no digest or is not there", async () => {
    expect((await drift.diff("s", `?from=${a}&to=1`)).body.error.code).toBe("ErrorBadRequest");
    expect((await drift.diff("s", `?from=${a}&to=${unknownDigest}`)).body.error.code).toBe("ErrorRevisionNotFound");
  });

  it("has nothing to compare where nothing is published", async () => {
    await drift.send("POST", configs, { tenant: "drift", name: "empty" });
    const { status } = await drift.diff("empty", `?from=${a}`);
    expect([400, 404]).toContain(status);
  });
});

describe("a version that was taken back and restored", () => {
  it("is one digest with two entries, whole each time", async () => {
    const swing = await historian("swing");
    const [a, b] = [tools("swing_a", "swing_same"), tools("swing_b", "swing_same")];
    const first = await swing.publish("s", a);
    const second = await swing.publish("s", b);
    expect(await swing.publish("s", a)).toBe(first);
    const { items } = (await swing.revisions("s")).body.data;
    expect(items.map(({ number, digest }: { number: number; digest: string }) => [number, digest])).toEqual([
      [3, first],
      [2, second],
      [1, first],
    ]);

    // From the object's rows alone: neither KV nor a cache knows anything.
    const bare = async (digest: string) => {
      await drained("swing");
      await env.REGISTRY.delete(bodyKey(tenantKey("swing"), "s", digest));
      const elsewhere = new Registry({ cache: { match: async () => undefined, put: async () => {} } });
      const mine = await token({ tenants: ["swing"] });
      return elsewhere.send("GET", `${capabilities("swing", "s")}/revisions/${digest}`, { token: mine });
    };
    expect((await bare(first)).body.data).toMatchObject({ number: 3, manifest: a });
    expect((await bare(second)).body.data).toMatchObject({ number: 2, manifest: b });
    const { body } = await swing.diff("s", `?from=${second}&to=${first}`);
    expect(body.data.counts).toMatchObject({ additive: 1, removed: 1 });
    expect((await swing.send("GET", capabilities("swing", "s"))).body.data.tools).toMatchObject(a.tools);
  });
});

describe("more revisions than are kept", () => {
  const keep = registry.services.config.bounds.revisions;
  let long: Historian;
  const digests: string[] = [];
  beforeAll(async () => {
    long = await historian("long");
    for (let turn = 0; turn <= keep + 1; turn += 1) digests.push(await long.publish("s", { ...tools("long_t"), turn }));
    await drained("long");
  });

  it("leaves the newest of them", async () => {
    const seen: string[] = [];
    for (let query = "?limit=30"; ; ) {
      const { data } = (await long.revisions("s", query)).body;
      seen.push(...data.items.map(({ digest }: { digest: string }) => digest));
      if (data.nextCursor === undefined) break;
      query = `?limit=30&cursor=${data.nextCursor}`;
    }
    expect(seen).toEqual(digests.slice(-keep).reverse());
  });

  it("serves the oldest that is kept and the newest, whole", async () => {
    for (const digest of [digests.at(-keep), digests.at(-1)] as string[]) {
      const { status, body } = await long.revision("s", digest);
      expect([status, await digestOf(body.data.manifest)]).toEqual([200, digest]);
    }
  });

  it("forgets the oldest, in answers and in KV", async () => {
    const [oldest, second] = digests as [string, string];
    for (const digest of [oldest, second]) {
      const { status, body } = await long.revision("s", digest);
      expect([status, body.error?.code]).toEqual([404, "ErrorRevisionNotFound"]);
      expect(await env.REGISTRY.get(bodyKey(tenantKey("long"), "s", digest))).toBeNull();
    }
    expect(await env.REGISTRY.get(bodyKey(tenantKey("long"), "s", digests[2] as string))).not.toBeNull();
    expect((await long.diff("s", `?from=${oldest}`)).status).toBe(404);
  });

  it("takes a forgotten version back as new", async () => {
    const [oldest] = digests as [string];
    expect(await long.publish("s", { ...tools("long_t"), turn: 0 })).toBe(oldest);
    await drained("long");
    expect((await long.revision("s", oldest)).body.data.manifest).toEqual({ ...tools("long_t"), turn: 0 });
    expect(await env.REGISTRY.get(bodyKey(tenantKey("long"), "s", oldest))).not.toBeNull();
  });

  it("keeps the item that all of them share", async () => {
    const mine = await token({ tenants: ["long"] });
    const elsewhere = new Registry({ cache: { match: async () => undefined, put: async () => {} } });
    await env.REGISTRY.delete(bodyKey(tenantKey("long"), "s", digests.at(-1) as string));
    const path = `${capabilities("long", "s")}/revisions/${digests.at(-1)}`;
    expect((await elsewhere.send("GET", path, { token: mine })).body.data.manifest.tools).toEqual(
      tools("long_t").tools,
    );
  });
});
