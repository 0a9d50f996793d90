import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { catalogDimensions, type DirectoryCatalogQuery } from "../../../src/catalog/contract.ts";
import { refOf } from "../../../src/kernel/names.ts";
import { attributesOf, countAttributes } from "../../../src/manifest/attributes.ts";
import type { CatalogEntry } from "../../../src/registry/summary.ts";
import { directory, directoryStub, tenantStub } from "./catalog-client.ts";

export const question = (more: Partial<DirectoryCatalogQuery>): DirectoryCatalogQuery => ({
  values: {},
  caller: "admin",
  order: "name",
  after: refOf({ tenant: "", name: "" }),
  limit: 31,
  facets: [],
  ...more,
});

/** What the directory has in memory against what the stored entries say, counted anew. */
export async function audit(): Promise<void> {
  const stored = await runInDurableObject(directoryStub(), (_, { storage: { sql } }) =>
    sql
      .exec<{ entry: string }>("SELECT entry FROM server WHERE entry IS NOT NULL")
      .toArray()
      .map(({ entry }) => JSON.parse(entry) as CatalogEntry),
  );
  for (const caller of ["admin", []] as const) {
    const seen = stored.filter(({ visibility }) => caller === "admin" || visibility === "public");
    for (const dimension of catalogDimensions) {
      const values = seen.flatMap((entry) => [...new Set(valuesOf(entry, dimension))]);
      const recount = [...Map.groupBy(values, (value) => value)].map(([value, { length: count }]) => ({
        value,
        count,
      }));
      recount.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
      const answer = await directory.catalog(question({ caller, facets: [dimension] }));
      expect(answer).toMatchObject({ counted: { total: { count: seen.length } } });
      expect(answer).toMatchObject({ counted: { facets: { [dimension]: { values: recount.slice(0, 20) } } } });
    }
  }
}

function valuesOf(entry: CatalogEntry, dimension: (typeof catalogDimensions)[number]): string[] {
  switch (dimension) {
    case "tenant":
    case "status":
    case "probe":
      return [entry[dimension]];
    case "kind":
      return Object.entries(entry.counts ?? {}).flatMap(([kind, items]) => (items > 0 ? [kind] : []));
    case "flag":
      return (entry.flags ?? []).map(({ rule }) => rule);
    default:
      return entry.attributes.flatMap(([of, value]) => (of === dimension ? [value] : []));
  }
}

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
