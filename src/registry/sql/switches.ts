import { type Failure, failure } from "../../kernel/failure.ts";
import { itemKey, type NewChange } from "../../manifest/diff.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { Switch } from "../contract.ts";

/**
 * Switches items on or off and returns the actual changes. A switched-off item stays off when it leaves the manifest
 * and comes back, so that republishing cannot switch it on.
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

/** Keys of a server's switched-off items, whether or not they are in the manifest. */
export function switchedOff(sql: SqlStorage, server: string): Set<string> {
  const rows = sql.exec<{ kind: CapabilityKind; key: string }>(
    "SELECT kind, key FROM disabled WHERE server = ?",
    server,
  );
  return new Set(rows.toArray().map(itemKey));
}

/** Every head carries the list of switched-off items, so its size is limited. */
const maxDisabledBytes = 256 * 1024;

export function checkDisabledSize(sql: SqlStorage, server: string, switches: readonly Switch[]): Failure | undefined {
  const more = switches.filter(({ enabled }) => !enabled).reduce((sum, { key }) => sum + key.length + rowBytes, 0);
  if (more === 0) return undefined;
  const already = sql
    .exec(`SELECT coalesce(sum(length(key) + ${rowBytes}), 0) AS bytes FROM disabled WHERE server = ?`, server)
    .one().bytes;
  if (Number(already) + more <= maxDisabledBytes) return undefined;
  return failure("ErrorTooLarge", "The list of disabled items would exceed 256 kB. Enable some items first");
}

/** Estimated bytes of a switched-off item in a head besides its key. */
const rowBytes = 32;
