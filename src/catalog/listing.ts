import type { Segment } from "../directory/segment.ts";
import type { SegmentForm, ViewSegment } from "../directory/view.ts";
import { compareServers, refOf, type ServerRef, type TenantKey } from "../kernel/names.ts";
import type { CatalogEntry } from "../registry/summary.ts";
import type { CatalogDimension } from "./contract.ts";
import type { EntryCache } from "./entry-cache.ts";

/** What servers are filtered, ordered and counted by, without the entry itself. */
export interface ListedRow {
  /** The tenant as shown. */
  shown: string;
  updatedAt: number;
  tokens: number;
  capabilities: number;
  /** Dimension and value, joined by `joinedValue`. The same text is one string in memory, however many servers have it. */
  values: readonly string[];
}

/** Servers in order of tenant and name. */
export interface ListingSource {
  readonly length: number;
  /** undefined if the reader may not see the server. */
  rowAt(at: number): ListedRow | undefined;
  refAt(at: number): ServerRef;
  /** The first server that is not before this one. */
  firstFrom(server: ServerRef): number;
  entryAt(at: number): CatalogEntry;
}

export function joinedValue(dimension: CatalogDimension, value: string): string {
  return `${dimension} ${value}`;
}

/** Texts that are the same become the same string. */
export type Intern = (text: string) => string;

export function createIntern(): Intern {
  const known = new Map<string, string>();
  return (text) => {
    const same = known.get(text);
    if (same === undefined) known.set(text, text);
    return same ?? text;
  };
}

export function listedRow(tenant: TenantKey, entry: CatalogEntry, intern: Intern): ListedRow {
  const kinds = Object.entries(entry.counts ?? {}).filter(([, items]) => items > 0);
  const rules = new Set((entry.flags ?? []).map(({ rule }) => rule));
  const values = [
    joinedValue("tenant", tenant),
    joinedValue("status", entry.status),
    joinedValue("probe", entry.probe),
    ...kinds.map(([kind]) => joinedValue("kind", kind)),
    ...Array.from(rules, (rule) => joinedValue("flag", rule)),
    ...entry.attributes.map(([dimension, value]) => joinedValue(dimension, value)),
  ];
  return {
    shown: intern(entry.tenant),
    updatedAt: Date.parse(entry.updatedAt),
    tokens: entry.tokens ?? 0,
    capabilities: kinds.reduce((sum, [, items]) => sum + items, 0),
    values: values.map(intern),
  };
}

type SegmentRows = readonly (ListedRow | undefined)[];

/** The rows of a segment, one for each place; undefined for a tombstone, a continuation, or a deleted server. */
export const catalogForm: SegmentForm<SegmentRows> = {
  name: "catalogue rows",
  build(segment: Segment) {
    const intern = createIntern();
    return Array.from({ length: segment.places }, (_, place) => {
      const entry = segment.entry(place);
      return entry && listedRow(segment.placeAt(place).tenant, entry, intern);
    });
  },
  bytesOf: (rows) => rows.reduce((sum, row) => sum + 16 + (row === undefined ? 0 : 150 + 12 * row.values.length), 0),
};

/** The public servers of a segment of a view. */
export function segmentSource(of: ViewSegment, entries: EntryCache): ListingSource {
  const { segment } = of;
  const rows = of.form(catalogForm);
  return {
    length: segment.places,
    rowAt: (place) => (of.isLive(place) ? rows[place] : undefined),
    refAt: (place) => segment.placeAt(place),
    firstFrom: (server) => segment.firstFrom(server),
    entryAt(place) {
      const entry = entries.entry(segment, place);
      if (entry === undefined) throw new Error("a listed place has an entry");
      return entry;
    },
  };
}

/** A list of entries, such as the caller's own private servers. */
export function entriesSource(entries: readonly CatalogEntry[]): ListingSource {
  const intern = createIntern();
  const sorted = entries
    .map((entry) => ({ ref: refOf(entry), entry, row: listedRow(refOf(entry).tenant, entry, intern) }))
    .sort((a, b) => compareServers(a.ref, b.ref));
  const at = (index: number) => {
    const found = sorted[index];
    if (found === undefined) throw new Error(`there is no entry ${index}`);
    return found;
  };
  return {
    length: sorted.length,
    rowAt: (index) => sorted[index]?.row,
    refAt: (index) => at(index).ref,
    firstFrom: (server) => firstFrom(sorted.length, (index) => compareServers(at(index).ref, server)),
    entryAt: (index) => at(index).entry,
  };
}

/** The first of a sorted list that does not compare below zero. */
export function firstFrom(length: number, compare: (at: number) => number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(middle) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
