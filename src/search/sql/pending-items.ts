import type { CapabilityKind } from "../../manifest/schema/capability.ts";

/** Items of public servers that the directory has not yet heard of as they are now. */
export interface PendingItem extends Record<string, SqlStorageValue> {
  server: string;
  kind: CapabilityKind;
  key: string;
  /** When it was noted last: what was told before then does not strike it off. */
  generation: number;
}

export function markItemPending(
  sql: SqlStorage,
  server: string,
  { kind, key }: { kind: CapabilityKind; key: string },
  generation: number,
): void {
  sql.exec(
    `INSERT INTO pending_item (server, kind, key, generation) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (server, kind, key) DO UPDATE SET generation = ?4`,
    server,
    kind,
    key,
    generation,
  );
}

/** All that a server shows, for when it becomes public. */
export function markItemsPending(sql: SqlStorage, tenant: string, server: string, generation: number): void {
  sql.exec(
    `INSERT INTO pending_item (server, kind, key, generation) SELECT server, kind, key, ?3 FROM card
     WHERE tenant = ?1 AND server = ?2
     ON CONFLICT (server, kind, key) DO UPDATE SET generation = ?3`,
    tenant,
    server,
    generation,
  );
}

/** A server that is not public owes no items: the directory drops them all when it hears so. */
export function forgetPending(sql: SqlStorage, server: string): void {
  sql.exec("DELETE FROM pending_item WHERE server = ?", server);
}

export function pendingItems(sql: SqlStorage, server: string, limit: number): PendingItem[] {
  return sql
    .exec<PendingItem>(
      "SELECT server, kind, key, generation FROM pending_item WHERE server = ? ORDER BY kind, key LIMIT ?",
      server,
      limit,
    )
    .toArray();
}

export function removePending(sql: SqlStorage, { server, kind, key, generation }: PendingItem): void {
  sql.exec(
    "DELETE FROM pending_item WHERE server = ? AND kind = ? AND key = ? AND generation = ?",
    server,
    kind,
    key,
    generation,
  );
}
