import { type Failure, failure } from "../../kernel/failure.ts";
import { itemKey, type NewChange } from "../../manifest/diff.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { Switch } from "../contract.ts";

/**
 * Turns items on or off and returns what really changed. A switched-off item stays off when it leaves the manifest and
 * comes back, so that republishing is no way around it.
 */
export function applySwitches(sql: SqlStorage, server: string, switches: readonly Switch[]): NewChange[] {
  return switches.flatMap(({ kind, key, enabled }) => {
    const statement = enabled
      ? "DELETE FROM disabled WHERE server = ? AND kind = ? AND key = ?"
      : "INSERT INTO disabled (server, kind, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    if (sql.exec(statement, server, kind, key).rowsWritten === 0) return [];
    const classification = enabled ? "additive" : "breaking";
    const message = enabled ? "switched on" : "switched off";
    return [{ kind, key, classification, reasons: [{ path: "", classification, message }] } satisfies NewChange];
  });
}

/** The slots of a server's items that are switched off, present or not. */
export function switchedOff(sql: SqlStorage, server: string): Set<string> {
  const rows = sql.exec<{ kind: CapabilityKind; key: string }>(
    "SELECT kind, key FROM disabled WHERE server = ?",
    server,
  );
  return new Set(rows.toArray().map(itemKey));
}

/** Every head carries the list of what is switched off, so names of items may not take more of it than this. */
const maxDisabledBytes = 256 * 1024;

export function switchedOffTooMuch(sql: SqlStorage, server: string, switches: readonly Switch[]): Failure | undefined {
  const more = switches.filter(({ enabled }) => !enabled).reduce((sum, { key }) => sum + key.length + rowBytes, 0);
  if (more === 0) return undefined;
  const already = sql
    .exec(`SELECT coalesce(sum(length(key) + ${rowBytes}), 0) AS bytes FROM disabled WHERE server = ?`, server)
    .one().bytes;
  if (Number(already) + more <= maxDisabledBytes) return undefined;
  return failure("ErrorTooLarge", "Too much of this server is switched off already; switch something on first");
}

/** What an item costs in a head besides its name. */
const rowBytes = 32;
