import type { NewChange } from "../../domain/change.ts";
import { type Failure, failure } from "../../domain/failure.ts";
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

/** Every head carries the list of what is switched off, so it is kept to what a manifest can hold at once. */
const mostSwitchedOff = 10_000;

export function switchedOffTooMuch(sql: SqlStorage, server: string, switches: readonly Switch[]): Failure | undefined {
  const more = switches.filter(({ enabled }) => !enabled).length;
  if (more === 0) return undefined;
  const already = Number(sql.exec("SELECT count(*) AS n FROM disabled WHERE server = ?", server).one().n);
  if (already + more <= mostSwitchedOff) return undefined;
  const message = `At most ${mostSwitchedOff} items of a server can be switched off; ${already} are. Switch some on first`;
  return failure("ErrorTooLarge", message);
}
