import { readJson } from "../../kernel/read-json.ts";
import type { NewChange } from "../../manifest/diff.ts";
import type { ServerConfig, ServerStatus } from "../schema.ts";
import { recordChanges } from "./change-log.ts";
import type { WriteContext } from "./listener.ts";
import { bumpOverlay, findLive, findRow, type ServerRow } from "./servers.ts";

/**
 * There are two ways to remove a server. If its owner deletes it, only a tombstone is left. If its publisher reports it
 * as removed, it is withdrawn: readers see no difference, but settings and history are kept and restored when the
 * publisher brings the server back. The owner can still delete a withdrawn server or create a new one of the same name.
 */
export function findWithdrawn(sql: SqlStorage, name: string): ServerRow | undefined {
  const row = findRow(sql, name);
  return row?.withdrawn === 1 ? row : undefined;
}

export function withdrawServer({ sql, keep, listener }: WriteContext, name: string, at: string): void {
  const row = findLive(sql, name);
  if (row === undefined) return;
  const gone = row.digest === null ? {} : { from: row.digest };
  const change: NewChange = { kind: "server", key: name, classification: "removed", reasons: [], ...gone };
  const { generation } = recordChanges(sql, name, at, [change], keep.changes);
  sql.exec("UPDATE capability SET last_revision = ? WHERE server = ? AND last_revision IS NULL", row.revision, name);
  sql.exec(
    "UPDATE server SET digest = NULL, public_since = NULL, deleted_at = ?, withdrawn = 1 WHERE name = ?",
    at,
    name,
  );
  listener.cleared(name);
  listener.removed(name, "withdrawn", at, generation);
  bumpOverlay(sql, name, generation, at);
}

/** Readers cannot see a withdrawn server, so this logs no change; the status applies when the server comes back. */
export function setWithdrawnStatus(sql: SqlStorage, row: ServerRow, status: ServerStatus): void {
  const { status: _, ...config } = readJson(row.config) as ServerConfig;
  const next = status === "active" ? config : { ...config, status };
  sql.exec("UPDATE server SET config = ? WHERE name = ?", JSON.stringify(next), row.name);
}
