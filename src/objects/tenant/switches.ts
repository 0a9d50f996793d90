import type { NewChange } from "../../domain/change.ts";
import type { CapabilityKind } from "../../schemas/index.ts";

export interface Switch {
  kind: CapabilityKind;
  key: string;
  enabled: boolean;
}

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
