import type { ServerRef } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { DirectoryEntry } from "../../registry/contract.ts";
import type { ListedVersion, PublicVersion, VersionQuery } from "../contract.ts";
import { type ServerVersion, type VersionRow, versionOf } from "../contract.ts";
import { claimAsPublished, releaseClaims, releaseRemotes } from "./remotes.ts";

/**
 * Stores versions that are newer than the stored ones. Late or repeated batches change nothing, because each row has a
 * generation.
 */
export function applyVersions(sql: SqlStorage, place: ServerRef, changed: readonly PublicVersion[]): void {
  const name = fullName(place);
  for (const version of changed) {
    if (!put(sql, place, version, false)) continue;
    releaseRemotes(sql, name, version.version);
    if (version.status !== "deleted") claimAsPublished(sql, name, version.version, version.remotes);
    releaseClaims(sql, name, version.remotes);
  }
}

/** Replaces the derived version of a public server, or removes it if `derived` is undefined. */
export function replaceDerived(sql: SqlStorage, place: ServerRef, derived: ServerVersion | undefined): void {
  const present = derived?.version ?? "";
  sql.exec("DELETE FROM server_version WHERE name = ? AND derived = 1 AND version <> ?", fullName(place), present);
  if (derived === undefined) return;
  // Only one version may be the latest; a derived version exists only while all published ones are deleted.
  sql.exec("UPDATE server_version SET latest = 0 WHERE name = ? AND derived = 0 AND latest = 1", fullName(place));
  put(sql, place, derived, true);
}

function put(sql: SqlStorage, place: ServerRef, version: ServerVersion, isDerived: boolean): boolean {
  const { description } = readJson(version.document) as { description: string };
  // A derived version never replaces a published one.
  const written = sql.exec(
    `INSERT INTO server_version (name, version, tenant, server, derived, document, description, status, status_message,
       status_changed_at, published_at, updated_at, latest, sequence, generation, flags)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
     ON CONFLICT (name, version) DO UPDATE SET derived = ?5, document = ?6, description = ?7,
       status_changed_at = iif(derived = 1 AND status = ?8, status_changed_at, ?10), status = ?8, status_message = ?9,
       published_at = ?11, updated_at = ?12, latest = ?13, sequence = ?14, generation = ?15, flags = ?16
     WHERE generation <= ?15 AND derived >= ?5`,
    ...[fullName(place), version.version, place.tenant, place.name, isDerived ? 1 : 0, version.document],
    ...[description.toLowerCase(), version.status, version.statusMessage ?? null, version.statusChangedAt],
    ...[version.publishedAt, version.updatedAt, version.isLatest ? 1 : 0, version.sequence, version.generation],
    JSON.stringify(version.flags),
  );
  return written.rowsWritten > 0;
}

/** Removes all versions of a server that is no longer public. */
export function dropVersions(sql: SqlStorage, place: ServerRef): void {
  const name = fullName(place);
  sql.exec("DELETE FROM server_version WHERE name = ?", name);
  releaseRemotes(sql, name);
}

export function hasVersions(sql: SqlStorage, place: ServerRef): boolean {
  return sql.exec("SELECT 1 FROM server_version WHERE name = ? LIMIT 1", fullName(place)).toArray().length > 0;
}

/** Marks the derived version of a deleted server as deleted, so that clients that mirror the list notice. */
export function deleteDerived(sql: SqlStorage, place: ServerRef, generation: number, at: string): void {
  sql.exec(
    `UPDATE server_version SET status = 'deleted', status_changed_at = ?2, updated_at = ?2, generation = ?3
     WHERE name = ?1 AND derived = 1 AND status <> 'deleted'`,
    ...[fullName(place), at, generation],
  );
}

interface Row extends VersionRow {
  name: string;
  entry: string | null;
}

const joined = `LEFT JOIN server AS s ON s.tenant = v.tenant AND s.name = v.server AND s.public = 1`;
const selected = `SELECT v.*, s.entry FROM server_version AS v ${joined}`;

/** A mirror asks for what changed since it last asked: few rows, found by time and sorted. More are read in order. */
const fewChanges = 1_000;

function hasFewChanges(sql: SqlStorage, since: string): boolean {
  const rows = sql.exec("SELECT 1 FROM server_version WHERE updated_at > ? LIMIT ?", since, fewChanges + 1);
  return rows.toArray().length <= fewChanges;
}

/** In order of name and version. With `latest` there is one version per server, so the name alone is the position. */
export function findVersions(sql: SqlStorage, query: VersionQuery): ListedVersion[] {
  const { search, updatedSince, version, includeDeleted, after, limit } = query;
  const onlyLatest = version === "latest";
  const conditions: [string, ...SqlStorageValue[]][] = [
    onlyLatest ? ["v.name > ?", after.name] : ["(v.name, v.version) > (?, ?)", after.name, after.version],
  ];
  if (onlyLatest) conditions.push(["v.latest = 1"]);
  else if (version !== undefined) conditions.push(["v.version = ?", version]);
  if (!includeDeleted) conditions.push(["v.status <> 'deleted'"]);
  if (updatedSince !== undefined) conditions.push(["v.updated_at > ?", updatedSince]);
  if (search !== undefined) conditions.push(["(instr(lower(v.name), ?) OR instr(v.description, ?))", search, search]);
  const where = conditions.map(([condition]) => condition).join(" AND ");
  const index =
    updatedSince !== undefined && hasFewChanges(sql, updatedSince) ? "INDEXED BY server_version_updated" : "";
  return sql
    .exec<Row>(
      `SELECT v.*, s.entry FROM server_version AS v ${index} ${joined} WHERE ${where} ORDER BY v.name, v.version LIMIT ?`,
      ...conditions.flatMap(([, ...values]) => values),
      limit,
    )
    .toArray()
    .map(listed);
}

/** All versions of a server, newest first. */
export function versionsOf(sql: SqlStorage, server: ServerRef, includeDeleted: boolean): ListedVersion[] {
  const present = includeDeleted ? "" : "AND v.status <> 'deleted'";
  return sql
    .exec<Row>(`${selected} WHERE v.name = ? ${present} ORDER BY v.sequence DESC`, fullName(server))
    .toArray()
    .map(listed);
}

/** A version of a server, by its version or as `latest`. */
export function versionNamed(
  sql: SqlStorage,
  server: ServerRef,
  version: string,
  includeDeleted: boolean,
): ListedVersion[] {
  const which = version === "latest" ? "v.latest = 1" : "v.version = ?";
  const present = includeDeleted ? "" : "AND v.status <> 'deleted'";
  return sql
    .exec<Row>(
      `${selected} WHERE v.name = ? AND ${which} ${present}`,
      ...(version === "latest" ? [fullName(server)] : [fullName(server), version]),
    )
    .toArray()
    .map(listed);
}

function listed(row: Row): ListedVersion {
  const { name, entry } = row;
  return { name, ...versionOf(row), entry: entry === null ? undefined : (readJson(entry) as DirectoryEntry) };
}

/** The key of a server in the tables of versions. */
export function fullName({ tenant, name }: ServerRef): string {
  return `${tenant}/${name}`;
}
