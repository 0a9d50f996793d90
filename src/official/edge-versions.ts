import type { Segment } from "../directory/segment.ts";
import type { DirectoryView, SegmentForm, ViewSegment } from "../directory/view.ts";
import type { ServerRef } from "../kernel/names.ts";
import type { ListedVersion, VersionQuery } from "./contract.ts";

/** What lists need of every version of a segment, so that only the rows of a page are decoded. */
export interface VersionColumns {
  /** Places that have versions, in order of their names. */
  places: Uint32Array;
  /** `tenant/name` of each of these places, by which lists are ordered. */
  names: readonly string[];
  /** Of each version: its description in lower case. */
  descriptions: readonly string[];
  /** Of each version: when it last changed, in epoch milliseconds. */
  updated: Float64Array;
}

export const versionColumns: SegmentForm<VersionColumns> = {
  name: "official versions",

  build(segment: Segment): VersionColumns {
    const named: { place: number; name: string }[] = [];
    for (let place = 0; place < segment.places; place += 1) {
      const [start, end] = segment.versionsOf(place);
      if (start === end) continue;
      const { tenant, name } = segment.placeAt(place);
      named.push({ place, name: `${tenant}/${name}` });
    }
    // Not the order of places: a slash sorts behind a dot and a dash.
    named.sort((a, b) => (a.name < b.name ? -1 : 1));
    const headers = Array.from({ length: segment.versions }, (_, version) => segment.versionAt(version));
    return {
      places: Uint32Array.from(named, ({ place }) => place),
      names: named.map(({ name }) => name),
      descriptions: headers.map(({ description }) => description),
      updated: Float64Array.from(headers, ({ updatedAt }) => Date.parse(updatedAt)),
    };
  },

  bytesOf({ places, names, descriptions, updated }: VersionColumns): number {
    const texts = [...names, ...descriptions].reduce((sum, text) => sum + 2 * text.length + 24, 0);
    return texts + places.byteLength + updated.byteLength;
  },
};

/** A version in a view, without its document. */
export interface FoundVersion extends Omit<ListedVersion, "document"> {
  in: ViewSegment;
  /** Number of the version in its segment. */
  number: number;
}

/** The page that the directory's object would answer: in order of name and version. */
export function listFromView(view: DirectoryView, query: VersionQuery): FoundVersion[] {
  const { after, limit } = query;
  const heads = view.segments.map((segment) => {
    const columns = segment.form(versionColumns);
    return { segment, columns, at: firstFrom(columns.names, after.name) };
  });
  const found: FoundVersion[] = [];
  while (found.length < limit) {
    let next: (typeof heads)[number] | undefined;
    for (const head of heads) {
      const name = head.columns.names[head.at];
      if (name === undefined) continue;
      if (next === undefined || name < (next.columns.names[next.at] ?? "")) next = head;
    }
    if (next === undefined) break;
    addVersions(found, next.segment, next.columns, next.at, query);
    next.at += 1;
  }
  return found;
}

function addVersions(
  found: FoundVersion[],
  view: ViewSegment,
  columns: VersionColumns,
  at: number,
  { search, updatedSince, version: wanted, includeDeleted, after, limit }: VersionQuery,
): void {
  const place = columns.places[at] ?? 0;
  if (!view.isLive(place)) return;
  const name = columns.names[at] ?? "";
  const since = updatedSince === undefined ? Number.NEGATIVE_INFINITY : Date.parse(updatedSince);
  const isNamed = search === undefined || name.toLowerCase().includes(search);
  const [start, end] = view.segment.versionsOf(place);
  for (let number = start; number < end && found.length < limit; number += 1) {
    if (!isNamed && !columns.descriptions[number]?.includes(search)) continue;
    if (!((columns.updated[number] ?? 0) > since)) continue;
    const { isDerived: _, description: __, ...header } = view.segment.versionAt(number);
    // With `latest` there is one version per server, so the name alone is the position.
    if (name === after.name && (wanted === "latest" || header.version <= after.version)) continue;
    if (wanted === "latest" ? !header.isLatest : wanted !== undefined && header.version !== wanted) continue;
    if (!includeDeleted && header.status === "deleted") continue;
    found.push({ name, ...header, entry: view.segment.entry(place), in: view, number });
  }
}

/** All versions of a server, newest first. */
export function versionsFromView(view: DirectoryView, server: ServerRef, includeDeleted: boolean): FoundVersion[] {
  const name = `${server.tenant}/${server.name}`;
  for (const segment of view.segments) {
    const columns = segment.form(versionColumns);
    const at = firstFrom(columns.names, name);
    if (columns.names[at] !== name || !segment.isLive(columns.places[at] ?? 0)) continue;
    const found: FoundVersion[] = [];
    const all = { includeDeleted, after: { name: "", version: "" }, limit: Number.POSITIVE_INFINITY };
    addVersions(found, segment, columns, at, all);
    return found.sort((a, b) => b.sequence - a.sequence);
  }
  return [];
}

/** The first name that is not before this one. */
function firstFrom(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((names[middle] ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
