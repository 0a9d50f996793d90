import { compareServers, type ServerRef } from "../kernel/names.ts";
import { clip } from "../kernel/text.ts";
import type { CatalogEntry } from "../registry/summary.ts";
import type { CatalogCounts, CatalogDimension, CatalogFilter, CatalogQuestion, Facet } from "./contract.ts";
import { joinedValue, type ListedRow, type ListingSource } from "./listing.ts";

/** Values shown per dimension, most frequent first. */
const maxShown = 20;
/** Longer descriptions are cut in a page; the server itself has the full text. */
const maxDescriptionLength = 1_000;

interface Found {
  source: ListingSource;
  at: number;
  ref: ServerRef;
  updatedAt: number;
}

/** A page of the servers in some sources, of which no two have the same server, and the counts that were asked for. */
export function selectServers(
  sources: readonly ListingSource[],
  question: CatalogQuestion,
): { items: CatalogEntry[]; counted?: CatalogCounts } {
  const items = selectItems(sources, question);
  return question.facets.length === 0 ? { items } : { items, counted: countQuestion(sources, question) };
}

export function selectItems(
  sources: readonly ListingSource[],
  { values, updatedSince, order, after, limit }: CatalogQuestion,
): CatalogEntry[] {
  const matches = matcher({ values, updatedSince });
  const found = order === "updated" ? latest(sources, matches, after, limit) : inOrder(sources, matches, after, limit);
  return found.map(({ source, at }) => shortened(source.entryAt(at)));
}

export function countQuestion(
  sources: readonly ListingSource[],
  { values, updatedSince, facets }: Pick<CatalogQuestion, "values" | "updatedSince" | "facets">,
): CatalogCounts {
  return countServers(sources, matcher({ values, updatedSince }), facets);
}

type Matches = (row: ListedRow) => boolean;

/** One of the values in every dimension that is given. */
function matcher({ values, updatedSince }: CatalogFilter): Matches {
  const wanted = Object.entries(values).map(
    ([dimension, some]) => new Set(some.map((value) => joinedValue(dimension as CatalogDimension, value))),
  );
  return (row) => {
    if (updatedSince !== undefined && !(row.updatedAt >= updatedSince)) return false;
    return wanted.every((some) => row.values.some((value) => some.has(value)));
  };
}

/** By tenant and name: merges the sources, which are in this order each. */
function inOrder(sources: readonly ListingSource[], matches: Matches, after: ServerRef, limit: number): Found[] {
  const rests = sources.map((source) => matching(source, matches, source.firstFrom(after), after));
  const heads = rests.flatMap((rest) => {
    const { value, done } = rest.next();
    return done ? [] : [{ rest, found: value }];
  });
  const page: Found[] = [];
  while (heads.length > 0 && page.length < limit) {
    const least = heads.reduce((low, head) => (compareServers(head.found.ref, low.found.ref) < 0 ? head : low));
    page.push(least.found);
    const { value, done } = least.rest.next();
    if (done) heads.splice(heads.indexOf(least), 1);
    else least.found = value;
  }
  return page;
}

function* matching(
  source: ListingSource,
  matches: Matches,
  from: number,
  after?: ServerRef,
): Generator<Found, undefined> {
  for (let at = from; at < source.length; at += 1) {
    const row = source.rowAt(at);
    if (row === undefined || !matches(row)) continue;
    const ref = source.refAt(at);
    if (after !== undefined && compareServers(ref, after) === 0) continue;
    yield { source, at, ref, updatedAt: row.updatedAt };
  }
  return undefined;
}

/** The last changed first; of one time, by tenant and name. */
function latest(
  sources: readonly ListingSource[],
  matches: Matches,
  after: ServerRef & { updatedAt?: number },
  limit: number,
): Found[] {
  const start = after.updatedAt === undefined ? undefined : { ref: after, updatedAt: after.updatedAt };
  const page: Found[] = [];
  for (const source of sources) {
    for (let at = 0; at < source.length; at += 1) {
      const row = source.rowAt(at);
      if (row === undefined) continue;
      // Most servers are too old for the page: seen before their names are.
      const last = page.length === limit ? page[limit - 1] : undefined;
      if (last !== undefined && row.updatedAt < last.updatedAt) continue;
      if (start !== undefined && row.updatedAt > start.updatedAt) continue;
      if (!matches(row)) continue;
      const found = { source, at, ref: source.refAt(at), updatedAt: row.updatedAt };
      if (start !== undefined && compareLatest(found, start) <= 0) continue;
      insert(page, found, limit);
    }
  }
  return page;
}

function compareLatest(a: Pick<Found, "ref" | "updatedAt">, b: Pick<Found, "ref" | "updatedAt">): number {
  return b.updatedAt - a.updatedAt || compareServers(a.ref, b.ref);
}

function insert(page: Found[], found: Found, limit: number): void {
  let at = page.length;
  while (at > 0 && compareLatest(found, page[at - 1] ?? found) < 0) at -= 1;
  page.splice(at, 0, found);
  if (page.length > limit) page.pop();
}

function shortened(entry: CatalogEntry): CatalogEntry {
  const { description } = entry;
  if (description === undefined || description.length <= maxDescriptionLength) return entry;
  return { ...entry, description: clip(description, maxDescriptionLength) };
}

function countServers(
  sources: readonly ListingSource[],
  matches: Matches,
  facets: readonly CatalogDimension[],
): CatalogCounts {
  const tally = new Map<string, number>();
  const spellings = new Map<string, string>();
  const totals = { servers: 0, capabilities: 0, tokens: 0 };
  for (const source of sources) {
    for (let at = 0; at < source.length; at += 1) {
      const row = source.rowAt(at);
      if (row === undefined || !matches(row)) continue;
      totals.servers += 1;
      totals.capabilities += row.capabilities;
      totals.tokens += row.tokens;
      for (const value of row.values) tally.set(value, (tally.get(value) ?? 0) + 1);
      spellings.set(row.values[0] ?? "", row.shown);
    }
  }
  const byDimension = Map.groupBy(tally, ([value]) => value.slice(0, value.indexOf(" ")));
  const shown = facets.map((dimension) => {
    const counts = (byDimension.get(dimension) ?? []).map(([joined, count]) => {
      const value = dimension === "tenant" ? spellings.get(joined) : joined.slice(dimension.length + 1);
      return { value: value ?? "", count };
    });
    return [dimension, facetOf(counts)];
  });
  return { total: { count: totals.servers }, totals, facets: Object.fromEntries(shown) };
}

function facetOf(values: { value: string; count: number }[]): Facet {
  values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  return values.length > maxShown ? { values: values.slice(0, maxShown), more: true } : { values };
}
