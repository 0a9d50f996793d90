import { insert } from "../../kernel/platform/insert.ts";
import type { ServerListener } from "../../registry/sql/listener.ts";
import { type ServerVersion, type VersionRow, versionOf } from "../contract.ts";
import type { ServerJson, StatusUpdate } from "../schema.ts";
import { latestOf } from "../version-order.ts";

/**
 * The versions of a server that were published as server.json. None ever leaves and no document ever changes: a server
 * that is deleted takes its versions along as deleted ones, so that nobody can publish another under the same number.
 */

export function findVersion(sql: SqlStorage, server: string, version: string): ServerVersion | undefined {
  return sql
    .exec<VersionRow>("SELECT * FROM version WHERE server = ? AND version = ?", server, version)
    .toArray()
    .map(versionOf)[0];
}

/** All of a server's, in the order they were published. */
export function listVersions(sql: SqlStorage, server: string): ServerVersion[] {
  return sql
    .exec<VersionRow>("SELECT * FROM version WHERE server = ? ORDER BY sequence", server)
    .toArray()
    .map(versionOf);
}

/** How much a server has published, without reading it. */
export function versionsSize(sql: SqlStorage, server: string): { count: number; bytes: number } {
  const sums = "SELECT count(*) AS count, coalesce(sum(length(CAST(document AS BLOB))), 0) AS bytes";
  return sql.exec<{ count: number; bytes: number }>(`${sums} FROM version WHERE server = ?`, server).one();
}

/** The document that speaks for a server now; none where it published none, or has taken all back. */
export function latestDocument(sql: SqlStorage, server: string): ServerJson | undefined {
  const row = sql
    .exec<{ document: string }>(
      "SELECT document FROM version WHERE server = ? AND latest = 1 AND status <> 'deleted'",
      server,
    )
    .toArray()[0];
  return row && (JSON.parse(row.document) as ServerJson);
}

export interface NewVersion {
  server: string;
  version: string;
  document: string;
  at: string;
  subject: string;
  generation: number;
}

export function insertVersion(
  sql: SqlStorage,
  { server, version, document, at, subject, generation }: NewVersion,
): void {
  insert(sql, "version", {
    ...{ server, version, document, generation },
    sequence: generation,
    status: "active",
    status_changed_at: at,
    published_at: at,
    published_by: subject,
    updated_at: at,
    latest: 0,
    pending: 1,
  });
}

export function setStatus(
  sql: SqlStorage,
  server: string,
  version: string,
  { status, statusMessage }: StatusUpdate,
  { at, generation }: { at: string; generation: number },
): void {
  sql.exec(
    `UPDATE version SET status_changed_at = iif(status = ?3, status_changed_at, ?5), status = ?3, status_message = ?4,
       updated_at = ?5, generation = ?6, pending = 1
     WHERE server = ?1 AND version = ?2`,
    ...[server, version, status, statusMessage ?? null, at, generation],
  );
}

/** Brings `latest` in line with the versions there are. One that gains or loses it is changed by that. */
export function updateLatest(sql: SqlStorage, server: string, at: string, generation: number): void {
  const rows = sql.exec<Pick<VersionRow, "version" | "status" | "sequence">>(
    "SELECT version, status, sequence FROM version WHERE server = ?",
    server,
  );
  const latest = latestOf(rows.toArray())?.version ?? "";
  sql.exec(
    `UPDATE version SET latest = (version = ?2), updated_at = ?3, generation = ?4, pending = 1
     WHERE server = ?1 AND latest <> (version = ?2)`,
    ...[server, latest, at, generation],
  );
}

/** With its server, which its owner deletes. */
function deleteVersions(sql: SqlStorage, server: string, at: string, generation: number): void {
  for (const { version, status } of listVersions(sql, server)) {
    if (status !== "deleted") setStatus(sql, server, version, { status: "deleted" }, { at, generation });
  }
  updateLatest(sql, server, at, generation);
}

/** The directory never knew them, or has dropped them: it is to hear of all as of now. */
function markVersionsPending(sql: SqlStorage, server: string, at: string, generation: number): void {
  // To whoever keeps a copy of the list, what appears in it is new.
  sql.exec("UPDATE version SET pending = 1, updated_at = ?, generation = ? WHERE server = ?", at, generation, server);
}

/** For a directory that has lost what it had: nothing about the versions is new. */
export function markAllPending(sql: SqlStorage): void {
  sql.exec("UPDATE version SET pending = 1");
}

/** Versions that the directory has not heard of as they are now. */
export function pendingVersions(sql: SqlStorage, server: string, limit: number): ServerVersion[] {
  return sql
    .exec<VersionRow>("SELECT * FROM version WHERE server = ? AND pending = 1 ORDER BY sequence LIMIT ?", server, limit)
    .toArray()
    .map(versionOf);
}

/** What was told of an earlier state does not strike a later one off. */
export function markSent(sql: SqlStorage, server: string, { version, generation }: ServerVersion): void {
  sql.exec(
    "UPDATE version SET pending = 0 WHERE server = ? AND version = ? AND generation = ?",
    server,
    version,
    generation,
  );
}

/** Ends a server's versions with it, and tells the directory of all where it becomes public. */
export function officialVersions(sql: SqlStorage): ServerListener {
  return {
    becamePublic: (server, at, generation) => markVersionsPending(sql, server, at, generation),
    removed: (server, _how, at, generation) => deleteVersions(sql, server, at, generation),
  };
}
