import type { NamedTenant, TenantKey } from "../../kernel/names.ts";

export function tenantOf(sql: SqlStorage): TenantKey {
  return String(sql.exec("SELECT value FROM meta WHERE key = 'tenant'").one().value) as TenantKey;
}

/** The tenant's name as readers see it: as the first write that it accepted spelled it. */
export function shownTenant(sql: SqlStorage): string {
  const row = sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'spelling'").toArray()[0];
  return row?.value ?? tenantOf(sql);
}

/**
 * Runs a write inside its transaction. The first write that a tenant accepts decides how the tenant is shown; one that
 * is refused decides nothing. `generation` is the tenant's before the write.
 */
export function spelledBy<T extends { ok: boolean }>(
  sql: SqlStorage,
  { spelling }: Pick<NamedTenant, "spelling">,
  generation: number,
  work: () => T,
): T {
  // A tenant with changes has its spelling, or is older than spellings and stays in lower case.
  if (generation > 0) return work();
  const decides = sql.exec("INSERT OR IGNORE INTO meta (key, value) VALUES ('spelling', ?)", spelling).rowsWritten > 0;
  const result = work();
  if (decides && !result.ok) sql.exec("DELETE FROM meta WHERE key = 'spelling'");
  return result;
}
