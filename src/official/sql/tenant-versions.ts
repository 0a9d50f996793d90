import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import { boundedFlags, flagsPerItem } from "../../manifest/describe.ts";
import type { Flag } from "../../manifest/flag.ts";
import { scanCapability } from "../../manifest/scan.ts";
import type { ServerState } from "../../registry/contract.ts";
import type { ServerListener } from "../../registry/sql/listener.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import { type ServerVersion, type VersionRow, versionOf } from "../contract.ts";
import type { ServerJson, StatusUpdate } from "../schema.ts";
import { latestOf } from "../version-order.ts";

/**
 * Versions of a server published as server.json. Rows are never removed and documents never change: deleting a server
 * sets its versions to deleted, so that no other document can be published under the same version.
 */

export function findVersion(sql: SqlStorage, server: string, version: string): ServerVersion | undefined {
  return sql
    .exec<VersionRow>("SELECT * FROM version WHERE server = ? AND version = ?", server, version)
    .toArray()
    .map(versionOf)[0];
}

/** All versions of a server, in order of publication. */
export function listVersions(sql: SqlStorage, server: string): ServerVersion[] {
  return sql
    .exec<VersionRow>("SELECT * FROM version WHERE server = ? ORDER BY sequence", server)
    .toArray()
    .map(versionOf);
}

/** Number and total bytes of a server's versions, without loading the documents. */
export function versionsSize(sql: SqlStorage, server: string): { count: number; bytes: number } {
  const sums = "SELECT count(*) AS count, coalesce(sum(length(CAST(document AS BLOB))), 0) AS bytes";
  return sql.exec<{ count: number; bytes: number }>(`${sums} FROM version WHERE server = ?`, server).one();
}

/** The document of the latest version; undefined if the server has no version that is not deleted. */
export function latestDocument(sql: SqlStorage, server: string): ServerJson | undefined {
  const row = sql
    .exec<{ document: string }>(
      "SELECT document FROM version WHERE server = ? AND latest = 1 AND status <> 'deleted'",
      server,
    )
    .toArray()[0];
  return row && (readJson(row.document) as ServerJson);
}

interface NewVersion {
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
    flags: JSON.stringify(documentFlags(server, document)),
  });
}

/** When a version changed, and in which write. */
interface Moved {
  at: string;
  generation: number;
}

export function setStatus(
  sql: SqlStorage,
  server: string,
  version: string,
  { status, statusMessage }: StatusUpdate,
  { at, generation }: Moved,
): void {
  sql.exec(
    `UPDATE version SET status_changed_at = iif(status = ?3, status_changed_at, ?5), status = ?3, status_message = ?4,
       updated_at = ?5, generation = ?6, pending = 1, flags = ?7
     WHERE server = ?1 AND version = ?2`,
    ...[server, version, status, statusMessage ?? null, at, generation],
    JSON.stringify(versionFlags(sql, server, version, statusMessage)),
  );
}

/** Updates `latest`. A version that gains or loses it counts as changed. */
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

/** Sets all versions to deleted when the server is deleted. They do not return with a new server of the same name. */
function deleteVersions(sql: SqlStorage, server: string, at: string, generation: number): void {
  for (const { version, status } of listVersions(sql, server)) {
    if (status !== "deleted") setStatus(sql, server, version, { status: "deleted" }, { at, generation });
  }
  forgetStatusBefore(sql, server);
  updateLatest(sql, server, at, generation);
}

/** Makes the versions say what the server says. Changes nothing where they say so already. */
function followServer(sql: SqlStorage, server: string, state: ServerState, at: string, generation: number): void {
  if (state.status === "withdrawn") withdrawVersions(sql, server, state.statusMessage, { at, generation });
  else restoreVersions(sql, server, { ...state, status: state.status }, { at, generation });
  updateLatest(sql, server, at, generation);
}

/** Deletes all versions, which remember what they were. Those that were deleted by themselves keep their message. */
function withdrawVersions(sql: SqlStorage, server: string, statusMessage: string | undefined, moved: Moved): void {
  for (const version of listVersions(sql, server)) {
    const before = statusBefore(sql, server, version.version);
    const isOwn = version.status === "deleted" && before === undefined;
    if (isOwn || (before !== undefined && version.statusMessage === statusMessage)) continue;
    setStatus(sql, server, version.version, { status: "deleted", statusMessage }, moved);
    rememberStatus(sql, server, version.version, before ?? version);
  }
}

/** Versions that a withdrawal deleted are what they were before it; the latest has the server's status. */
function restoreVersions(sql: SqlStorage, server: string, { status, statusMessage }: StatusUpdate, moved: Moved): void {
  for (const { version } of listVersions(sql, server)) {
    const before = statusBefore(sql, server, version);
    if (before !== undefined) setStatus(sql, server, version, before, moved);
  }
  forgetStatusBefore(sql, server);
  const latest = latestOf(listVersions(sql, server));
  if (latest === undefined || latest.status === "deleted") return;
  if (latest.status === status && latest.statusMessage === statusMessage) return;
  setStatus(sql, server, latest.version, { status, statusMessage }, moved);
}

/** What a version was before its server was withdrawn; undefined if it was not deleted by that. */
function statusBefore(sql: SqlStorage, server: string, version: string): StatusUpdate | undefined {
  const [row] = sql
    .exec<{ before: string | null }>(
      "SELECT status_before AS before FROM version WHERE server = ? AND version = ?",
      server,
      version,
    )
    .toArray();
  return row?.before ? (readJson(row.before) as StatusUpdate) : undefined;
}

/** Stores what a version returns to when its server is offered again. */
export function rememberStatus(
  sql: SqlStorage,
  server: string,
  version: string,
  { status, statusMessage }: StatusUpdate,
): void {
  const before = JSON.stringify({ status, statusMessage });
  sql.exec("UPDATE version SET status_before = ? WHERE server = ? AND version = ?", before, server, version);
}

/** From here on, the versions that are deleted stay so until somebody changes their own status. */
export function forgetStatusBefore(sql: SqlStorage, server: string): void {
  sql.exec("UPDATE version SET status_before = NULL WHERE server = ? AND status_before IS NOT NULL", server);
}

/** True if a withdrawal of the server deleted some of its versions. */
export function hasWithdrawnVersions(sql: SqlStorage, server: string): boolean {
  const rows = sql.exec("SELECT 1 FROM version WHERE server = ? AND status_before IS NOT NULL LIMIT 1", server);
  return rows.toArray().length > 0;
}

/** Marks all versions for the directory when the server becomes public: the directory has none of them. */
function markVersionsPending(sql: SqlStorage, server: string, at: string, generation: number): void {
  // `updated_at` changes too: for a client that mirrors the list, the versions are new.
  sql.exec("UPDATE version SET pending = 1, updated_at = ?, generation = ? WHERE server = ?", at, generation, server);
}

/** Marks all versions for a directory that lost its data. `updated_at` stays, because the versions did not change. */
export function markAllPending(sql: SqlStorage): void {
  sql.exec("UPDATE version SET pending = 1");
}

/** Versions whose current state was not sent to the directory. */
export function pendingVersions(sql: SqlStorage, server: string, limit: number): ServerVersion[] {
  return sql
    .exec<VersionRow>("SELECT * FROM version WHERE server = ? AND pending = 1 ORDER BY sequence LIMIT ?", server, limit)
    .toArray()
    .map(versionOf);
}

/** Compares the generation, so that a version changed since it was sent stays pending. */
export function markSent(sql: SqlStorage, server: string, { version, generation }: ServerVersion): void {
  sql.exec(
    "UPDATE version SET pending = 0 WHERE server = ? AND version = ? AND generation = ?",
    server,
    version,
    generation,
  );
}

/**
 * Deletes a server's versions with the server, keeps their status in step with its status, and marks them for the
 * directory when the server becomes public.
 */
export function officialVersions(sql: SqlStorage): ServerListener {
  return {
    becamePublic: (server, at, generation) => markVersionsPending(sql, server, at, generation),
    statusChanged: (server, state, at, generation) => followServer(sql, server, state, at, generation),
    removed: (server, at, generation) => deleteVersions(sql, server, at, generation),
  };
}

function documentFlags(server: string, document: string, statusMessage?: string): Flag[] {
  const declared = { ...(readJson(document) as Record<string, unknown>), statusMessage };
  return boundedFlags(scanCapability({ kind: "server", name: server, declared }), flagsPerItem);
}

function versionFlags(sql: SqlStorage, server: string, version: string, statusMessage: string | undefined): Flag[] {
  const document = findVersion(sql, server, version)?.document;
  return document === undefined ? [] : documentFlags(server, document, statusMessage);
}

/** Flags the documents of an earlier release, and sends the flagged ones to the directory. */
export function fillVersionFlags(sql: SqlStorage): void {
  const rows = sql.exec<{ server: string; version: string; document: string }>(
    "SELECT server, version, document FROM version",
  );
  for (const { server, version, document } of rows.toArray()) {
    const flags = documentFlags(server, document);
    if (flags.length === 0) continue;
    sql.exec(
      "UPDATE version SET flags = ?, pending = 1 WHERE server = ? AND version = ?",
      ...[JSON.stringify(flags), server, version],
    );
    enqueueTask(sql, "directory", server);
  }
}
