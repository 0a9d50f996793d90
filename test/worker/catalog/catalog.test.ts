import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CatalogQuestion, catalogDimensions } from "../../../src/catalog/contract.ts";
import { readCatalog } from "../../../src/catalog/sql/catalog.ts";
import { createOperations } from "../../../src/kernel/platform/usage.ts";
import { attributesOf, countAttributes } from "../../../src/manifest/attributes.ts";
import { directoryOf } from "../../../src/objects/stubs.ts";
import type { CatalogEntry } from "../../../src/registry/summary.ts";
import { capabilities, config, configs, drained, Registry, token } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

/** Many writes, on a machine that may be busy. */
const slow = { timeout: 90_000 };

let clock = Date.now();
const registry = new Registry({ now: () => clock, cache: separateCache() });
const directory = directoryOf(env, createOperations());
const directoryStub = () => env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));
const tenantStub = (tenant: string) => env.TENANTS.get(env.TENANTS.idFromName(tenant));

interface Item {
  tenant: string;
  name: string;
  [member: string]: unknown;
}
interface Facet {
  values: { value: string; count: number; atLeast?: true }[];
  more?: true;
}

const catalog = (query = "", who?: string, headers: Record<string, string> = {}) =>
  registry.send("GET", `/api/catalog${query}`, { headers, ...(who === undefined ? {} : { token: who }) });
const namesOf = (items: Item[]) => items.map(({ tenant, name }) => `${tenant}/${name}`);
const names = async (query: string, who?: string) => {
  const { status, body } = await catalog(query, who);
  expect([query, status, body?.error]).toEqual([query, 200, undefined]);
  return namesOf(body.data.items);
};
const asObject = ({ values }: Facet) => Object.fromEntries(values.map(({ value, count }) => [value, count]));

async function writer(tenant: string) {
  const mine = await token({ tenants: [tenant], sub: `writer ${tenant}` });
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await registry.send(method, path, { token: mine, ...(body === undefined ? {} : { body }) });
    expect([method, path, answer.status < 300, answer.body?.error]).toEqual([method, path, true, undefined]);
    return answer;
  };
  return {
    token: mine,
    create: (name: string, settings = {}) => send("POST", configs, { tenant, name, ...settings }),
    settle: (name: string, settings = {}) => send("PUT", configs, { tenant, name, ...settings }),
    publish: (name: string, manifest: unknown) => send("PUT", capabilities(tenant, name), manifest),
    flip: (name: string, item: string, enabled: boolean) =>
      send("PATCH", capabilities(tenant, name), { items: [{ kind: "tool", name: item, enabled }] }),
    remove: (name: string) => send("DELETE", config(tenant, name)),
  };
}
type Writer = Awaited<ReturnType<typeof writer>>;

let a: Writer;
let b: Writer;
let both: string;
let admin: string;
let outsider: string;
const mine = "tenant=cat-a&tenant=cat-b";

beforeAll(async () => {
  [a, b] = await Promise.all([writer("cat-a"), writer("cat-b")]);
  both = await token({ tenants: ["cat-b", "cat-a"] });
  admin = await token({ admin: true });
  outsider = await token({ tenants: ["cat-z"], sub: "outsider" });
  await a.create("open", { visibility: "public", title: "Open", description: "d".repeat(2_000) });
  await a.publish("open", {
    version: "2",
    tools: [
      { name: "read", category: "query", permissions: ["files:read"], effects: ["none, really"] },
      { name: "write", category: "storage", permissions: ["files:read", "files:write"], effects: ["write"] },
    ],
    prompts: [{ name: "ask" }],
  });
  await a.create("hidden");
  await a.publish("hidden", {
    tools: [{ name: "secret", category: "private-category", permissions: ["private-permission"], provider: "custom" }],
  });
  await a.create("old", { status: "deprecated", visibility: "public" });
  await b.create("api", { visibility: "public" });
  await b.publish("api", {
    operations: [
      {
        name: "list",
        provider: "openapi",
        category: "query",
        metadata: { openapi: {}, discovery: { capability_type: "rest_api" } },
      },
    ],
  });
  await b.create("inner");
  await b.publish("inner", { generators: [{ type: "g", category: "query" }] });
}, 60_000);

describe("who sees what", () => {
  const open = ["cat-a/old", "cat-a/open", "cat-b/api"];
  it.each([
    ["anyone, the public ones", () => undefined, open],
    ["an outsider, the same", () => outsider, open],
    ["a member, their own too", () => a.token, ["cat-a/hidden", ...open]],
    ["a member of both, both", () => both, ["cat-a/hidden", "cat-a/old", "cat-a/open", "cat-b/api", "cat-b/inner"]],
    ["an admin, all", () => admin, ["cat-a/hidden", "cat-a/old", "cat-a/open", "cat-b/api", "cat-b/inner"]],
  ])("%s", async (_, who, expected) => {
    expect(await names(`?${mine}`, who())).toEqual(expected);
    const everything = await names("?limit=100", who());
    expect(everything.filter((name) => name.startsWith("cat-"))).toEqual(expected);
    const { total, facets } = (await catalog(`?${mine}`, who())).body.data;
    expect(total).toEqual({ count: expected.length });
    expect(Object.values(asObject(facets.tenant)).reduce((sum, count) => sum + count, 0)).toBe(expected.length);
    expect(asObject((await catalog("", who())).body.data.facets.tenant)).toMatchObject({
      "cat-a": expected.filter((name) => name.startsWith("cat-a/")).length,
    });
  });

  it.each([
    ["?category=private-category"],
    ["?permission=private-permission"],
    ["?provider=custom"],
    ["?kind=generator"],
  ])("nothing of a private server to outsiders, not with %s", async (query) => {
    for (const who of [undefined, outsider]) {
      const { data } = (await catalog(query, who)).body;
      expect([data.items, data.total]).toEqual([[], { count: 0 }]);
    }
    expect((await catalog("?facets=true", outsider)).text).not.toContain("private-");
    expect((await names(query, both)).length).toBe(1);
  });

  it("someone of very many tenants, all of theirs", async () => {
    const others = Array.from({ length: 60 }, (_, at) => `cat-none-${at}`);
    const many = await token({ tenants: [...others, "cat-b", "cat-a"] });
    expect(await names(`?${mine}`, many)).toEqual(await names(`?${mine}`, both));
    expect(await names("?category=query", many)).toEqual(await names("?category=query", both));
    const of = async (who: string) => (await catalog("", who)).body.data;
    const [counted, kept] = [await of(many), await of(both)];
    expect([counted.items, counted.total, counted.facets]).toEqual([kept.items, kept.total, kept.facets]);
  });

  it("needs a token that is good, and one that may read", async () => {
    expect((await catalog("", "nonsense")).status).toBe(401);
    expect((await catalog("", await token({ tenants: ["cat-a"], scope: "registry:publish" }))).status).toBe(403);
  });
});

describe("filters", () => {
  it.each([
    ["kind=tool", ["cat-a/hidden", "cat-a/open"]],
    ["kind=tool&kind=operation", ["cat-a/hidden", "cat-a/open", "cat-b/api"]],
    ["kind=tool&kind=prompt", ["cat-a/hidden", "cat-a/open"]],
    ["provider=openapi", ["cat-b/api"]],
    ["provider=mcp", ["cat-a/open", "cat-b/inner"]],
    ["category=query", ["cat-a/open", "cat-b/api", "cat-b/inner"]],
    ["category=query&kind=operation", ["cat-b/api"]],
    ["category=query&kind=operation&kind=generator&tenant=cat-b", ["cat-b/api", "cat-b/inner"]],
    ["category=query&kind=prompt&provider=openapi", []],
    ["permission=files:write", ["cat-a/open"]],
    ["effect=none,%20really", ["cat-a/open"]],
    ["capability_type=rest_api", ["cat-b/api"]],
    ["status=deprecated&tenant=cat-a", ["cat-a/old"]],
    ["status=active&tenant=cat-a", ["cat-a/hidden", "cat-a/open"]],
    ["probe=unknown&tenant=cat-b", ["cat-b/api", "cat-b/inner"]],
    ["probe=live&tenant=cat-b", []],
    ["category=no-such", []],
    ["tenant=nobody", []],
    ["updated_since=2000-01-01T00:00:00Z&tenant=cat-a", ["cat-a/hidden", "cat-a/old", "cat-a/open"]],
    ["updated_since=2000-01-01T00:00:00Z&category=query", ["cat-a/open", "cat-b/api", "cat-b/inner"]],
    ["updated_since=2100-01-01T00:00:00Z", []],
  ])("%s", async (query, expected) => {
    expect(await names(`?${query}`, both)).toEqual(expected);
    expect((await catalog(`?${query}`, both)).body.data.total).toEqual({ count: expected.length });
    expect((await names(`?${query}`, admin)).filter((name) => name.startsWith("cat-"))).toEqual(expected);
  });

  it("updated_since shows what changed at that time or later", async () => {
    const { items } = (await catalog("?tenant=cat-a&fields=updatedAt", both)).body.data;
    const [last] = items
      .map(({ updatedAt }: Item) => String(updatedAt))
      .sort()
      .reverse();
    const since = async (at: string) => names(`?tenant=cat-a&updated_since=${encodeURIComponent(at)}`, both);
    expect(await since(last)).toEqual(["cat-a/old"]);
    expect(await since(last.replace("Z", "1Z"))).toEqual([]);
  });

  it("probe follows what asking the sources finds", async () => {
    const far = await writer("cat-probed");
    // An address that is refused: nothing leaves the test.
    const sources = [{ type: "streamable-http", url: "http://127.0.0.1:9/mcp" }];
    await far.create("s", { visibility: "public", sources });
    expect(
      (await registry.send("POST", `${capabilities("cat-probed", "s")}/refresh`, { token: far.token })).status,
    ).toBe(200);
    expect(await names("?probe=unreachable&tenant=cat-probed")).toEqual(["cat-probed/s"]);
    await far.settle("s", { visibility: "public" });
    expect(await names("?probe=unknown&tenant=cat-probed")).toEqual(["cat-probed/s"]);
  });
});

describe("what is shown", () => {
  it("tells what a reader chooses by", async () => {
    const { body, headers } = await catalog("?tenant=cat-a&kind=prompt");
    expect(body.success).toBe(true);
    expect(body.data.items).toEqual([
      {
        tenant: "cat-a",
        name: "open",
        title: "Open",
        description: `${"d".repeat(1_000)}…`,
        version: "2",
        visibility: "public",
        status: "active",
        probe: "unknown",
        counts: { tool: 2, prompt: 1 },
        tokens: expect.any(Number),
        attributes: {
          provider: ["mcp"],
          category: ["query", "storage"],
          permission: ["files:read", "files:write"],
          effect: ["none, really", "write"],
        },
        digest: expect.stringMatching(/^sha256-/),
        generation: expect.any(Number),
        updatedAt: expect.any(String),
      },
    ]);
    expect(headers.get("Rollcall-Generation")).toBe(String(body.data.generation));
    expect(headers.get("Server-Timing")).toMatch(/^object;dur=/);
    expect(headers.get("Cache-Control")).toBe("private, no-cache");
  });

  it("only the members that were asked for, and always whose it is", async () => {
    const { data } = (await catalog("?tenant=cat-a&kind=prompt&fields=version,title")).body;
    expect(data.items).toEqual([{ tenant: "cat-a", name: "open", title: "Open", version: "2" }]);
  });

  it("counts with a first page unless told otherwise", async () => {
    const first = (await catalog(`?${mine}&limit=1`, both)).body.data;
    expect(Object.keys(first.facets)).toEqual([...catalogDimensions]);
    expect(first.facets.category).toEqual({
      values: [
        { value: "query", count: 3 },
        { value: "private-category", count: 1 },
        { value: "storage", count: 1 },
      ],
    });
    expect(asObject(first.facets.kind)).toEqual({ tool: 2, prompt: 1, operation: 1, generator: 1 });
    expect(asObject(first.facets.status)).toEqual({ active: 4, deprecated: 1 });
    const next = `?${mine}&limit=1&cursor=${first.nextCursor}`;
    expect((await catalog(next, both)).body.data).not.toHaveProperty("facets");
    const asked = (await catalog(`${next}&facets=category`, both)).body.data;
    expect(asked.facets).toEqual({ category: first.facets.category });
    expect(asked.items.map(({ name }: Item) => name)).toEqual(["old"]);
    expect((await catalog(`?${mine}&facets=false`, both)).body.data).not.toHaveProperty("total");
  });

  it("does not show lists elsewhere anything new", async () => {
    const { items } = (await registry.send("GET", `${configs}?visibility=public`, { token: a.token })).body.data;
    for (const item of items) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(["attributes"]));
    for (const item of items) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(["probe"]));
    const own = (await registry.send("GET", `${configs}?tenant=cat-a`, { token: a.token })).body.data.items;
    for (const item of own) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(["attributes"]));
  });
});

/** Kept rows and counts against what the stored entries say, counted anew. */
const audit = () =>
  runInDurableObject(directoryStub(), async (_, { storage: { sql } }) => {
    const kept = sql.exec<{ scope: string; dimension: string; value: string; servers: number }>(
      `SELECT scope, attribute.dimension, value, servers FROM attribute_count
       JOIN attribute ON attribute.id = attribute_count.attribute`,
    );
    const recount = new Map<string, number>();
    const entries = sql.exec<{ public: number; entry: string }>(
      "SELECT public, entry FROM server WHERE entry IS NOT NULL",
    );
    for (const { public: isPublic, entry } of entries.toArray()) {
      const { tenant, status, probe, counts = {}, attributes } = JSON.parse(entry) as CatalogEntry;
      const kinds = Object.entries(counts).filter(([, items]) => items > 0);
      const values = [["server", ""], ["tenant", tenant], ["status", status], ["probe", probe], ...attributes];
      for (const [dimension, value] of [...values, ...kinds.map(([kind]) => ["kind", kind])]) {
        for (const scope of ["all", isPublic === 1 ? "public" : `tenant/${tenant}`]) {
          const key = JSON.stringify([scope, dimension, value]);
          recount.set(key, (recount.get(key) ?? 0) + 1);
        }
      }
    }
    const keys = kept.toArray().map((row) => [JSON.stringify([row.scope, row.dimension, row.value]), row.servers]);
    expect(Object.fromEntries(keys)).toEqual(Object.fromEntries(recount));
    const rows = sql.exec(
      `SELECT tenant, name, public, group_concat(attribute) AS ids FROM (SELECT * FROM server_attribute ORDER BY 3, 4, 1)
       GROUP BY 1, 2, 3 ORDER BY 1, 2`,
    );
    const listed = sql.exec(
      `SELECT tenant, name, public, (SELECT group_concat(value) FROM (SELECT value FROM json_each(attributes) ORDER BY 1)) AS ids
       FROM listing ORDER BY 1, 2`,
    );
    expect(rows.toArray()).toEqual(listed.toArray());
    const unused = "SELECT value FROM attribute WHERE id <> 0 AND id NOT IN (SELECT attribute FROM attribute_count)";
    expect(sql.exec(unused).toArray()).toEqual([]);
  });

/** What a tenant's summaries say against its current items that are switched on. */
const auditTenant = (tenant: string) =>
  runInDurableObject(tenantStub(tenant), async (_, { storage: { sql } }) => {
    const rows = sql.exec<{ name: string; summary: string }>(
      "SELECT name, summary FROM server WHERE deleted_at IS NULL AND digest IS NOT NULL",
    );
    for (const { name, summary } of rows.toArray()) {
      const items = sql.exec<{ declared: string }>(
        `SELECT declared FROM capability c WHERE server = ? AND last_revision IS NULL
           AND (kind, key) NOT IN (SELECT kind, key FROM disabled d WHERE d.server = c.server)`,
        name,
      );
      const attributes = items.toArray().map(({ declared }) => attributesOf(JSON.parse(declared)));
      expect([name, JSON.parse(summary).attributes]).toEqual([name, countAttributes(attributes)]);
    }
  });

describe("counts that are kept", () => {
  const word = fc.constantFrom("x", "y", "z");
  const tool = fc.record({
    name: fc.constantFrom("t1", "t2", "t3"),
    category: fc.option(word, { nil: undefined }),
    permissions: fc.uniqueArray(word, { maxLength: 3 }),
    enabled: fc.constantFrom(true, true, false),
  });
  const operation = fc.oneof(
    fc.record({ does: fc.constant("publish" as const), tools: fc.uniqueArray(tool, { selector: ({ name }) => name }) }),
    fc.record({ does: fc.constant("crowd" as const), values: fc.constantFrom(31, 33, 40) }),
    fc.record({ does: fc.constant("flip" as const), tool: fc.constantFrom("t1", "t2", "t3"), enabled: fc.boolean() }),
    fc.record({
      does: fc.constant("settle" as const),
      visibility: fc.constantFrom("public", "tenant"),
      status: fc.constantFrom("active", "deprecated"),
    }),
    fc.record({ does: fc.constant("remove" as const) }),
  );

  it("are those of a recount, whatever is written", slow, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom("one", "two"), operation), { minLength: 5, maxLength: 12 }),
        async (steps) => {
          run += 1;
          const tenant = `cat-model-${run}`;
          const who = await token({ tenants: [tenant], sub: tenant });
          const send = async (method: string, path: string, body?: unknown) => {
            const answer = await registry.send(method, path, { token: who, ...(body === undefined ? {} : { body }) });
            expect(answer.status).toBeLessThan(500);
          };
          for (const [name, step] of steps) {
            const place = capabilities(tenant, name);
            if (step.does === "publish") await send("PUT", place, { tools: step.tools });
            if (step.does === "crowd") {
              const tools = Array.from({ length: step.values }, (_, at) => ({ name: `t${at}`, category: `c${at}` }));
              await send("PUT", place, { tools });
            }
            if (step.does === "flip") {
              await send("PATCH", place, { items: [{ kind: "tool", name: step.tool, enabled: step.enabled }] });
            }
            if (step.does === "settle") {
              const { visibility, status } = step;
              await send("PUT", configs, { tenant, name, visibility, status });
            }
            if (step.does === "remove") await send("DELETE", config(tenant, name));
          }
          await drained(tenant);
          await audit();
          await auditTenant(tenant);
        },
      ),
      { numRuns: 8 },
    );
  });

  it("show the most frequent values, and that there are more", async () => {
    const many = await writer("cat-many");
    for (const half of [0, 15]) {
      const rare = Array.from({ length: 15 }, (_, at) => ({ name: `m${half}${at}`, category: `many-${half + at}` }));
      const tools = [...rare, { name: `q${half}`, category: "query" }];
      await many.create(`s${half}`, { visibility: half === 0 ? "public" : "tenant" });
      await many.publish(`s${half}`, { tools });
    }
    const { category } = (await catalog("?facets=category", many.token)).body.data.facets;
    expect([category.values.length, category.more]).toEqual([20, true]);
    const counts = category.values.map(({ count }: { count: number }) => count);
    expect(counts).toEqual(counts.toSorted((x: number, y: number) => y - x));
    expect(asObject(category).query).toBeGreaterThanOrEqual(2);
  });
});

describe("pages", () => {
  async function pages(query: string, who?: string, between: (page: number) => Promise<unknown> = async () => {}) {
    const found: Item[][] = [];
    const changed: (true | undefined)[] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await catalog(`${query}${cursor && `&cursor=${cursor}`}`, who);
      expect([status, body.error]).toEqual([200, undefined]);
      found.push(body.data.items);
      changed.push(body.data.changed);
      if (body.data.nextCursor === undefined) return { found, changed };
      cursor = body.data.nextCursor;
      await between(found.length);
    }
  }

  it.each([
    ["everything", "?limit=3", (tenant: string) => [tenant]],
    ["one tenant", "?limit=3&tenant={}", (tenant: string) => [tenant]],
    ["a category", "?limit=3&category=cat-{}", (tenant: string) => [tenant]],
    ["a category, as an outsider", "?limit=3&category=cat-{}", () => []],
    ["two categories", "?limit=3&category=cat-{}&category=even-{}&status=active", (tenant: string) => [tenant]],
  ])("of %s show every server exactly once while others write", async (what, query, held) => {
    const tenant = `cat-pages-${what.replaceAll(/[^a-z]/g, "")}`;
    const one = await writer(tenant);
    const who = await token({ tenants: held(tenant), sub: tenant });
    const make = async (name: string, index: number) => {
      const visibility = index % 2 === 0 ? "public" : "tenant";
      await one.create(name, { visibility });
      const category = index % 3 === 0 ? `even-${tenant}` : `cat-${tenant}`;
      await one.publish(name, {
        tools: [
          { name: `t-${name}`, category },
          { name: `u-${name}`, category: `cat-${tenant}` },
        ],
      });
    };
    for (const [index, name] of [..."abcdefgh"].entries()) await make(name, index);
    const asked = query.replaceAll("{}", tenant);
    const own = ({ tenant: of }: Item) => of === tenant;
    const expected = [..."abcdefgh"].filter((_, index) => held(tenant).length > 0 || index % 2 === 0);

    const quiet = await pages(asked, who);
    expect(namesOf(quiet.found.flat().filter(own))).toEqual(expected.map((name) => `${tenant}/${name}`));
    expect(quiet.found.slice(0, -1).every(({ length }) => length === 3)).toBe(true);
    expect(quiet.changed.every((changed) => changed === undefined)).toBe(true);

    const busy = await pages(asked, who, async (page) => {
      if (page !== 1) return;
      for (const [index, name] of ["a1", "c1", "g1"].entries()) await make(name, index);
      await one.remove("h");
      await one.settle("a", { visibility: "public", title: "Moved" });
    });
    const seen = namesOf(busy.found.flat().filter(own));
    expect(new Set(seen).size).toBe(seen.length);
    const throughout = expected.filter((name) => name !== "h").map((name) => `${tenant}/${name}`);
    expect(seen.filter((name) => throughout.includes(name))).toEqual(throughout);
    expect(busy.changed.slice(1).every((changed) => changed === true)).toBe(true);
  });

  it("are not opened by another list's cursor", async () => {
    const cursorOf = async (query: string, who: string) => {
      const { nextCursor } = (await catalog(`?limit=1${query}`, who)).body.data;
      expect(nextCursor).toBeDefined();
      return nextCursor as string;
    };
    const own = await cursorOf(`&${mine}`, both);
    expect((await catalog(`?limit=2&fields=title&${mine}&cursor=${own}`, both)).status).toBe(200);
    const listed = await registry.send("GET", `${configs}?limit=1`, { token: both });
    const attempts: [string, string, string, string][] = [
      ["another caller's", both, `&${mine}`, await cursorOf(`&${mine}`, admin)],
      ["an outsider's use of a member's", outsider, `&${mine}`, own],
      ["without its filter", both, "", own],
      ["with another filter", both, `&${mine}&kind=tool`, own],
      ["the list of settings'", both, "", listed.body.data.nextCursor],
      ["cut short", both, `&${mine}`, own.slice(0, -4)],
      ["nothing", both, `&${mine}`, ""],
      ["plain text", both, `&${mine}`, "cat-a/open"],
      ["very long", both, `&${mine}`, "A".repeat(10_000)],
    ];
    const outcomes = [];
    for (const [what, who, query, cursor] of attempts) {
      const { status, body } = await catalog(`?limit=1${query}&cursor=${encodeURIComponent(cursor)}`, who);
      outcomes.push([what, status, body.error?.code]);
    }
    expect(outcomes).toEqual(attempts.map(([what]) => [what, 400, "ErrorCursorInvalid"]));
  });
});

describe("bad input", () => {
  it.each([
    ["?limit=0", "limit must be a whole number from 1 to 100"],
    ["?limit=-1", "limit must be"],
    ["?limit=101", "limit must be"],
    ["?limit=99999999999999999999", "limit must be"],
    ["?limit=1e1", "limit must be"],
    ["?limit=", "limit must be"],
    ["?limit=1&limit=2", "limit is given 2 times"],
    ["?q=x", 'Unknown query parameter "q"; known: tenant, kind'],
    ["?__proto__=1", '"__proto__"'],
    ["?kind=robot", "kind must be one of tool"],
    ["?status=gone", "status must be one of active, deprecated"],
    ["?probe=dead", "probe must be one of"],
    ["?tenant=A!", "tenant must be"],
    ["?updated_since=tomorrow", "updated_since must be a time"],
    ["?fields=secret", 'fields has no "secret"'],
    ["?facets=colour", 'facets has no "colour"'],
    [`?category=${"x".repeat(129)}`, "category is longer"],
  ])("%s is refused", async (query, mention) => {
    const { status, body } = await catalog(query);
    expect([status, body.error.code]).toEqual([400, "ErrorBadRequest"]);
    expect(body.error.message).toContain(mention);
  });

  it("a tenant's generation cannot be asked for, nor another method", async () => {
    expect((await catalog("", undefined, { "Rollcall-Min-Generation": "1" })).status).toBe(400);
    const { status, headers } = await registry.send("POST", "/api/catalog", { body: {} });
    expect([status, headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("values that look like SQL or patterns are values", async () => {
    for (const value of ["' OR 1=1 --", "%", "*", '"', "\\", "\u0000", "[]"]) {
      expect(await names(`?category=${encodeURIComponent(value)}`, admin)).toEqual([]);
    }
  });
});

describe("what a page touches", () => {
  const nothing = createOperations();
  async function touched(query: string, who?: string, headers: Record<string, string> = {}) {
    const before = { ...registry.services.operations };
    const answer = await catalog(query, who, headers);
    const after = registry.services.operations;
    const delta = Object.fromEntries(
      Object.entries(after).map(([name, count]) => [name, count - before[name as keyof typeof before]]),
    );
    return { answer, delta, source: answer.headers.get("Rollcall-Source") };
  }
  const query = "?tenant=cat-a";

  beforeEach(() => {
    clock += 10_000;
  });

  it("is memory alone within two seconds, for the same caller and question", async () => {
    const first = await touched(query);
    expect([first.delta, first.source]).toEqual([{ ...nothing, objectCalls: 1 }, "object"]);
    clock += 2_000;
    const again = await touched(query);
    expect([again.delta, again.source]).toEqual([{ ...nothing, memory: 1 }, "memory"]);
    expect(again.answer.text).toBe(first.answer.text);
    expect((await touched(query, a.token)).delta.objectCalls).toBe(1);
    expect((await touched(`${query}&limit=2`)).delta.objectCalls).toBe(1);
    expect((await touched(`${query}&fields=title`)).delta.objectCalls).toBe(1);
  });

  it("is one call afterwards, which looks nothing up while nothing changed", async () => {
    const first = await touched(query);
    clock += 2_001;
    const spy = await runInDurableObject(directoryStub(), async (_, { storage }) => {
      const exec = storage.sql.exec.bind(storage.sql);
      const asked: string[] = [];
      // biome-ignore lint/suspicious/noExplicitAny: stands in for every overload
      (storage.sql as any).exec = (text: string, ...values: SqlStorageValue[]) => {
        asked.push(text);
        return exec(text, ...values);
      };
      return asked;
    });
    const again = await touched(query);
    expect([again.delta, again.source, again.answer.text]).toEqual([
      { ...nothing, objectCalls: 1 },
      "object",
      first.answer.text,
    ]);
    expect(spy).toEqual(["SELECT value FROM meta WHERE key = 'generation'"]);
    // Revalidated, it is as good as new.
    expect((await touched(query)).source).toBe("memory");
    await evictDurableObject(directoryStub());
  });

  it("goes to the directory with Cache-Control: no-cache", async () => {
    await touched(query);
    expect((await touched(query, undefined, { "Cache-Control": "no-cache" })).source).toBe("object");
  });

  it("shows a write at once where it was made, and to others within two seconds", async () => {
    const far = new Registry({ now: () => clock });
    const seen = async (where: Registry) =>
      namesOf((await where.send("GET", "/api/catalog?tenant=cat-fresh")).body.data.items);
    const fresh = await writer("cat-fresh");
    expect([await seen(registry), await seen(far)]).toEqual([[], []]);
    await fresh.create("s", { visibility: "public" });
    expect([await seen(registry), await seen(far)]).toEqual([["cat-fresh/s"], []]);
    clock += 2_001;
    expect(await seen(far)).toEqual(["cat-fresh/s"]);
    await fresh.settle("s", { visibility: "tenant" });
    expect(await seen(registry)).toEqual([]);
  });

  it("answers 304 while what is shown is the same, whatever others write", async () => {
    const { headers } = await catalog(query);
    const etag = headers.get("ETag") ?? "";
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}\.c1"$/);
    await b.settle("inner", { title: `Changed ${clock}` });
    const same = await catalog(query, undefined, { "If-None-Match": etag });
    expect([same.status, same.text, same.headers.get("ETag")]).toEqual([304, "", etag]);
    expect((await catalog(query, a.token, { "If-None-Match": etag })).status).toBe(200);
    await a.settle("old", { status: "deprecated", visibility: "public", title: `Changed ${clock}` });
    const other = await catalog(query, undefined, { "If-None-Match": etag });
    expect(other.status).toBe(200);
    expect(other.headers.get("ETag")).not.toBe(etag);
  });
});

/** An entry as a tenant tells it. */
function told(tenant: string, at: number, more: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    tenant,
    name: `s${String(at).padStart(5, "0")}`,
    visibility: at % 2 === 0 ? "public" : "tenant",
    status: "active",
    probe: "live",
    counts: { tool: 1 },
    tokens: 10,
    generation: 1,
    updatedAt: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
    attributes: [
      ["provider", "mcp"],
      ["category", at % 10 === 0 ? "grown-tenth" : "grown"],
    ],
    ...more,
  };
}

describe("what it costs", () => {
  const fill = async (tenant: string, from: number, to: number) => {
    for (let at = from; at < to; at += 500) {
      const some = Array.from({ length: Math.min(500, to - at) }, (_, index) => told(tenant, at + index));
      await directory.update(some);
    }
  };
  /** Rows read and written by some work on the directory's own tables. */
  const rows = (work: (sql: SqlStorage) => void) =>
    runInDurableObject(directoryStub(), async (_, { storage }) => {
      const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
      const counting = {
        exec: (text: string, ...values: SqlStorageValue[]) => {
          const cursor = storage.sql.exec(text, ...values);
          cursors.push(cursor);
          return cursor;
        },
      } as unknown as SqlStorage;
      work(counting);
      const sum = (of: "rowsRead" | "rowsWritten") => cursors.reduce((total, cursor) => total + cursor[of], 0);
      return { read: sum("rowsRead"), written: sum("rowsWritten") };
    });
  const question = (more: Partial<CatalogQuestion>): CatalogQuestion => ({
    values: {},
    caller: ["grown-a"],
    after: { tenant: "", name: "" },
    limit: 31,
    facets: [],
    ...more,
  });
  const questions: Record<string, Partial<CatalogQuestion>> = {
    "a first page with its counts": { facets: catalogDimensions },
    "a page in the middle": { after: { tenant: "grown-a", name: "s00100" } },
    "an admin's": { caller: "admin", facets: catalogDimensions },
    "an outsider's": { caller: [], facets: catalogDimensions },
    "one category": { values: { category: ["grown-tenth"] } },
    "two dimensions": { values: { category: ["grown-tenth"], provider: ["mcp"] } },
    "one tenant's": { values: { tenant: ["grown-a"] } },
    "what changed lately": { caller: [], updatedSince: Date.UTC(2026, 0, 1) + 190 },
  };
  const readFor = async (more: Partial<CatalogQuestion>) =>
    (await rows((sql) => void readCatalog(sql, question(more)))).read;

  it("does not grow with the catalogue to read a page, or to take a change", slow, async () => {
    await fill("grown-a", 0, 400);
    await fill("grown-b", 0, 20);
    const before: Record<string, number> = {};
    for (const [what, more] of Object.entries(questions)) before[what] = await readFor(more);
    const change = (generation: number) => told("grown-a", 50, { generation, tokens: generation });
    const counted = async (generation: number) => {
      const spent = { written: 0 };
      await runInDurableObject(directoryStub(), async (object, { storage }) => {
        const exec = storage.sql.exec.bind(storage.sql);
        const cursors: { rowsWritten: number }[] = [];
        // biome-ignore lint/suspicious/noExplicitAny: stands in for every overload
        (storage.sql as any).exec = (text: string, ...values: SqlStorageValue[]) => {
          const cursor = exec(text, ...values);
          cursors.push(cursor);
          return cursor;
        };
        await (object as unknown as typeof directory).update([change(generation)]);
        spent.written = cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
        // biome-ignore lint/suspicious/noExplicitAny: back to what it was
        delete (storage.sql as any).exec;
      });
      return spent.written;
    };
    const small = await counted(2);
    expect(small).toBeGreaterThan(0);
    expect(small).toBeLessThan(10);
    await fill("grown-a", 400, 2_000);
    await fill("grown-b", 20, 2_000);
    expect(await counted(3)).toBe(small);
    for (const [what, more] of Object.entries(questions)) {
      if (what === "what changed lately") continue;
      expect([what, await readFor(more)]).toEqual([what, before[what]]);
    }
    expect(before["a page in the middle"]).toBeLessThan(160);
    // Little changed since: no more is read than changed, however much there is.
    const late = { updatedSince: Date.UTC(2026, 0, 1) + 1_990, caller: [] };
    expect(await readFor(late)).toBeLessThan(100);
    await audit();
  });

  it("counts what is filtered up to 1,000", async () => {
    const asked = question({ caller: "admin", values: { category: ["grown"] }, facets: ["category", "tenant"] });
    const answer = await directory.catalog(asked);
    expect(answer).toMatchObject({
      counted: {
        total: { count: 1_000, atLeast: true },
        facets: { category: { values: [{ value: "grown", count: 1_000, atLeast: true }] } },
      },
    });
    const fewer = await directory.catalog({ ...asked, values: { category: ["grown-tenth"] } });
    expect(fewer).toMatchObject({ counted: { total: { count: 400 } } });
  });

  it("ends a page where it has looked long enough, and goes on from there", slow, async () => {
    // Far apart in a long list: of each value many, of both together few.
    const sparse = (at: number) =>
      told("sparse", at, {
        visibility: "public",
        attributes: [
          ["category", "sparse"],
          ["effect", at % 2_400 === 0 || at % 2 === 1 ? "odd" : "even"],
          ["permission", at % 2 === 0 ? "even" : "odd"],
        ],
      });
    for (let at = 0; at < 4_810; at += 481) {
      await directory.update(Array.from({ length: 481 }, (_, index) => sparse(at + index)));
    }
    const found: string[] = [];
    let empty = 0;
    for (let cursor = "", page = 0; page < 10; page += 1) {
      const { data } = (await catalog(`?effect=odd&permission=even&limit=2&facets=true${cursor}`)).body;
      found.push(...namesOf(data.items));
      if (data.items.length < 2) empty += 1;
      if (page === 0) expect(data.total.atLeast).toBe(true);
      if (data.nextCursor === undefined) break;
      cursor = `&cursor=${data.nextCursor}`;
    }
    expect(found).toEqual(["sparse/s00000", "sparse/s02400", "sparse/s04800"]);
    expect(empty).toBeGreaterThan(0);
  });
});
