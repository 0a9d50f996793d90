import { byteLength } from "../kernel/text.ts";
import { changeOf } from "../registry/sql/change-log.ts";
import { entriesOf, type LogRow } from "../registry/sql/log/log-rows.ts";
import { type ChangeFilters, matchesFilters } from "./schema.ts";

/** Standard Webhooks asks for less than 20 kB. The envelope has a few hundred bytes with the longest tenant name. */
const maxBytes = 20_000;
const envelopeBytes = 500;

/**
 * Body of the message about one generation: as many of its changes as fit, and the sequence number to read the rest
 * from. It is built from the log at each attempt: entries never change, and thousands of pending messages need no
 * space. undefined if the log has no matching change (any more).
 */
export function changeMessage(
  sql: SqlStorage,
  tenant: string,
  { server, generation, filters }: { server: string; generation: number; filters: ChangeFilters },
): Uint8Array | undefined {
  const rows = sql.exec<LogRow>(
    "SELECT * FROM change WHERE server = ? AND generation = ? ORDER BY sequence",
    server,
    generation,
  );
  const changes: unknown[] = [];
  let room = maxBytes - envelopeBytes;
  let timestamp: string | undefined;
  let since: number | undefined;
  let more = false;
  for (const entry of rows.toArray().flatMap(entriesOf)) {
    const change = changeOf(entry);
    if (!matchesFilters(filters, change)) continue;
    timestamp ??= change.at;
    room -= sizeOf(change) + 1;
    more = room < 0;
    if (more && changes.length === 0) {
      // Only the reasons can be that long; the receiver reads them from the log with the rest.
      changes.push({ ...change, reasons: [] });
      since = change.sequence - 1;
    }
    if (more) break;
    changes.push(change);
    since = change.sequence;
  }
  if (timestamp === undefined) return undefined;
  const data = { tenant, generation, changes, more: more || undefined, since: more ? since : undefined };
  return new TextEncoder().encode(JSON.stringify({ type: "capabilities.changed", timestamp, data }));
}

/** A test message, without changes. */
export function testMessage(tenant: string, subscription: string, at: string): Uint8Array {
  const data = { tenant, subscription };
  return new TextEncoder().encode(JSON.stringify({ type: "subscription.test", timestamp: at, data }));
}

function sizeOf(value: unknown): number {
  return byteLength(JSON.stringify(value));
}
