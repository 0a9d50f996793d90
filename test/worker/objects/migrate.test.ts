import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { loadTokenizer } from "../../../src/manifest/tokens.ts";
import type { Directory } from "../../../src/objects/contract.ts";
import { directorySteps } from "../../../src/objects/directory/tables.ts";
import { createTables, isEmpty, migrate, type Step } from "../../../src/objects/migrate.ts";
import { tenantOf } from "../../../src/objects/stubs.ts";
import { tenantSteps } from "../../../src/objects/tenant/tables.ts";
import { bodyKey } from "../../../src/registry/cache/keys.ts";
import { genesisOf, verifyChain } from "../../../src/registry/change-chain.ts";
import { rebuildCards } from "../../../src/search/sql/tenant-cards.ts";
import { capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";
import { firstDirectoryRows, firstDirectoryTables, firstTenantRows, firstTenantTables } from "./recorded-databases.ts";

const tenantStub = (tenant: string) => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const directoryStub = (name: string) => env.DIRECTORY.get(env.DIRECTORY.idFromName(name));

/** Storage with nothing in it: the object of a tenant makes its tables with the first write. */
const withStorage = (work: (storage: DurableObjectStorage) => void) =>
  runInDurableObject(env.TENANTS.get(env.TENANTS.newUniqueId()), (_, { storage }) => work(storage));

/** Storage with the recorded database of a tenant. */
const withRecorded = (work: (storage: DurableObjectStorage, sql: SqlStorage) => void) =>
  withStorage((storage) => {
    storage.sql.exec(firstTenantTables + firstTenantRows);
    work(storage, storage.sql);
  });

/** Everything in a database: its tables with their rows, its indexes. */
function contents(sql: SqlStorage) {
  const schema = sql.exec("SELECT type, name, sql FROM sqlite_master ORDER BY name").toArray();
  const tables = schema.filter(({ type, name }) => type === "table" && !String(name).startsWith("_cf"));
  return { schema, rows: tables.map(({ name }) => [name, [...sql.exec(`SELECT * FROM "${name}"`).raw()]]) };
}

const values = (sql: SqlStorage, query: string) => [...sql.exec(query).raw()].flat();
const oneLine = (text = "") => text.replace(/\s+/g, " ").trim();

describe("the first step", () => {
  it.each([
    ["a tenant", tenantSteps, firstTenantTables],
    ["the directory", directorySteps, firstDirectoryTables],
  ])("of %s is as recorded", (_, steps, recorded) => {
    expect(oneLine(steps[0]?.tables)).toBe(oneLine(recorded));
    expect(steps[0]).not.toHaveProperty("fill");
  });
});

describe("an appended step", () => {
  const coloured: Step = {
    tables: "ALTER TABLE server ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'; CREATE TABLE shade (name TEXT);",
  };

  it("changes the tables of a recorded database and keeps its rows", () =>
    withRecorded((storage, sql) => {
      const before = sql.exec("SELECT * FROM server").toArray();
      const log = sql.exec("SELECT * FROM change").toArray();
      expect(migrate(storage, [...tenantSteps, coloured])).toBe(true);
      expect(sql.exec("SELECT * FROM server").toArray()).toMatchObject(
        before.map((row) => ({ ...row, colour: "grey" })),
      );
      expect(sql.exec("SELECT * FROM change").toArray()).toEqual(
        log.map((entry) => ({ ...entry, record: null, rest: null })),
      );
      expect(values(sql, "SELECT count(*) FROM shade")).toEqual([0]);
      expect(values(sql, "SELECT value FROM meta ORDER BY key")).toEqual([3, tenantSteps.length + 1, "acme"]);
    }));

  it("runs once: a second start writes nothing", () =>
    withRecorded((storage, sql) => {
      let fills = 0;
      const fill = () => {
        fills += 1;
      };
      const steps: Step[] = [...tenantSteps, { ...coloured, fill }];
      migrate(storage, steps);
      const after = contents(sql);
      expect(migrate(storage, steps)).toBe(false);
      expect([fills, contents(sql)]).toEqual([1, after]);
    }));

  it("may work rows out by code, such as the search index, with what the directory is to hear of it", () =>
    withRecorded((storage, sql) => {
      migrate(storage, [...tenantSteps, { fill: rebuildCards }]);
      expect(values(sql, "SELECT key FROM card")).toEqual(["apple"]);
      expect(values(sql, "SELECT name FROM sqlite_master WHERE name LIKE 'card\\_%' ESCAPE '\\'")).toEqual([]);
      expect(values(sql, "SELECT server, key FROM pending_item ORDER BY key")).toEqual(["s", "apple", "s", "pear"]);
      expect(values(sql, "SELECT subject FROM outbox WHERE task = 'directory'")).toEqual(["s"]);
    }));

  it("fills its rows when the tables of all steps are there, and once for several steps", () =>
    withRecorded((storage, sql) => {
      const fill = (within: SqlStorage) => void within.exec("INSERT INTO shade (name, depth) VALUES ('dark', 1)");
      const deep: Step = { tables: "ALTER TABLE shade ADD COLUMN depth INTEGER", fill };
      migrate(storage, [...tenantSteps, { ...coloured, fill }, deep]);
      expect(values(sql, "SELECT name, depth FROM shade")).toEqual(["dark", 1]);
    }));

  it.each<[what: string, broken: Step]>([
    ["SQL that fails", { tables: "CREATE TABLE tint (name TEXT); UPDATE nowhere SET name = 1;" }],
    [
      "code that fails",
      {
        fill: (sql) => {
          sql.exec("DELETE FROM server");
          throw new Error("no such luck");
        },
      },
    ],
  ])("with %s leaves the database as it was, earlier steps of the same start included", (_, broken) =>
    withRecorded((storage, sql) => {
      const before = contents(sql);
      expect(() => migrate(storage, [...tenantSteps, coloured, broken])).toThrow(/no such/);
      expect(contents(sql)).toEqual(before);
      expect(migrate(storage, [...tenantSteps, coloured])).toBe(true);
    }),
  );

  it("is part of a new database, which one that fails leaves empty", () =>
    withStorage((storage) => {
      const broken = { tables: "UPDATE nowhere SET name = 1" };
      expect(() => createTables(storage, [...tenantSteps, broken], { tenant: "acme" })).toThrow(/no such table/);
      expect(isEmpty(storage.sql)).toBe(true);
      createTables(storage, [...tenantSteps, coloured], { tenant: "acme" });
      expect(migrate(storage, [...tenantSteps, coloured])).toBe(false);
      expect(values(storage.sql, "SELECT value FROM meta ORDER BY key")).toEqual([0, tenantSteps.length + 1, "acme"]);
      expect(values(storage.sql, "SELECT count(*) FROM shade")).toEqual([0]);
    }));
});

describe("the step that adds origins", () => {
  const row = (declared: object) => JSON.stringify(declared);
  const read = (url: string) => ({ metadata: { mcp: { server_url: url } } });
  const items: [kind: string, digest: string, declared: object][] = [
    ["tool", "d1", { name: "read", ...read("https://a.example/mcp") }],
    ["tool", "d2", { name: "pushed" }],
    ["tool", "d3", { name: "elsewhere", ...read("https://gone.example/mcp") }],
    ["generator", "d4", { type: "plug", source: "plugin" }],
    ["generator", "d5", { type: "own", source: "builtin" }],
  ];
  const header = { title: "T", serverInfo: { name: "s" }, mcpVersion: "1" };

  /** A server as it was stored before, with a source where there is one. */
  function insertServer(sql: SqlStorage, name: string, by: string, source?: string): void {
    const times = ["2026-01-01", "2026-01-01"];
    sql.exec(
      "INSERT INTO server (name, config, visibility, digest, revision, generation, created_at, updated_at) VALUES (?, '{}', 'tenant', 'm', 1, 1, ?, ?)",
      ...[name, ...times],
    );
    for (const [kind, digest, declared] of items) {
      sql.exec(
        "INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, first_revision) VALUES (?, ?, ?, ?, ?, ?, 1, '[]', 1)",
        ...[name, kind, digest, digest, `${name}.${digest}`, row(declared)],
      );
    }
    const layout = items.map(([kind, digest]) => [kind, digest]);
    sql.exec(
      "INSERT INTO revision (server, number, digest, generation, published_at, published_by, changes, header, layout) VALUES (?, 1, 'm', 1, '2026-01-01', ?, '{}', ?, ?)",
      ...[name, by, row(header), row(layout)],
    );
    if (source === undefined) return;
    const settings = { id: "main", type: "sse", url: source };
    sql.exec(
      "INSERT INTO source (server, id, position, config, state, since) VALUES (?, 'main', 0, ?, 'live', '2026-01-01')",
      ...[name, row(settings)],
    );
  }

  it("works them out from what items say of themselves", () =>
    withRecorded((storage, sql) => {
      insertServer(sql, "sourced", "introspection", "https://a.example/mcp?token=x");
      insertServer(sql, "pushed", "tester");
      sql.exec("DELETE FROM capability WHERE server = 'pushed' AND digest = 'd4'");
      sql.exec(
        "UPDATE revision SET layout = ? WHERE server = 'pushed'",
        row(items.filter(([, digest]) => digest !== "d4").map(([kind, digest]) => [kind, digest])),
      );
      migrate(storage, tenantSteps);
      const origins = (server: string) => values(sql, `SELECT origins FROM revision WHERE server = '${server}'`)[0];
      expect(JSON.parse(String(origins("sourced")))).toEqual({
        items: [
          ["source:main", [0]],
          ["plugin", [3]],
        ],
        fields: ["serverInfo", "mcpVersion"],
      });
      expect([origins("pushed"), origins("s")]).toEqual([null, null]);
    }));
});

describe("a recorded database", () => {
  it("of a tenant is read and written by this version", async () => {
    await runInDurableObject(tenantStub("acme"), (_, { storage }) => {
      storage.sql.exec(firstTenantTables + firstTenantRows);
    });
    await evictDurableObject(tenantStub("acme"));
    const registry = new Registry();
    const owner = await token({ tenants: ["acme"] });
    const read = await registry.send("GET", capabilities("acme", "s"), { token: owner });
    expect(read.body.data.tools).toMatchObject([{ name: "apple", description: "Eats apples." }]);
    const body = tools("apple", "plum");
    expect((await registry.send("PUT", capabilities("acme", "s"), { token: owner, body })).status).toBe(200);
    const { changes } = await tenantOf(env, tenantKey("acme"), createUsage()).changes(0, 100);
    expect(changes.length).toBeGreaterThan(4);
    expect(verifyChain(changes, genesisOf(tenantKey("acme"))).ok).toBe(true);
    // It is older than spellings: in lower case it was first written.
    const spelled = await registry.send("POST", configs, { token: owner, body: { tenant: "ACME", name: "new" } });
    expect([spelled.status, spelled.body.data.tenant]).toEqual([201, "acme"]);
  });

  it("of a tenant has its tokens and flags derived again, in slices, and tells of it", async () => {
    const stub = tenantStub("recount");
    const digest = "sha256-9e06d19210358923a14b379fce285c8459c07c97e7fc398c653d2c3e6ae972e8";
    const more = 600;
    await runInDurableObject(stub, (_, { storage: { sql } }) => {
      sql.exec(
        (firstTenantTables + firstTenantRows).replaceAll("'acme'", "'recount'").replaceAll('"acme"', '"recount"'),
      );
      // Items that make several slices, of the first revision and of none that is current.
      for (let index = 0; index < more; index += 1) {
        const declared = JSON.stringify({ name: `t${index}`, title: "x ".repeat(200), "x-note": "<<SYS>>" });
        sql.exec(
          `INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, first_revision, last_revision)
           VALUES ('s', 'tool', ?1, ?1, ?1, ?2, 999, '[]', 1, ?3)`,
          ...[`t${index}`, declared, index % 2 === 0 ? null : 1],
        );
      }
    });
    await evictDurableObject(stub);
    const key = bodyKey(tenantKey("recount"), "s", digest);
    const old = { digest, header: {}, capabilities: [{ kind: "tool", key: "apple", tokens: 11, flags: [] }] };
    await env.REGISTRY.put(key, JSON.stringify(old));
    const registry = new Registry();
    const owner = await token({ tenants: ["recount"] });
    const read = await registry.send("GET", capabilities("recount", "s"), { token: owner });
    // The copy in KV is of an older release: the object is asked, and derives the items of the body first.
    const apple = (await loadTokenizer())('{"name":"apple","description":"Eats apples."}');
    expect(read.body.data.registry.tokens).toBe(apple);
    await drained("recount");
    await vi.waitFor(async () => {
      const left = await runInDurableObject(stub, (_, { storage: { sql } }) => ({
        tasks: values(sql, "SELECT subject FROM outbox WHERE task = 'reanalyse'"),
        rows: values(sql, "SELECT count(*) FROM capability WHERE analysis = 0 OR tokens = 999"),
      }));
      expect(left).toEqual({ tasks: [], rows: [0] });
    });
    await drained("recount");
    const { row, cards } = await runInDurableObject(stub, (_, { storage: { sql } }) => ({
      row: sql.exec("SELECT json_extract(summary, '$.tokens') AS tokens, overlay FROM server").one(),
      cards: values(sql, "SELECT DISTINCT tokens FROM card WHERE key LIKE 't%' AND length(key) = 2"),
    }));
    const current = await runInDurableObject(stub, (_, { storage: { sql } }) =>
      values(sql, "SELECT sum(tokens) FROM capability WHERE last_revision IS NULL"),
    );
    expect(row).toEqual({ tokens: current[0], overlay: 4 });
    expect(cards).toEqual([(await loadTokenizer())('{"name":"t0"}')]);
    expect(await env.REGISTRY.get<{ analysis: number }>(key, "json")).toMatchObject({ analysis: 1 });
    const flags = await runInDurableObject(stub, (_, { storage: { sql } }) =>
      values(sql, "SELECT DISTINCT json_extract(flags, '$[0].rule') FROM capability WHERE key LIKE 't%'"),
    );
    expect(flags).toEqual(["chat-template"]);
    const { changes } = await tenantOf(env, tenantKey("recount"), createUsage()).changes(0, 100);
    expect(changes.filter(({ classification }) => classification === "advisory")).toMatchObject([
      { generation: 4, server: "s", kind: "server", breaking: false, reasons: [{ path: "/flags" }] },
    ]);
    const marks = await runInDurableObject(stub, (_, { storage: { sql } }) =>
      values(sql, "SELECT key FROM meta WHERE key LIKE 'flags changed%'"),
    );
    expect(marks).toEqual([]);
    const listed = await registry.send("GET", config("recount", "s"), { token: owner });
    expect(listed.body.data.registry.tokens).toBeLessThan(Number(current[0]));
  });

  it("of a tenant tells of no change where only token counts are others", async () => {
    const stub = tenantStub("counted");
    await runInDurableObject(stub, (_, { storage: { sql } }) => {
      sql.exec(
        (firstTenantTables + firstTenantRows).replaceAll("'acme'", "'counted'").replaceAll('"acme"', '"counted"'),
      );
    });
    await evictDurableObject(stub);
    const { generation: before } = await tenantOf(env, tenantKey("counted"), createUsage()).changes(0, 1);
    await drained("counted");
    const row = () =>
      runInDurableObject(stub, (_, { storage: { sql } }) =>
        values(sql, "SELECT generation, overlay, json_extract(summary, '$.tokens') FROM server WHERE name = 's'"),
      );
    await vi.waitFor(async () => expect((await row())[1]).toBe(4));
    expect((await row())[0]).toBe(before);
    const { changes, generation } = await tenantOf(env, tenantKey("counted"), createUsage()).changes(0, 100);
    expect([generation, changes.map(({ classification }) => classification)]).toEqual([
      before,
      expect.not.arrayContaining(["advisory"]),
    ]);
  });

  it("of the directory is read by this version", async () => {
    const stub = directoryStub("recorded");
    await runInDurableObject(stub, async (_, { storage }) => {
      await storage.deleteAll();
      storage.sql.exec(firstDirectoryTables + firstDirectoryRows);
    });
    await evictDurableObject(stub);
    const directory = stub as unknown as Directory;
    const listed = await directory.list({
      tenants: "all",
      onlyPublic: false,
      after: { tenant: "", name: "" },
      limit: 9,
    });
    expect(listed).toMatchObject({ generation: 1, entries: [{ tenant: "acme", name: "s", generation: 3 }] });
  });
});

describe("a database of another version", () => {
  afterEach(() => void vi.restoreAllMocks());

  const older = "DELETE FROM meta WHERE key = 'steps'; INSERT INTO meta (key, value) VALUES ('schema', 14);";
  const cause =
    /another version.* has no number of migration steps, and this version knows \d+\. .*empty data directory/;

  it.each([
    ["from before steps were counted", older, cause],
    [
      "of a later version",
      "UPDATE meta SET value = 1000 WHERE key = 'steps'",
      /another version.* has run 1000 migration/,
    ],
  ])("%s is left alone", (_, made, message) =>
    withRecorded((storage, sql) => {
      sql.exec(made);
      const before = contents(sql);
      expect(() => migrate(storage, tenantSteps)).toThrow(message);
      expect(contents(sql)).toEqual(before);
    }),
  );

  it("is an error that the log explains, for whoever reads or writes the tenant", async () => {
    const registry = new Registry();
    const owner = await token({ tenants: ["aged"] });
    const body = { tenant: "aged", name: "s" };
    expect((await registry.send("POST", configs, { token: owner, body })).status).toBe(201);
    await runInDurableObject(tenantStub("aged"), async (_, { storage }) => {
      storage.sql.exec(older);
      await storage.deleteAlarm();
    });
    await evictDurableObject(tenantStub("aged"));
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const reads = () => registry.send("GET", config("aged", "s"), { token: owner });
    const writes = () => registry.send("PUT", configs, { token: owner, body });
    for (const request of [reads, writes]) {
      const answer = await request();
      expect([answer.status, answer.body.error.code]).toEqual([500, "ErrorInternalServer"]);
      expect(answer.body.error.message).toMatch(/see request .* in the log/);
      expect(logged.mock.lastCall?.[0]).toMatch(cause);
    }
  });

  it("is an error of the directory too", async () => {
    const stub = directoryStub("aged");
    await runInDurableObject(stub, (_, { storage }) => void storage.sql.exec(older));
    await evictDurableObject(stub);
    await expect(async () => await (stub as unknown as Directory).knows(tenantKey("acme"))).rejects.toThrow(cause);
  });
});
