import { changeOf, generationOf } from "../../registry/sql/change-log.ts";
import { type ChangeRow, entriesOf, type LogRow } from "../../registry/sql/log/log-rows.ts";
import { findLive } from "../../registry/sql/servers.ts";
import type { FollowedItems, ItemChange, ItemChanges } from "../contract.ts";

/**
 * Changes of one server per page: at least as many as one generation can have (each item may change and be switched on
 * or off; the server may change in its settings, its versions and its status), so that a reader that is behind always advances with the next page.
 */
function pageLimit(items: number): number {
  return Math.max(1_000, 2 * items + 3);
}

/** Changes to the followed items since each of their servers was last seen. */
export function followedChanges(sql: SqlStorage, tenant: string, { servers, onlyPublic }: FollowedItems): ItemChanges {
  const present = generationOf(sql);
  const oldest = oldestGeneration(sql);
  const pages = servers.map((followed) =>
    pageOf(sql, followed, onlyPublic ? visibleToOutsiders(sql, followed, oldest) : all),
  );
  const upTo = Math.min(present, ...pages.map((page) => page.upTo));
  const changes = pages
    .flatMap((page) => page.changes)
    .filter((change) => change.generation <= upTo)
    .map((change) => ({ ...change, tenant }))
    .sort((a, b) => a.sequence - b.sequence);
  const complete = servers.every(({ since, after }) => Math.max(since, after) >= oldest - 1);
  if (!onlyPublic || upTo < present) return { changes, upTo, generation: present, complete };
  // Readers outside the tenant must not learn how often it changes: report the last generation they could see.
  const seen = Math.max(...pages.map((page) => page.seen));
  return { changes, upTo: seen, generation: seen, complete };
}

/** Generations of a server that a reader may see: up to `until`, and again from `from`. */
interface VisibleGenerations {
  until: number;
  from: number;
  reasons: boolean;
}

const all: VisibleGenerations = { until: Number.MAX_SAFE_INTEGER, from: 0, reasons: true };

/**
 * Generations a reader outside the tenant may see: up to the change that made the server private or deleted it, and
 * again from when it became public. Changes in between are never sent. That change is searched from where the server
 * was chosen (`since`): the position a reader claims (`after`) must not widen what it sees.
 */
function visibleToOutsiders(
  sql: SqlStorage,
  { server, since, wasPublic }: FollowedServer,
  oldest: number,
): VisibleGenerations {
  const from = findLive(sql, server)?.public_since ?? Number.MAX_SAFE_INTEGER;
  if (from <= since) return { ...all, reasons: false };
  const { loss } = sql
    .exec<{ loss: number | null }>(
      `SELECT min(generation) AS loss FROM change WHERE server = ? AND generation > ? AND generation < ?
         AND kind = 'server' AND classification IN ('removed', 'breaking')`,
      server,
      since,
      from,
    )
    .one();
  // If the log has been pruned past `since`, the first such change may be missing from it.
  const known = wasPublic && since >= oldest - 1;
  return { until: known ? (loss ?? since) : since, from, reasons: false };
}

type FollowedServer = FollowedItems["servers"][number];

/** Of a change of the server itself, followers of its items hear only these. */
const toldOfServer: ReadonlySet<string> = new Set(["removed", "breaking", "advisory"]);

function pageOf(
  sql: SqlStorage,
  { server, since, after, items }: FollowedServer,
  { until, from, reasons: withReasons }: VisibleGenerations,
): { changes: Omit<ItemChange, "tenant">[]; upTo: number; seen: number } {
  const most = pageLimit(items.length);
  const chosen = "IN (SELECT value ->> 0, value ->> 1 FROM json_each(?5))";
  const followed = `server = ?1 AND generation > ?2 AND (generation <= ?3 OR generation >= ?4) AND (
    (kind, key) ${chosen}
    OR (kind = 'server' AND classification IN (${[...toldOfServer].map((name) => `'${name}'`).join(", ")}))
    OR (rest IS NOT NULL
      AND EXISTS (SELECT 1 FROM json_each(rest) AS next WHERE (next.value ->> 1, next.value ->> 2) ${chosen})))`;
  const keys = JSON.stringify(items.map(({ kind, key }) => [kind, key]));
  const rows = sql
    .exec<LogRow>(
      `SELECT * FROM change WHERE ${followed} ORDER BY sequence LIMIT ?6`,
      ...[server, Math.max(since, after), until, from, keys, most],
    )
    .toArray();
  const { last } = sql
    .exec<{ last: number | null }>(
      `SELECT max(generation) AS last FROM change WHERE ${followed}`,
      ...[server, since, until, from, keys],
    )
    .one();
  const ids = new Map(items.map(({ kind, key, id }) => [`${kind} ${key}`, id]));
  const isFollowed = ({ kind, key, classification }: ChangeRow) =>
    ids.has(`${kind} ${key}`) || (kind === "server" && toldOfServer.has(classification));
  const changes = rows
    .flatMap((row) => entriesOf(row).filter(isFollowed))
    .map((row) => {
      const id = ids.get(`${row.kind} ${row.key}`);
      const { reasons, ...change } = changeOf(row);
      // Reasons of changes are visible only inside the tenant, but for what every reader of the server is shown anyway:
      // its status, those of its versions, and that its flags are others.
      const isShown = withReasons || change.classification === "advisory";
      return { ...change, reasons: isShown ? reasons : [], id };
    });
  // The last generation of a full page may be incomplete.
  const upTo = rows.length === most ? (rows.at(-1)?.generation ?? since) - 1 : Number.MAX_SAFE_INTEGER;
  return { changes, upTo, seen: last ?? since };
}

/** The oldest generation in the log; 0 if nothing has been pruned. */
function oldestGeneration(sql: SqlStorage): number {
  const first = sql
    .exec<{ sequence: number; generation: number }>("SELECT sequence, generation FROM change ORDER BY sequence LIMIT 1")
    .toArray()[0];
  return first === undefined || first.sequence === 1 ? 0 : first.generation;
}
