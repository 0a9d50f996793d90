import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { migrate } from "../../../src/objects/migrate.ts";
import { tenantOf } from "../../../src/objects/stubs.ts";
import { tenantSteps } from "../../../src/objects/tenant/tables.ts";
import { capabilities, config, drained, Registry, token, tools } from "../support/registry.ts";
import { firstTenantRows, firstTenantTables } from "./recorded-databases.ts";

const tenantStub = (tenant: string) => env.TENANTS.get(env.TENANTS.idFromName(tenant));

/** Storage with nothing in it: the object of a tenant makes its tables with the first write. */
const withStorage = (work: (storage: DurableObjectStorage) => void) =>
  runInDurableObject(env.TENANTS.get(env.TENANTS.newUniqueId()), (_, { storage }) => work(storage));

const values = (sql: SqlStorage, query: string) => [...sql.exec(query).raw()].flat();

describe("the step that makes withdrawn a status", () => {
  const digest = "sha256-9e06d19210358923a14b379fce285c8459c07c97e7fc398c653d2c3e6ae972e8";
  const recordedAs = (tenant: string) =>
    (firstTenantTables + firstTenantRows).replaceAll("'acme'", `'${tenant}'`).replaceAll('"acme"', `"${tenant}"`);

  /** What the earlier release stored when a server was withdrawn. */
  const withdrawnBefore = `
    UPDATE meta SET value = 4 WHERE key = 'generation';
    INSERT INTO change (sequence, generation, at, server, kind, key, classification, from_digest, reasons, previous, hash)
      SELECT max(sequence) + 1, 4, '2026-11-18T01:00:00.000Z', 's', 'server', 's', 'removed', '${digest}', '[]', '', ''
      FROM change;
    UPDATE capability SET last_revision = 1 WHERE server = 's' AND last_revision IS NULL;
    UPDATE server SET digest = NULL, public_since = NULL, deleted_at = '2026-11-18T01:00:00.000Z', withdrawn = 1,
      overlay = overlay + 1, generation = 4 WHERE name = 's';
    DELETE FROM card; DELETE FROM pending_item;
    INSERT INTO card_text (card_text) VALUES ('delete-all');
    INSERT INTO version (server, version, sequence, document, status, status_message, status_changed_at, published_at,
      published_by, updated_at, latest, generation, pending)
      VALUES
      ('s', '1.0.0', 1, '{"name":"revived/s","description":"D","version":"1.0.0"}', 'deleted', NULL, '2026-11-17T00:00:00.000Z',
        '2026-11-17T00:00:00.000Z', 'tester', '2026-11-17T00:00:00.000Z', 0, 2, 0),
      ('s', '2.0.0', 2, '{"name":"revived/s","description":"D","version":"2.0.0"}', 'deleted', 'Moved.', '2026-11-18T00:00:00.000Z',
        '2026-11-17T00:00:00.000Z', 'tester', '2026-11-18T00:00:00.000Z', 1, 4, 0);`;

  it("brings a recorded server back: its content, its readers, its message, and its versions when it is offered", async () => {
    const stub = tenantStub("revived");
    await runInDurableObject(stub, (_, { storage: { sql } }) => void sql.exec(recordedAs("revived") + withdrawnBefore));
    await evictDurableObject(stub);
    const registry = new Registry();
    const owner = await token({ tenants: ["revived"] });
    const read = await registry.send("GET", capabilities("revived", "s"), { token: owner });
    expect([read.status, read.body.data.registry.digest, read.body.data.registry.status]).toEqual([
      200,
      digest,
      "withdrawn",
    ]);
    expect(read.body.data.tools).toMatchObject([{ name: "apple" }]);
    await drained("revived");
    const shown = (await registry.send("GET", config("revived", "s"), { token: owner })).body.data;
    expect(shown).toMatchObject({ status: "withdrawn", statusMessage: "Moved.", visibility: "public" });
    const outside = await registry.send("GET", "/api/capabilities/revived/mcp.s.apple");
    expect(outside.status).toBe(200);
    const found = await registry.send("GET", "/api/search?task=apples&tenant=revived");
    expect(found.body.data.items).toMatchObject([{ name: "apple" }]);
    const { changes } = await tenantOf(env, tenantKey("revived"), createUsage()).changes(0, 100);
    expect(changes.at(-1)).toMatchObject({ generation: 5, kind: "server", classification: "advisory" });

    const states = async () => {
      const { body } = await registry.send("GET", "/v0.1/servers/revived%2Fs/versions?include_deleted=true");
      // biome-ignore lint/suspicious/noExplicitAny: rows of an answer
      return body.servers.map(({ server, _meta }: any) => [server.version, Object.values<any>(_meta)[0].status]);
    };
    expect(await states()).toEqual([
      ["2.0.0", "deleted"],
      ["1.0.0", "deleted"],
    ]);
    await registry.send("PATCH", config("revived", "s"), { token: owner, body: { status: "active" } });
    // What was deleted before the server was withdrawn stays deleted.
    expect(await states()).toEqual([
      ["2.0.0", "active"],
      ["1.0.0", "deleted"],
    ]);
    const put = await registry.send("PUT", capabilities("revived", "s"), { token: owner, body: tools("apple", "fig") });
    expect(put.body.data.changes).toMatchObject({ removed: 0, additive: 2 });
  });

  it("leaves the content in the history where another server has one of its ids by now", () =>
    withStorage((storage) => {
      const { sql } = storage;
      sql.exec(recordedAs("taken") + withdrawnBefore);
      sql.exec(
        `INSERT INTO server (name, config, visibility, digest, revision, generation, created_at, updated_at)
           VALUES ('t', '{}', 'tenant', 'm', 1, 4, '2026-01-01', '2026-01-01');
         INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, first_revision)
           SELECT 't', kind, digest, key, id, declared, tokens, flags, 1 FROM capability WHERE server = 's' LIMIT 1;`,
      );
      expect(migrate(storage, tenantSteps)).toBe(true);
      const row = sql.exec("SELECT digest, deleted_at, withdrawn, summary, config FROM server WHERE name = 's'").one();
      expect(row).toMatchObject({ digest: null, deleted_at: null, withdrawn: 0, summary: "{}" });
      expect(JSON.parse(String(row.config))).toMatchObject({ status: "withdrawn" });
      expect(values(sql, "SELECT number FROM revision WHERE server = 's'")).not.toEqual([]);
    }));

  it("removes what is no message about a status, which was kept as a member of nobody's", () =>
    withStorage((storage) => {
      const { sql } = storage;
      sql.exec(recordedAs("messages"));
      const configsOf: [string, object][] = [
        ["deprecated", { status: "deprecated", statusMessage: "Old." }],
        ["active", { statusMessage: "Old." }],
        ["odd", { status: "deprecated", statusMessage: { text: "Old." } }],
      ];
      for (const [name, config] of configsOf) {
        sql.exec(
          "INSERT INTO server (name, config, visibility, generation, created_at, updated_at) VALUES (?, ?, 'tenant', 1, '2026', '2026')",
          ...[name, JSON.stringify(config)],
        );
      }
      migrate(storage, tenantSteps);
      const kept = values(sql, "SELECT name FROM server WHERE json_type(config, '$.statusMessage') IS NOT NULL");
      expect(kept).toEqual(["deprecated"]);
    }));
});
