import { readJson } from "../../kernel/read-json.ts";
import type { CatalogCaller, CatalogDimension, Counted, Facet } from "../contract.ts";
import { everyServer, scopes } from "./listing.ts";
import type { ListedServer } from "./pages.ts";

/** Values shown per dimension, most frequent first. */
const maxShown = 20;
/** Filtered servers are counted up to this number. */
export const maxCounted = 1_000;
/** A caller with more tenants has too many stored counts to add up; its servers are scanned and counted instead. */
const maxStoredScopes = 50;

type Counts = { total: Counted; facets: Partial<Record<CatalogDimension, Facet>> };

/** True if stored counts cover everything the caller may see. */
export function hasStoredCounts(caller: CatalogCaller): boolean {
  return caller === "admin" || caller.length <= maxStoredScopes;
}

/**
 * Counts of everything the caller may see, read from stored counts. With several scopes, only values that are among the
 * most frequent in one of them are added up: a value that is rare in each scope is missing, whatever its total.
 */
export function storedCounts(sql: SqlStorage, caller: CatalogCaller, dimensions: readonly CatalogDimension[]): Counts {
  const seen = caller === "admin" ? [scopes.all] : [scopes.public, ...new Set(caller.map(scopes.privateOf))];
  const facets = dimensions.map((dimension) => {
    const candidates = new Set(seen.flatMap((scope) => mostFrequent(sql, scope, dimension)));
    const values = named(sql, addedUp(sql, seen, [...candidates]));
    return [dimension, facetOf(sql, dimension, values.get(dimension) ?? [])];
  });
  const [total] = addedUp(sql, seen, [everyServer]);
  return { total: { count: total?.[1] ?? 0 }, facets: Object.fromEntries(facets) };
}

function mostFrequent(sql: SqlStorage, scope: string, dimension: CatalogDimension): number[] {
  return sql
    .exec<{ attribute: number }>(
      "SELECT attribute FROM attribute_count WHERE scope = ? AND dimension = ? ORDER BY servers DESC, attribute LIMIT ?",
      ...[scope, dimension, maxShown + 1],
    )
    .toArray()
    .map(({ attribute }) => attribute);
}

function addedUp(sql: SqlStorage, seen: readonly string[], attributes: readonly number[]): [id: number, n: number][] {
  return sql
    .exec<{ attribute: number; servers: number }>(
      `SELECT attribute_count.attribute, sum(servers) AS servers FROM json_each(?1) AS scope CROSS JOIN json_each(?2) AS wanted
       CROSS JOIN attribute_count ON attribute_count.scope = scope.value AND attribute_count.attribute = wanted.value
       GROUP BY 1`,
      ...[JSON.stringify(seen), JSON.stringify(attributes)],
    )
    .toArray()
    .map(({ attribute, servers }) => [attribute, servers]);
}

/** Counts of scanned servers; `complete` if the scan found all of them. */
export function scannedCounts(
  sql: SqlStorage,
  found: readonly ListedServer[],
  complete: boolean,
  dimensions: readonly CatalogDimension[],
): Counts {
  const tally = new Map<number, number>();
  for (const { attributes } of found) {
    for (const id of readJson(attributes) as number[]) tally.set(id, (tally.get(id) ?? 0) + 1);
  }
  const bound = complete ? {} : { atLeast: true as const };
  const values = named(sql, [...tally]);
  const facets = dimensions.map((dimension) => [
    dimension,
    facetOf(sql, dimension, values.get(dimension) ?? [], bound),
  ]);
  return { total: { count: found.length, ...bound }, facets: Object.fromEntries(facets) };
}

type NamedCount = { value: string; count: number };

function named(sql: SqlStorage, counts: readonly [id: number, count: number][]): Map<string, NamedCount[]> {
  const rows = sql.exec<{ dimension: string; value: string; count: number }>(
    `SELECT attribute.dimension, attribute.value, counted.value ->> 1 AS count FROM json_each(?) AS counted
     CROSS JOIN attribute ON attribute.id = counted.value ->> 0`,
    JSON.stringify(counts),
  );
  return Map.groupBy(rows.toArray(), ({ dimension }) => dimension);
}

function facetOf(
  sql: SqlStorage,
  dimension: CatalogDimension,
  values: readonly NamedCount[],
  bound: { atLeast?: true } = {},
): Facet {
  const sorted = values.toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  const shown = sorted.slice(0, maxShown).map(({ value, count }) => {
    return { value: dimension === "tenant" ? shownTenant(sql, value) : value, count, ...bound };
  });
  return sorted.length > maxShown ? { values: shown, more: true } : { values: shown };
}

/** Every entry of a tenant has the same spelling. */
function shownTenant(sql: SqlStorage, tenant: string): string {
  const statement =
    "SELECT json_extract(entry, '$.tenant') AS shown FROM server WHERE tenant = ? AND entry IS NOT NULL";
  return sql.exec<{ shown: string }>(`${statement} LIMIT 1`, tenant).toArray()[0]?.shown ?? tenant;
}
