import type { CardRow, Place, VersionRow } from "../../directory/rows.ts";
import { compareServers, type ServerRef, type TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Flag } from "../../manifest/flag.ts";
import type { VersionStatus } from "../../official/schema.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import { readVector } from "../../search/index/vector.ts";
import { cardOf, type CardRow as StoredRow } from "../../search/sql/card-table.ts";

/** Everything public of a server as the tables have it now. Private rows never leave here. */
export function readPlace(sql: SqlStorage, { tenant, name }: ServerRef): Place {
  const row = sql
    .exec<{ entry: string; as_of: number | null }>(
      `SELECT server.entry, indexed_server.items_generation AS as_of FROM server
         LEFT JOIN indexed_server ON indexed_server.tenant = server.tenant AND indexed_server.name = server.name
       WHERE server.tenant = ? AND server.name = ? AND server.public = 1 AND server.entry IS NOT NULL`,
      tenant,
      name,
    )
    .toArray()[0];
  return {
    tenant,
    name,
    entry: row && (readJson(row.entry) as CatalogEntry),
    cardsAsOf: row?.as_of ?? undefined,
    // Items of a server that is not public are dropped with its entry; not shown in any case.
    cards: row === undefined ? [] : cardsOf(sql, tenant, name),
    versions: versionsOf(sql, tenant, name),
  };
}

/** Servers of which something is public, deleted ones with versions included. */
export function publicPlaces(sql: SqlStorage): ServerRef[] {
  return sql
    .exec<{ tenant: TenantKey; name: string }>(
      `SELECT tenant, name FROM server WHERE public = 1 AND entry IS NOT NULL
       UNION SELECT tenant, server FROM server_version`,
    )
    .toArray()
    .sort(compareServers);
}

function cardsOf(sql: SqlStorage, tenant: TenantKey, name: string): CardRow[] {
  return sql
    .exec<StoredRow & { bag: ArrayBuffer; vector: ArrayBuffer | null }>(
      "SELECT * FROM card WHERE tenant = ? AND server = ? ORDER BY kind, key",
      tenant,
      name,
    )
    .toArray()
    .map((row) => {
      const { tenant: _, server: __, ...card } = cardOf(row);
      const vector = row.vector === null ? undefined : readVector(row.vector);
      return {
        ...card,
        terms: new Uint8Array(row.bag),
        vector: vector && { numbers: vector.values, scale: vector.scale },
      };
    });
}

interface VersionColumns extends Record<string, SqlStorageValue> {
  version: string;
  derived: number;
  description: string;
  status: VersionStatus;
  status_message: string | null;
  status_changed_at: string;
  published_at: string;
  updated_at: string;
  latest: number;
  sequence: number;
  generation: number;
  document: string;
  flags: string;
}

function versionsOf(sql: SqlStorage, tenant: TenantKey, name: string): VersionRow[] {
  return sql
    .exec<VersionColumns>("SELECT * FROM server_version WHERE name = ? ORDER BY version", `${tenant}/${name}`)
    .toArray()
    .map((row) => ({
      version: row.version,
      status: row.status,
      statusMessage: row.status_message ?? undefined,
      statusChangedAt: row.status_changed_at,
      publishedAt: row.published_at,
      updatedAt: row.updated_at,
      isLatest: row.latest === 1,
      isDerived: row.derived === 1,
      description: row.description,
      flags: readJson(row.flags) as Flag[],
      sequence: row.sequence,
      generation: row.generation,
      document: row.document,
    }));
}
