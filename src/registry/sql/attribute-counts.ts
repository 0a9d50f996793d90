import { readJson } from "../../kernel/read-json.ts";
import { type AttributeCounts, adjustAttributes, attributesOf, countAttributes } from "../../manifest/attributes.ts";
import type { NewChange } from "../../manifest/diff.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { ServerSummary } from "../contract.ts";
import { findLive, type ServerRow } from "./servers.ts";

/**
 * Keeps the attribute counts in a server's summary correct between publishes. Only items that are switched on count.
 */

/**
 * Call after items were switched on or off. Reads only those items, unless the summary had to leave out some values.
 */
export function updateAttributeCounts(sql: SqlStorage, server: string, switched: readonly NewChange[]): void {
  const row = findLive(sql, server);
  if (row === undefined) return;
  const { attributes } = readJson(row.summary) as ServerSummary;
  if (attributes === undefined) return;
  const changes = switched.flatMap(({ kind, key, classification }) => {
    const item = currentItem(sql, server, kind, key);
    if (item === undefined) return [];
    return [{ attributes: attributesOf(item), by: classification === "additive" ? (1 as const) : (-1 as const) }];
  });
  keep(sql, row, adjustAttributes(attributes, changes) ?? countCurrent(sql, server));
}

function countCurrent(sql: SqlStorage, server: string): AttributeCounts {
  const items = sql.exec<{ declared: string }>(
    `SELECT declared FROM capability AS item WHERE server = ? AND last_revision IS NULL
       AND NOT EXISTS (
         SELECT 1 FROM disabled WHERE server = item.server AND kind = item.kind AND key = item.key
       )`,
    server,
  );
  return countAttributes(attributesOfEach(items));
}

/** One row at a time: a server's items can be far larger than their counts. */
function* attributesOfEach(items: Iterable<{ declared: string }>) {
  for (const { declared } of items) yield attributesOf(readJson(declared) as Record<string, unknown>);
}

function currentItem(
  sql: SqlStorage,
  server: string,
  kind: CapabilityKind | "server",
  key: string,
): Record<string, unknown> | undefined {
  const row = sql
    .exec<{ declared: string }>(
      "SELECT declared FROM capability WHERE server = ? AND kind = ? AND key = ? AND last_revision IS NULL",
      ...[server, kind, key],
    )
    .toArray()[0];
  return row && (readJson(row.declared) as Record<string, unknown>);
}

function keep(sql: SqlStorage, row: ServerRow, attributes: AttributeCounts): void {
  const summary: ServerSummary = { ...(readJson(row.summary) as ServerSummary), attributes };
  sql.exec("UPDATE server SET summary = ? WHERE name = ?", JSON.stringify(summary), row.name);
}
