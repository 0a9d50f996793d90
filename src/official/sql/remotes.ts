import type { TakenRemote } from "../contract.ts";

/**
 * Which server may use which remote URL. A publication first claims its URLs here; later its tenant sends the version.
 * A claim lasts until then or until it expires; a published URL is held while a version that is not deleted has it. The
 * only directory handles claims one after another, so of two servers that want a URL one gets it.
 */

/** Longer than any delay between a publication and its arrival here, unless the directory is down. */
const claimMs = 600_000;

/** Claims all URLs or none. Returns the first URL that another server holds; undefined if all are claimed. */
export function claimRemotes(
  sql: SqlStorage,
  name: string,
  urls: readonly string[],
  now: number,
): TakenRemote | undefined {
  sql.exec("DELETE FROM remote_claim WHERE until <= ?", now);
  const taken = sql
    .exec<{ url: string; by: string | null }>(
      `SELECT url, (
         SELECT json_extract(document, '$.name') FROM server_version WHERE name = holder ORDER BY sequence DESC LIMIT 1
       ) AS by FROM (
         SELECT url, name AS holder FROM version_remote WHERE url IN (SELECT value FROM json_each(?1)) AND name <> ?2
         UNION ALL SELECT url, name FROM remote_claim WHERE url IN (SELECT value FROM json_each(?1)) AND name <> ?2
       ) LIMIT 1`,
      JSON.stringify(urls),
      name,
    )
    .toArray()[0];
  if (taken !== undefined) return taken.by === null ? { url: taken.url } : { url: taken.url, by: taken.by };
  for (const url of urls) {
    sql.exec(
      "INSERT INTO remote_claim (url, name, until) VALUES (?1, ?2, ?3) ON CONFLICT (url) DO UPDATE SET until = ?3",
      ...[url, name, now + claimMs],
    );
  }
  return undefined;
}

/** Releases the claims of a publication that was refused or has arrived. */
export function releaseClaims(sql: SqlStorage, name: string, urls: readonly string[]): void {
  sql.exec(
    "DELETE FROM remote_claim WHERE name = ? AND url IN (SELECT value FROM json_each(?))",
    name,
    JSON.stringify(urls),
  );
}

export function claimAsPublished(sql: SqlStorage, name: string, version: string, urls: readonly string[]): void {
  for (const url of urls) {
    sql.exec("INSERT OR IGNORE INTO version_remote (url, name, version) VALUES (?, ?, ?)", url, name, version);
  }
}

export function releaseRemotes(sql: SqlStorage, name: string, version?: string): void {
  if (version === undefined) sql.exec("DELETE FROM version_remote WHERE name = ?", name);
  else sql.exec("DELETE FROM version_remote WHERE name = ? AND version = ?", name, version);
}
