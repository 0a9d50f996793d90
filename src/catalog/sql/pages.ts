import { compareServers, type ServerRef, type TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { CatalogCaller, CatalogFilter } from "../contract.ts";
import { everyServer, scopes } from "./listing.ts";

/** A scanned server. */
export interface ListedServer extends Record<string, SqlStorageValue> {
  tenant: TenantKey;
  name: string;
  updated_at: number;
  /** Ids of its attributes, as a JSON list. */
  attributes: string;
}

/** Servers scanned per page: beyond that, the page ends where the scan stopped. */
const maxScanned = 2_000;
/**
 * Up to this many recently changed servers are sorted in memory; with more, servers are scanned in order of tenant and
 * name.
 */
const maxRecent = 500;

/** Up to this many index ranges are scanned one after the other, without checking first which are empty. */
const fewRanges = 8;
/** Index rows per query. */
const maxAtOnce = 100;

/** Servers in order of tenant and name, and the position if the scan stopped early. */
export interface Scanned {
  found: ListedServer[];
  stoppedAt?: ServerRef;
}

/**
 * The first servers after a position that the caller may see and that match the filter. Scans the index of the rarest
 * dimension in order and checks the others per row, so that the cost depends on the page and not on the catalogue.
 */
export function scanServers(
  sql: SqlStorage,
  filter: CatalogFilter & { caller: CatalogCaller },
  after: ServerRef,
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
  /** Attribute ids of the values; one of them is enough. */
  ids: number[];
  /** Number of servers with these values, visible to the caller or not. */
  servers: number;
}

/**
 * undefined if no server has any of a dimension's values: nothing matches. The tenant dimension is not a condition; it
 * selects the ranges to scan.
 */
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
  const ids = new Set(readJson(row.attributes) as number[]);
  return conditions.every((condition) => condition.ids.some((id) => ids.has(id)));
}

/** An index range: public or private servers, of one tenant or of all. */
interface Range {
  public: 0 | 1;
  tenant?: TenantKey;
}

/** Index ranges that the caller may see, in sorted groups to be merged. No other range is ever read. */
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

/** Reads rows in small batches, so that the reader can stop early and no statement stays open. */
function* rowsOf(
  sql: SqlStorage,
  ranges: readonly Range[],
  attribute: number,
  after: ServerRef,
  atOnce: number,
): Iterable<ListedServer> {
  for (const range of ranges.length > fewRanges ? nonEmptyRanges(sql, ranges, attribute) : ranges) {
    if (range.tenant !== undefined && range.tenant < after.tenant) continue;
    for (let from: ServerRef | undefined = after; from !== undefined; ) {
      const rows: ListedServer[] = readRange(sql, range, attribute, from, atOnce);
      yield* rows;
      from = rows.length < atOnce ? undefined : rows.at(-1);
    }
  }
}

/** The ranges that are not empty, found with one query instead of one per tenant. */
function nonEmptyRanges(sql: SqlStorage, ranges: readonly Range[], attribute: number): readonly Range[] {
  const wanted = ranges.map(({ tenant }) => (tenant === undefined ? "" : scopes.privateOf(tenant)));
  const rows = sql.exec<{ at: number }>(
    `SELECT wanted.key AS at FROM json_each(?) AS wanted
     CROSS JOIN attribute_count ON attribute_count.scope = wanted.value AND attribute_count.attribute = ?`,
    ...[JSON.stringify(wanted), attribute],
  );
  const held = new Set(rows.toArray().map(({ at }) => at));
  return ranges.filter(({ public: isPublic }, at) => isPublic === 1 || held.has(at));
}

function readRange(sql: SqlStorage, range: Range, attribute: number, after: ServerRef, limit: number): ListedServer[] {
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
 * The servers changed since `since`, if they are few. undefined without `since`, for single tenants, or if the index of
 * the rarest dimension (`otherwise`) has fewer rows.
 */
function recent(
  sql: SqlStorage,
  ranges: readonly Range[],
  since: number | undefined,
  after: ServerRef,
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

/** Merges sorted lists into one, without duplicates. */
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
    // The reader of a page stops early: close the other iterators.
    for (const { rest } of heads) rest.return?.();
  }
}
