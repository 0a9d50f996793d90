import type { Segment } from "../directory/segment.ts";
import type { DirectoryView } from "../directory/view.ts";
import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { CatalogEntry } from "../registry/summary.ts";
import type { CatalogCounts } from "./contract.ts";

/** Of an entry and the texts made of it, for each character that the segment has of it. */
const bytesPerCharacter = 6;
const bytesBeside = 500;
/** Filters of one view whose counts are kept, and pages of one view whose entries are. */
const maxCounted = 32;
const maxSelected = 32;

/** What pages are made of again and again: entries that were decoded from segments, and counts of a view. */
export class EntryCache {
  readonly #entries: MemoryCache<CatalogEntry>;
  readonly #numbers = new WeakMap<Segment, number>();
  readonly #counts = new WeakMap<DirectoryView, Map<string, CatalogCounts | undefined>>();
  readonly #selected = new WeakMap<DirectoryView, Map<string, CatalogEntry[]>>();
  #segments = 0;

  constructor(memory: MemoryBudget) {
    this.#entries = memory.cache("catalogue entries");
  }

  /** The entry of a place, decoded once. Callers must not change it. */
  entry(segment: Segment, place: number): CatalogEntry | undefined {
    const key = `${this.#numberOf(segment)} ${place}`;
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry = segment.entry(place);
    if (entry !== undefined) {
      this.#entries.set(key, entry, bytesBeside + bytesPerCharacter * (segment.entryText(place)?.length ?? 0));
    }
    return entry;
  }

  /** What was counted of a view, by what was asked. */
  counted(view: DirectoryView, key: string, count: () => CatalogCounts | undefined): CatalogCounts | undefined {
    return keptOf(this.#counts, view, key, maxCounted, count);
  }

  /** The entries of a page of a view, by what was asked: pages differ in the fields that they show. */
  selected(view: DirectoryView, key: string, select: () => CatalogEntry[]): CatalogEntry[] {
    return keptOf(this.#selected, view, key, maxSelected, select);
  }

  /** A segment has no name of its own: one from RPC is in no store. */
  #numberOf(segment: Segment): number {
    const known = this.#numbers.get(segment);
    if (known !== undefined) return known;
    this.#segments += 1;
    this.#numbers.set(segment, this.#segments);
    return this.#segments;
  }
}

function keptOf<T>(
  all: WeakMap<DirectoryView, Map<string, T>>,
  view: DirectoryView,
  key: string,
  most: number,
  make: () => T,
): T {
  let known = all.get(view);
  if (known === undefined) {
    known = new Map();
    all.set(view, known);
  }
  if (known.has(key)) return known.get(key) as T;
  const made = make();
  if (known.size === most) known.clear();
  known.set(key, made);
  return made;
}
