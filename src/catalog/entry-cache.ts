import type { Segment } from "../directory/segment.ts";
import type { DirectoryView } from "../directory/view.ts";
import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { CatalogEntry } from "../registry/summary.ts";
import type { CatalogCounts } from "./contract.ts";

/** Of an entry and the texts made of it, for each character that the segment has of it. */
const bytesPerCharacter = 6;
const bytesBeside = 500;
/** Filters of one view whose counts are kept. */
const maxCounted = 32;

/** What pages are made of again and again: entries that were decoded from segments, and counts of a view. */
export class EntryCache {
  readonly #entries: MemoryCache<CatalogEntry>;
  readonly #numbers = new WeakMap<Segment, number>();
  readonly #counts = new WeakMap<DirectoryView, Map<string, CatalogCounts | undefined>>();
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
    const known = this.#counts.get(view) ?? new Map<string, CatalogCounts | undefined>();
    this.#counts.set(view, known);
    if (!known.has(key)) {
      if (known.size === maxCounted) known.clear();
      known.set(key, count());
    }
    return known.get(key);
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
