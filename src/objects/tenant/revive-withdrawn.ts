import { readJson } from "../../kernel/read-json.ts";
import { officialVersions, rememberStatus } from "../../official/sql/tenant-versions.ts";
import type { ServerState } from "../../registry/contract.ts";
import { ServerConfig } from "../../registry/schema.ts";
import { recordChanges } from "../../registry/sql/change-log.ts";
import { notifyAll } from "../../registry/sql/listener.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import { bodySubject, type Layout } from "../../registry/sql/revisions.ts";
import { configFlags, type ServerRow } from "../../registry/sql/servers.ts";
import { statusChange, withState } from "../../registry/sql/status.ts";
import { searchCards } from "../../search/sql/tenant-cards.ts";

/**
 * The migration to `withdrawn` as a status. Earlier releases closed the items of a withdrawn server and left a tombstone
 * with `withdrawn = 1`. Such a server becomes live again, with its last content, its readers and the status withdrawn.
 * They also kept `statusMessage` as a member that they did not know: what is no message of a status is removed.
 */
export function reviveWithdrawn(sql: SqlStorage): void {
  const at = new Date().toISOString();
  const withdrawn = sql
    .exec<ServerRow>("SELECT * FROM server WHERE withdrawn = 1 AND deleted_at IS NOT NULL")
    .toArray();
  for (const row of withdrawn) revive(sql, row, at);
  removeStrayMessages(sql);
}

function revive(sql: SqlStorage, row: ServerRow, at: string): void {
  const { name } = row;
  const versions = sql
    .exec<{ version: string; generation: number; latest: number; message: string | null }>(
      "SELECT version, generation, latest, status_message AS message FROM version WHERE server = ?",
      name,
    )
    .toArray();
  const statusMessage = versions.find(({ latest }) => latest === 1)?.message ?? undefined;
  const state: ServerState = { status: "withdrawn", statusMessage };
  // What the withdrawal deleted has its generation; what was deleted before it stays deleted.
  const since = withdrawnAt(sql, row);
  for (const { version, generation } of versions) {
    if (generation >= since) rememberStatus(sql, name, version, { status: "active" });
  }
  // The limit of the log is for the next write to keep.
  const { generation } = recordChanges(sql, name, at, [statusChange(name, state)], Number.MAX_SAFE_INTEGER);
  const digest = reopenItems(sql, row);
  const config = withState(readJson(row.config) as ServerConfig, state);
  sql.exec(
    `UPDATE server SET config = ?2, digest = ?3, public_since = ?4, generation = ?5, overlay = overlay + 1,
       updated_at = ?6, deleted_at = NULL, withdrawn = 0 WHERE name = ?1`,
    ...[name, JSON.stringify(config), digest, row.visibility === "public" ? generation : null, generation, at],
  );
  if (digest === null) {
    const flags = JSON.stringify(configFlags(config));
    sql.exec("UPDATE server SET summary = '{}', flags = ? WHERE name = ?", flags, name);
  }
  const listener = notifyAll([searchCards(sql), officialVersions(sql)]);
  listener.titleChanged(name);
  if (row.visibility === "public") listener.becamePublic(name, at, generation);
  enqueueTask(sql, "head", name);
  enqueueTask(sql, "directory", name);
  if (digest !== null) enqueueTask(sql, "body", bodySubject(name, digest));
}

function withdrawnAt(sql: SqlStorage, { name, generation }: ServerRow): number {
  const { last } = sql
    .exec<{ last: number | null }>(
      "SELECT max(generation) AS last FROM change WHERE server = ? AND kind = 'server' AND classification = 'removed'",
      name,
    )
    .one();
  return last ?? generation;
}

/**
 * Makes the items of the newest revision current again, and returns its digest. null if there is none, or if another
 * server has taken one of the ids meanwhile: the revision is then in the history, to be restored under other ids.
 */
function reopenItems(sql: SqlStorage, { name, revision }: ServerRow): string | null {
  const [newest] = sql
    .exec<{ digest: string; layout: string }>(
      "SELECT digest, layout FROM revision WHERE server = ? AND number = ?",
      name,
      revision,
    )
    .toArray();
  if (newest === undefined) return null;
  const layout = JSON.stringify(readJson(newest.layout) as Layout);
  const ofLayout = `server = ?1 AND (kind, digest) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))`;
  const taken = sql.exec(
    `SELECT 1 FROM capability WHERE last_revision IS NULL AND id IN (SELECT id FROM capability WHERE ${ofLayout}) LIMIT 1`,
    ...[name, layout],
  );
  if (taken.toArray().length > 0) return null;
  sql.exec(`UPDATE capability SET last_revision = NULL WHERE ${ofLayout}`, name, layout);
  return newest.digest;
}

function removeStrayMessages(sql: SqlStorage): void {
  const servers = sql.exec<{ name: string; config: string }>(
    "SELECT name, config FROM server WHERE json_type(config, '$.statusMessage') IS NOT NULL",
  );
  for (const { name, config: text } of servers.toArray()) {
    const { statusMessage, ...config } = readJson(text) as ServerConfig;
    const isMessage = ServerConfig.shape.statusMessage.safeParse(statusMessage).success;
    if (isMessage && (config.status ?? "active") !== "active") continue;
    sql.exec("UPDATE server SET config = ? WHERE name = ?", JSON.stringify(config), name);
  }
}
