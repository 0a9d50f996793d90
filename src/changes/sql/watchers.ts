/** Watchers: objects with live streams, notified of the tenant's writes until their streams must have ended. */

export function addWatcher(sql: SqlStorage, watcher: string, until: number): void {
  sql.exec(
    "INSERT INTO watcher (id, until) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET until = max(until, ?2)",
    watcher,
    until,
  );
}

export function dropWatcher(sql: SqlStorage, watcher: string): void {
  sql.exec("DELETE FROM watcher WHERE id = ?", watcher);
}

/** Active watchers. Expired ones are deleted. */
export function watchers(sql: SqlStorage, now: number): string[] {
  const rows = sql.exec<{ id: string; until: number }>("SELECT id, until FROM watcher").toArray();
  if (rows.some(({ until }) => until <= now)) sql.exec("DELETE FROM watcher WHERE until <= ?", now);
  return rows.flatMap(({ id, until }) => (until > now ? [id] : []));
}
