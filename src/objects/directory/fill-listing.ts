import type { ObjectStorage } from "../counted-storage.ts";
import { listServer, type StoredEntry } from "./listing.ts";

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
