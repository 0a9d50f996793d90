import { isSourceOrigin, sourceOrigin } from "../../manifest/compose.ts";
import { type ItemRef, itemKey, type NewChange } from "../../manifest/diff.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { updateAttributeCounts } from "./attribute-counts.ts";
import type { WriteContext } from "./listener.ts";
import { type RevisionContent, revisionAt } from "./revisions.ts";
import { findLive } from "./servers.ts";
import { sourceRows, unseenSources } from "./source-rows.ts";
import { switchedOff } from "./switches.ts";

/**
 * Items that their source offered at another address are hidden until the new address was read: they stay in the
 * revision, so that the first reading is compared with them, and no reader sees them. Hidden items are rows of
 * `disabled`, the table by which everything that lists items leaves some out; a head has their positions.
 */

/** Brings the rows of hidden items up to date. Returns those that readers saw until now, and tells the listeners. */
export function syncHidden(write: WriteContext, server: string): ItemRef[] {
  const { sql, listener } = write;
  const before = hiddenRows(sql, server);
  const unseen = unseenSources(sourceRows(sql, server));
  if (before.length === 0 && unseen.length === 0) return [];
  const wanted = new Map(itemsOfSources(sql, server, unseen).map((item) => [itemKey(item), item]));
  const was = new Set(before.map(itemKey));
  const hide = [...wanted.values()].filter((item) => !was.has(itemKey(item)));
  const show = before.filter((item) => !wanted.has(itemKey(item)));
  for (const { kind, key } of hide) {
    sql.exec(
      `INSERT INTO disabled (server, kind, key, switched, hidden) VALUES (?, ?, ?, 0, 1)
       ON CONFLICT DO UPDATE SET hidden = 1`,
      ...[server, kind, key],
    );
  }
  for (const { kind, key } of show) {
    sql.exec("UPDATE disabled SET hidden = 0 WHERE server = ? AND kind = ? AND key = ?", server, kind, key);
  }
  sql.exec("DELETE FROM disabled WHERE server = ? AND switched = 0 AND hidden = 0", server);
  const off = switchedOff(sql, server);
  const isOn = (item: ItemRef) => !off.has(itemKey(item));
  const [hidden, shown] = [hide.filter(isOn), show.filter(isOn)];
  if (hidden.length + shown.length === 0) return [];
  updateAttributeCounts(sql, server, [
    ...hidden.map((item) => visibilityChange(item, "breaking")),
    ...shown.map((item) => visibilityChange(item, "additive")),
  ]);
  listener.itemsChanged(server, [...hidden, ...shown]);
  return hidden;
}

function visibilityChange(item: ItemRef, classification: "additive" | "breaking"): NewChange {
  return { ...item, classification, reasons: [] };
}

function hiddenRows(sql: SqlStorage, server: string): ItemRef[] {
  return sql
    .exec<{ kind: CapabilityKind; key: string }>(
      "SELECT kind, key FROM disabled WHERE server = ? AND hidden = 1",
      server,
    )
    .toArray();
}

/** The current items that came from these sources. */
export function itemsOfSources(sql: SqlStorage, server: string, sources: readonly string[]): ItemRef[] {
  const row = findLive(sql, server);
  const revision: RevisionContent | undefined =
    sources.length === 0 || !row?.digest ? undefined : revisionAt(sql, server, row.revision);
  if (revision === undefined) return [];
  const origins = new Set(sources.map(sourceOrigin));
  const keys = new Map<string, string>();
  const current = sql.exec<{ kind: CapabilityKind; digest: string; key: string }>(
    `SELECT kind, digest, key FROM capability INDEXED BY capability_current WHERE server = ? AND last_revision IS NULL`,
    server,
  );
  for (const { kind, digest, key } of current) keys.set(`${kind} ${digest}`, key);
  return revision.layout.flatMap(([kind, digest], at): ItemRef[] => {
    const key = keys.get(`${kind} ${digest}`);
    return key === undefined || !origins.has(revision.origins.of(at)) ? [] : [{ kind, key }];
  });
}

/** How many of the current items came from elsewhere: a reading leaves them in place. */
export function countBesideSources(sql: SqlStorage, server: string): number {
  const row = findLive(sql, server);
  const revision = row?.digest ? revisionAt(sql, server, row.revision) : undefined;
  return revision?.layout.filter((_, at) => !isSourceOrigin(revision.origins.of(at))).length ?? 0;
}
