import type { ServerRef, TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { CatalogDimension } from "../contract.ts";

/** Id of the attribute that every server has. */
export const everyServer = 0;

/** Sets of servers that counts are stored for. */
export const scopes = { all: "all", public: "public", privateOf: (tenant: TenantKey) => `tenant/${tenant}` };

type AttributeValue = [dimension: CatalogDimension | "server", value: string];

/** All attribute values that a server is found by. */
function valuesOf(tenant: TenantKey, entry: CatalogEntry): AttributeValue[] {
  const kinds = Object.entries(entry.counts ?? {}).filter(([, items]) => items > 0);
  return [
    ["server", ""],
    ["tenant", tenant],
    ["status", entry.status],
    ["probe", entry.probe],
    ...kinds.map(([kind]): AttributeValue => ["kind", kind]),
    ...entry.attributes,
  ];
}

interface ListingRow extends Record<string, SqlStorageValue> {
  public: number;
  attributes: string;
}

/** Updates rows and counts of a server, writing only what differs. Called in the transaction that stores the entry. */
export function listServer(sql: SqlStorage, place: ServerRef, entry: CatalogEntry): void {
  const before = listed(sql, place);
  const isPublic = entry.visibility === "public" ? 1 : 0;
  const numbered = valuesOf(place.tenant, entry).map((valued) => ({
    dimension: valued[0],
    id: attributeId(sql, valued),
  }));
  const ids = numbered.map(({ id }) => id);
  const was = before?.ids ?? [];
  const moved = before !== undefined && before.public !== isPublic;
  // Add before removing: a value that only changes scope would otherwise drop to zero servers, and its id would be
  // deleted.
  for (const { dimension, id } of numbered) {
    if (moved || !was.includes(id)) add(sql, place, id, dimension, isPublic);
  }
  for (const id of was) if (moved || !ids.includes(id)) remove(sql, place, id, before?.public ?? 0);
  sql.exec(
    `INSERT INTO listing (tenant, name, public, updated_at, attributes) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (tenant, name) DO UPDATE SET public = ?3, updated_at = ?4, attributes = ?5`,
    ...[place.tenant, place.name, isPublic, Date.parse(entry.updatedAt), JSON.stringify(ids)],
  );
}

export function unlistServer(sql: SqlStorage, place: ServerRef): void {
  const before = listed(sql, place);
  if (before === undefined) return;
  for (const id of before.ids) remove(sql, place, id, before.public);
  sql.exec("DELETE FROM listing WHERE tenant = ? AND name = ?", place.tenant, place.name);
}

function listed(sql: SqlStorage, { tenant, name }: ServerRef): { public: number; ids: number[] } | undefined {
  const row = sql
    .exec<ListingRow>("SELECT public, attributes FROM listing WHERE tenant = ? AND name = ?", tenant, name)
    .toArray()[0];
  return row && { public: row.public, ids: readJson(row.attributes) as number[] };
}

function attributeId(sql: SqlStorage, [dimension, value]: AttributeValue): number {
  const known = sql
    .exec<{ id: number }>("SELECT id FROM attribute WHERE dimension = ? AND value = ?", dimension, value)
    .toArray()[0];
  if (known !== undefined) return known.id;
  return sql
    .exec<{ id: number }>("INSERT INTO attribute (dimension, value) VALUES (?, ?) RETURNING id", dimension, value)
    .one().id;
}

function scopesOf(tenant: TenantKey, isPublic: number): string[] {
  return [scopes.all, isPublic === 1 ? scopes.public : scopes.privateOf(tenant)];
}

function add(sql: SqlStorage, { tenant, name }: ServerRef, id: number, dimension: string, isPublic: number): void {
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

function remove(sql: SqlStorage, { tenant, name }: ServerRef, id: number, isPublic: number): void {
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
