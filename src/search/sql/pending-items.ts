import type { TenantKey } from "../../kernel/names.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";

/** An item of a public server whose current state the directory has not received yet. */
export interface PendingItem extends Record<string, SqlStorageValue> {
  server: string;
  kind: CapabilityKind;
  key: string;
  /** Generation at which the item was last marked. An update sent for an earlier generation does not remove the row. */
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

/** Marks all indexed items of a server, as when it becomes public. */
export function markItemsPending(sql: SqlStorage, tenant: TenantKey, server: string, generation: number): void {
  sql.exec(
    `INSERT INTO pending_item (server, kind, key, generation) SELECT server, kind, key, ?3 FROM card
     WHERE tenant = ?1 AND server = ?2
     ON CONFLICT (server, kind, key) DO UPDATE SET generation = ?3`,
    tenant,
    server,
    generation,
  );
}

/** A server that is not public has no pending items: the directory drops all its items when it receives that change. */
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
