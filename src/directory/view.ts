import type { DirectoryState } from "../http/directory-state.ts";
import { compareServers, type ServerRef } from "../kernel/names.ts";
import type { CatalogEntry } from "../registry/summary.ts";
import type { Segment } from "./segment.ts";

/**
 * A compact form of a segment that a room keeps in memory: postings and weights for ranking, an order for lists. Built
 * once for each segment, in the background, before a view has the segment; dropped with it.
 */
export interface SegmentForm<Form> {
  /** Name in the metrics. */
  readonly name: string;
  /** Pure. Must not keep rows or texts that the segment can give. */
  build(segment: Segment): Form;
  /** Approximate size, counted against the memory for the directory. */
  bytesOf(form: Form): number;
}

/** A segment in memory with the forms that rooms registered. */
export interface LoadedSegment {
  readonly segment: Segment;
  readonly forms: ReadonlyMap<string, unknown>;
  /** With its forms. */
  readonly bytes: number;
  /** Key of a chunk of documents; undefined if the documents are in the segment itself. */
  readonly chunkKey?: (chunk: number) => string;
}

/** A segment as one view sees it. */
export interface ViewSegment {
  readonly segment: Segment;
  readonly loaded: LoadedSegment;
  /** False if a newer segment of the view replaces the place: none of its rows may be shown. */
  isLive(place: number): boolean;
  /** True if every place is live, so that nobody needs to check each. */
  readonly isWhole: boolean;
  /** 1 for each place that is not live; undefined if all are. The same array in another view: the same places. */
  readonly dead: Uint8Array | undefined;
  form<Form>(form: SegmentForm<Form>): Form;
}

/** A place of a view: `segment.entry(place)`, `segment.cardsOf(place)` … */
export interface FoundPlace {
  segment: Segment;
  place: number;
}

/**
 * Everything public at one generation, in memory. Immutable: a reader who holds a view may use it to the end of the
 * request, and may keep what it worked out of it by view (`WeakMap<DirectoryView, …>`).
 */
export class DirectoryView implements DirectoryState {
  readonly epoch: string;
  readonly generation: number;
  /** Newest first. */
  readonly segments: readonly ViewSegment[];

  /** `loaded` is oldest first. `before` is a view of an earlier state with the same root: what it found out is used again. */
  constructor({ epoch, generation }: DirectoryState, loaded: readonly LoadedSegment[], before?: DirectoryView) {
    this.epoch = epoch;
    this.generation = generation;
    this.segments = withLiveness(loaded, before?.segments ?? []);
  }

  /** The newest state of a server; undefined if it is not public. A server with many cards is continued elsewhere. */
  find(server: ServerRef): FoundPlace | undefined {
    for (const { segment } of this.segments) {
      const place = segment.findPlace(server);
      if (place !== undefined && segment.partOf(place) === 0) return { segment, place };
    }
    return undefined;
  }

  entry(server: ServerRef): CatalogEntry | undefined {
    const found = this.find(server);
    return found?.segment.entry(found.place);
  }
}

interface Range {
  first: ServerRef;
  last: ServerRef;
}

/**
 * `loaded` is oldest first; the result newest first. Segments of `before` are compared with new ones only: what hid a place
 * then is still there, or is part of a newer segment.
 */
function withLiveness(loaded: readonly LoadedSegment[], before: readonly ViewSegment[]): ViewSegment[] {
  const known = new Map(before.map((segment) => [segment.loaded, segment]));
  const ranges = loaded.map(({ segment }) => rangeOf(segment));
  const dead = loaded.map((one) => known.get(one)?.dead);
  const marks = new Set<number>();
  const mark = (at: number, place: number) => {
    const marked = dead[at]?.[place] === 1;
    if (marked) return;
    // What another view has is copied once, and only if something changes.
    const own = marks.has(at) ? (dead[at] as Uint8Array) : new Uint8Array(loaded[at]?.segment.places ?? 0);
    if (!marks.has(at)) own.set(dead[at] ?? []);
    own[place] = 1;
    dead[at] = own;
    marks.add(at);
  };
  loaded.forEach((one, newer) => {
    const { segment } = one;
    const range = ranges[newer];
    const isCompared = (at: number) => !known.has(one) || !known.has(loaded[at] as LoadedSegment);
    const older =
      range === undefined
        ? []
        : ranges.flatMap((other, at) => (at < newer && isCompared(at) && meet(range, other) ? [at] : []));
    if (older.length === 0) return;
    for (let place = 0; place < segment.places; place += 1) {
      // A continuation hides nothing: the first part of the same write does.
      if (segment.partOf(place) > 0) continue;
      const server = segment.placeAt(place);
      for (const at of older) {
        if (!meet({ first: server, last: server }, ranges[at])) continue;
        const hidden = loaded[at]?.segment.findPlace(server);
        if (hidden !== undefined) mark(at, hidden);
      }
    }
  });
  return loaded.map((item, at) => viewSegment(item, dead[at])).reverse();
}

function viewSegment(loaded: LoadedSegment, dead: ViewSegment["dead"]): ViewSegment {
  return {
    segment: loaded.segment,
    loaded,
    isWhole: dead === undefined,
    dead,
    isLive: dead === undefined ? () => true : (place) => dead[place] !== 1,
    form: <Form>({ name }: SegmentForm<Form>) => {
      const built = loaded.forms.get(name);
      if (built === undefined) throw new Error(`no form ${name} is registered`);
      return built as Form;
    },
  };
}

function rangeOf(segment: Segment): Range | undefined {
  if (segment.places === 0) return undefined;
  return { first: segment.placeAt(0), last: segment.placeAt(segment.places - 1) };
}

function meet(a: Range, b: Range | undefined): boolean {
  return b !== undefined && compareServers(a.first, b.last) <= 0 && compareServers(b.first, a.last) <= 0;
}
