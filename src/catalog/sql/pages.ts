import { compareServers } from "../../kernel/names.ts";
import type { CatalogCaller, CatalogFilter } from "../contract.ts";
import { everyServer, scopes } from "./listing.ts";

/** A server that was looked at, in the order of tenant and name. */
export interface ListedServer extends Record<string, SqlStorageValue> {
  tenant: string;
  name: string;
  updated_at: number;
  /** Numbers of its attributes, as a JSON list. */
  attributes: string;
}

export interface Position {
  tenant: string;
  name: string;
}

/** Looked at for one page, at most: beyond that, the page ends where looking stopped. */
const maxScanned = 2_000;
/** So many recent changes are put in order; with more, servers are gone through in the order they are shown. */
const maxRecent = 500;

/** So many stretches are simply looked at, one after the other. */
const fewRanges = 8;
/** Rows of the index, in one go. */
const maxAtOnce = 100;

/** Some servers in order, and whether looking stopped early. */
export interface Scanned {
  found: ListedServer[];
  stoppedAt?: Position;
}

/**
 * The first servers after a position that a caller may see and that fit a filter. The rarest of its dimensions is walked
 * in order and the others are looked up, so that what is read depends on the page and not on the catalogue.
 */
export function scanServers(
  sql: SqlStorage,
  filter: CatalogFilter & { caller: CatalogCaller },
  after: Position,
  limit: number,
): Scanned {
  const conditions = conditionsOf(sql, filter);
  if (conditions === undefined) return { found: [] };
  const [rarest] = conditions.toSorted((a, b) => a.servers - b.servers);
  const groups = groupsOf(filter).flatMap(
    (ranges) =>
      recent(sql, ranges, filter.updatedSince, after, rarest?.servers) ??
      (rarest?.ids ?? [everyServer]).map((id) => rowsOf(sql, ranges, id, after, Math.min(limit, maxAtOnce))),
  );
  const found: ListedServer[] = [];
  let looked = 0;
  for (const row of mergeSorted(groups)) {
    if (fits(row, conditions, filter.updatedSince)) found.push(row);
    if (found.length === limit) return { found };
    looked += 1;
    if (looked === maxScanned) return { found, stoppedAt: { tenant: row.tenant, name: row.name } };
  }
  return { found };
}

interface Condition {
  /** Numbers of the values, of which one is enough. */
  ids: number[];
  /** How many servers have them, whoever sees those. */
  servers: number;
}

/** Undefined where a dimension has none of the values: nothing fits. A tenant is no condition but where to look. */
function conditionsOf(sql: SqlStorage, { values }: CatalogFilter): Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const [dimension, wanted] of Object.entries(values)) {
    if (dimension === "tenant") continue;
    const rows = sql
      .exec<{ id: number; servers: number }>(
        `SELECT attribute.id, attribute_count.servers FROM json_each(?2) AS wanted
         CROSS JOIN attribute ON attribute.dimension = ?1 AND attribute.value = wanted.value
         CROSS JOIN attribute_count ON attribute_count.scope = ?3 AND attribute_count.attribute = attribute.id`,
        ...[dimension, JSON.stringify(wanted), scopes.all],
      )
      .toArray();
    if (rows.length === 0) return undefined;
    conditions.push({ ids: rows.map(({ id }) => id), servers: rows.reduce((sum, { servers }) => sum + servers, 0) });
  }
  return conditions;
}

function fits(row: ListedServer, conditions: readonly Condition[], updatedSince: number | undefined): boolean {
  if (updatedSince !== undefined && row.updated_at < updatedSince) return false;
  if (conditions.length === 0) return true;
  const ids = new Set(JSON.parse(row.attributes) as number[]);
  return conditions.every((condition) => condition.ids.some((id) => ids.has(id)));
}

/** A stretch of the index: public or other servers, of one tenant or of all. */
interface Range {
  public: 0 | 1;
  tenant?: string;
}

/** What a caller may see: stretches in order, in groups that have to be merged. Nothing else is ever read. */
function groupsOf({ caller, values }: CatalogFilter & { caller: CatalogCaller }): Range[][] {
  const wanted = values.tenant && [...values.tenant].sort();
  const open: Range[] = wanted?.map((tenant) => ({ public: 1, tenant })) ?? [{ public: 1 }];
  if (caller === "admin") {
    return [open, wanted?.map((tenant): Range => ({ public: 0, tenant })) ?? [{ public: 0 }]];
  }
  const own = [...new Set(caller)].filter((tenant) => wanted?.includes(tenant) ?? true).sort();
  return [open, own.map((tenant): Range => ({ public: 0, tenant }))];
}

const columns = "listing.tenant, listing.name, listing.updated_at, listing.attributes";
const joined = `server_attribute AS has CROSS JOIN listing ON listing.tenant = has.tenant AND listing.name = has.name`;

/** A few at a time: whoever has enough stops, and no statement is left open. */
function* rowsOf(
  sql: SqlStorage,
  ranges: readonly Range[],
  attribute: number,
  after: Position,
  atOnce: number,
): Iterable<ListedServer> {
  for (const range of ranges.length > fewRanges ? nonEmptyRanges(sql, ranges, attribute) : ranges) {
    if (range.tenant !== undefined && range.tenant < after.tenant) continue;
    for (let from: Position | undefined = after; from !== undefined; ) {
      const rows: ListedServer[] = readRange(sql, range, attribute, from, atOnce);
      yield* rows;
      from = rows.length < atOnce ? undefined : rows.at(-1);
    }
  }
}

/** Of many tenants' own servers, the stretches that are not empty: one question instead of one each. */
function nonEmptyRanges(sql: SqlStorage, ranges: readonly Range[], attribute: number): readonly Range[] {
  const wanted = ranges.map(({ tenant = "" }) => scopes.privateOf(tenant));
  const rows = sql.exec<{ at: number }>(
    `SELECT wanted.key AS at FROM json_each(?) AS wanted
     CROSS JOIN attribute_count ON attribute_count.scope = wanted.value AND attribute_count.attribute = ?`,
    ...[JSON.stringify(wanted), attribute],
  );
  const held = new Set(rows.toArray().map(({ at }) => at));
  return ranges.filter(({ public: isPublic }, at) => isPublic === 1 || held.has(at));
}

function readRange(sql: SqlStorage, range: Range, attribute: number, after: Position, limit: number): ListedServer[] {
  const { public: isPublic, tenant } = range;
  const from = `SELECT ${columns} FROM ${joined} WHERE has.attribute = ? AND has.public = ?`;
  const found =
    tenant === undefined
      ? sql.exec<ListedServer>(
          `${from} AND (has.tenant, has.name) > (?, ?) ORDER BY has.tenant, has.name LIMIT ?`,
          ...[attribute, isPublic, after.tenant, after.name, limit],
        )
      : sql.exec<ListedServer>(
          `${from} AND has.tenant = ? AND has.name > ? ORDER BY has.name LIMIT ?`,
          ...[attribute, isPublic, tenant, tenant === after.tenant ? after.name : "", limit],
        );
  return found.toArray();
}

/**
 * Where little has changed since, that little. Undefined where there is no such question, or no less to go through than
 * another way.
 */
function recent(
  sql: SqlStorage,
  ranges: readonly Range[],
  since: number | undefined,
  after: Position,
  otherwise = Number.POSITIVE_INFINITY,
): ListedServer[][] | undefined {
  const [range] = ranges;
  if (since === undefined || range === undefined || range.tenant !== undefined) return undefined;
  const most = Math.min(maxRecent, otherwise);
  const rows = sql
    .exec<ListedServer>(
      `SELECT ${columns} FROM listing WHERE public = ? AND updated_at >= ? LIMIT ?`,
      ...[range.public, since, most + 1],
    )
    .toArray();
  if (rows.length > most) return undefined;
  return [rows.filter((row) => compareServers(row, after) > 0).sort(compareServers)];
}

/** Lists that are each in order as one, everything once. */
function* mergeSorted(lists: readonly Iterable<ListedServer>[]): Iterable<ListedServer> {
  const heads = lists.flatMap((list) => {
    const rest = list[Symbol.iterator]();
    const first = rest.next();
    return first.done ? [] : [{ row: first.value, rest }];
  });
  try {
    while (heads.length > 0) {
      const { row } = heads.reduce((least, head) => (compareServers(head.row, least.row) < 0 ? head : least));
      yield row;
      for (const head of heads.filter((other) => compareServers(other.row, row) === 0)) {
        const next = head.rest.next();
        if (next.done) heads.splice(heads.indexOf(head), 1);
        else head.row = next.value;
      }
    }
  } finally {
    // Who reads a page does not read on: the lists are told, and count what was read of them.
    for (const { rest } of heads) rest.return?.();
  }
}
