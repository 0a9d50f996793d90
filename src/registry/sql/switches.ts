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
    if (isSwitchedOff(sql, server, kind, key) === !enabled) return [];
    sql.exec(
      `INSERT INTO disabled (server, kind, key, switched) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET switched = ?4`,
      ...[server, kind, key, enabled ? 0 : 1],
    );
    if (enabled) {
      const unused = "DELETE FROM disabled WHERE server = ? AND kind = ? AND key = ? AND switched = 0 AND hidden = 0";
      sql.exec(unused, server, kind, key);
    }
    const classification = enabled ? "additive" : "breaking";
    const message = enabled ? "switched on" : "switched off";
    return [{ kind, key, classification, reasons: [{ path: "", classification, message }] } satisfies NewChange];
  });
}

function isSwitchedOff(sql: SqlStorage, server: string, kind: string, key: string): boolean {
  const found = "SELECT 1 FROM disabled WHERE server = ? AND kind = ? AND key = ? AND switched = 1";
  return sql.exec(found, server, kind, key).toArray().length > 0;
}

/** Keys of a server's switched-off items, whether or not they are in the manifest. */
export function switchedOff(sql: SqlStorage, server: string): Set<string> {
  return keysOf(sql, server, "switched = 1");
}

/** Keys of the items that readers of a server do not see: switched off, or hidden with their source. */
export function unseenItems(sql: SqlStorage, server: string): Set<string> {
  return keysOf(sql, server, "TRUE");
}

function keysOf(sql: SqlStorage, server: string, condition: string): Set<string> {
  const rows = sql.exec<{ kind: CapabilityKind; key: string }>(
    `SELECT kind, key FROM disabled WHERE server = ? AND ${condition}`,
    server,
  );
  return new Set(rows.toArray().map(itemKey));
}

/** SQL condition on a row `item` of `capability`: its source was read at its present address. */
export const isNotHidden = `NOT EXISTS (SELECT 1 FROM disabled
  WHERE server = item.server AND kind = item.kind AND key = item.key AND hidden = 1)`;

/** Every head carries the list of switched-off items, so its size is limited. */
const maxDisabledBytes = 256 * 1024;

export function checkDisabledSize(sql: SqlStorage, server: string, switches: readonly Switch[]): Failure | undefined {
  const more = switches.filter(({ enabled }) => !enabled).reduce((sum, { key }) => sum + key.length + rowBytes, 0);
  if (more === 0) return undefined;
  const already = sql
    .exec(
      `SELECT coalesce(sum(length(key) + ${rowBytes}), 0) AS bytes FROM disabled WHERE server = ? AND switched = 1`,
      server,
    )
    .one().bytes;
  if (Number(already) + more <= maxDisabledBytes) return undefined;
  return failure("ErrorTooLarge", "The list of disabled items would exceed 256 kB. Enable some items first");
}

/** Estimated bytes of a switched-off item in a head besides its key. */
const rowBytes = 32;
