import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import type { DirectoryEntry } from "../../registry/contract.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { CatalogDimension } from "../contract.ts";

/** An entry as it may be stored: those of an earlier version lack what the catalogue is filtered by. */
export type StoredEntry = DirectoryEntry & Partial<Pick<CatalogEntry, "probe" | "attributes">>;

/** The number of the attribute that every server has. */
export const everyServer = 0;

/** Which servers a kept count is of. */
export const scopes = { all: "all", public: "public", privateOf: (tenant: string) => `tenant/${tenant}` };

type Valued = [dimension: CatalogDimension | "server", value: string];

/** Says whether an entry names what the catalogue is filtered by, or is of an earlier version. */
function isTold({ attributes }: StoredEntry): boolean {
  return attributes !== undefined;
}

/** All that a server is found by. */
function valuesOf(entry: StoredEntry): Valued[] {
  const kinds = Object.entries(entry.counts ?? {}).filter(([, items]) => items > 0);
  return [
    ["server", ""],
    ["tenant", entry.tenant],
    ["status", entry.status],
    ["probe", entry.probe ?? "unknown"],
    ...kinds.map(([kind]): Valued => ["kind", kind]),
    ...(entry.attributes ?? []),
  ];
}

interface Place {
  tenant: string;
  name: string;
}

interface ListingRow extends Record<string, SqlStorageValue> {
  public: number;
  attributes: string;
}

/**
 * Brings rows and counts in line with a server as it is now, writing no more than differs from what it was. Called in
 * the transaction that takes the entry.
 */
export function listServer(sql: SqlStorage, entry: StoredEntry): void {
  const before = listed(sql, entry);
  const isPublic = entry.visibility === "public" ? 1 : 0;
  const numbered = valuesOf(entry).map((valued) => ({ dimension: valued[0], id: numberOf(sql, valued) }));
  const ids = numbered.map(({ id }) => id);
  const was = before?.ids ?? [];
  const moved = before !== undefined && before.public !== isPublic;
  // The new before the old: a value that only moves must not be forgotten in between.
  for (const { dimension, id } of numbered) {
    if (moved || !was.includes(id)) add(sql, entry, id, dimension, isPublic);
  }
  for (const id of was) if (moved || !ids.includes(id)) remove(sql, entry, id, before?.public ?? 0);
  sql.exec(
    `INSERT INTO listing (tenant, name, public, updated_at, attributes, told) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
     ON CONFLICT (tenant, name) DO UPDATE SET public = ?3, updated_at = ?4, attributes = ?5, told = ?6`,
    ...[entry.tenant, entry.name, isPublic, Date.parse(entry.updatedAt), JSON.stringify(ids), isTold(entry) ? 1 : 0],
  );
}

export function unlistServer(sql: SqlStorage, place: Place): void {
  const before = listed(sql, place);
  if (before === undefined) return;
  for (const id of before.ids) remove(sql, place, id, before.public);
  sql.exec("DELETE FROM listing WHERE tenant = ? AND name = ?", place.tenant, place.name);
}

function listed(sql: SqlStorage, { tenant, name }: Place): { public: number; ids: number[] } | undefined {
  const row = sql
    .exec<ListingRow>("SELECT public, attributes FROM listing WHERE tenant = ? AND name = ?", tenant, name)
    .toArray()[0];
  return row && { public: row.public, ids: JSON.parse(row.attributes) };
}

function numberOf(sql: SqlStorage, [dimension, value]: Valued): number {
  const known = sql
    .exec<{ id: number }>("SELECT id FROM attribute WHERE dimension = ? AND value = ?", dimension, value)
    .toArray()[0];
  if (known !== undefined) return known.id;
  return sql
    .exec<{ id: number }>("INSERT INTO attribute (dimension, value) VALUES (?, ?) RETURNING id", dimension, value)
    .one().id;
}

function scopesOf(tenant: string, isPublic: number): string[] {
  return [scopes.all, isPublic === 1 ? scopes.public : scopes.privateOf(tenant)];
}

function add(sql: SqlStorage, { tenant, name }: Place, id: number, dimension: string, isPublic: number): void {
  sql.exec(
    "INSERT INTO server_attribute (attribute, public, tenant, name) VALUES (?, ?, ?, ?)",
    id,
    isPublic,
    tenant,
    name,
  );
  for (const scope of scopesOf(tenant, isPublic)) {
    sql.exec(
      `INSERT INTO attribute_count (scope, attribute, dimension, servers) VALUES (?, ?, ?, 1)
       ON CONFLICT (scope, attribute) DO UPDATE SET servers = servers + 1`,
      ...[scope, id, dimension],
    );
  }
}

function remove(sql: SqlStorage, { tenant, name }: Place, id: number, isPublic: number): void {
  sql.exec(
    "DELETE FROM server_attribute WHERE attribute = ? AND public = ? AND tenant = ? AND name = ?",
    ...[id, isPublic, tenant, name],
  );
  for (const scope of scopesOf(tenant, isPublic)) {
    const left = sql
      .exec<{ servers: number }>(
        "UPDATE attribute_count SET servers = servers - 1 WHERE scope = ? AND attribute = ? RETURNING servers",
        ...[scope, id],
      )
      .toArray()[0];
    if (left?.servers !== 0) continue;
    sql.exec("DELETE FROM attribute_count WHERE scope = ? AND attribute = ?", scope, id);
    if (scope === scopes.all && id !== everyServer) sql.exec("DELETE FROM attribute WHERE id = ?", id);
  }
}

/** Servers that a directory took before it had listings. */
const unlisted = `FROM server WHERE entry IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM listing WHERE listing.tenant = server.tenant AND listing.name = server.name)`;

/** Lists some of them, as far as their entries say what they are found by, and says whether there are more. */
export function fillListing(storage: ObjectStorage, limit: number): boolean {
  const { sql } = storage;
  // Looked for in order from where the last look ended, so that a large directory is gone through once.
  const from = sql.exec<{ value: number }>("SELECT value FROM meta WHERE key = 'listed'").toArray()[0]?.value ?? 0;
  if (from === allListed) return false;
  return storage.transactionSync(() => {
    const rows = sql
      .exec<{ number: number; entry: string }>(
        `SELECT rowid AS number, entry ${unlisted} AND rowid > ? ORDER BY rowid LIMIT ?`,
        from,
        limit,
      )
      .toArray();
    for (const { entry } of rows) listServer(sql, JSON.parse(entry) as StoredEntry);
    const more = rows.length === limit;
    sql.exec(
      "INSERT INTO meta (key, value) VALUES ('listed', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
      more ? (rows.at(-1)?.number ?? 0) : allListed,
    );
    if (rows.length > 0) sql.exec("UPDATE meta SET value = value + 1 WHERE key = 'generation'");
    return more;
  });
}

const allListed = -1;
