import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { attributesOf, countAttributes } from "../../../src/manifest/attributes.ts";
import type { CatalogEntry } from "../../../src/registry/summary.ts";
import { directoryStub, tenantStub } from "./catalog-client.ts";

/** Kept rows and counts against what the stored entries say, counted anew. */
export const audit = () =>
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
export const auditTenant = (tenant: string) =>
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
