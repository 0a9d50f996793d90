/** Approximate size of an entry besides its key and value: the objects and table slots around it. */
const entryOverhead = 160;

interface Entry {
  readonly cache: { delete(key: string): void };
  readonly key: string;
  readonly value: unknown;
  readonly bytes: number;
  /** Read since the eviction loop last visited the entry. */
  used: boolean;
}

/** What one cache holds. */
export interface CacheUsage {
  entries: number;
  bytes: number;
}

/**
 * The memory that all caches of an isolate share. Second-chance eviction across them: from the oldest entry on, an entry
 * that was read since the last visit moves to the end once, any other is evicted. So a cache that is asked much grows at
 * the expense of one that is not, and together they stay within the capacity.
 */
export class MemoryBudget {
  /** In bytes. */
  readonly capacity: number;
  readonly #caches = new Map<string, MemoryCache<never>>();
  readonly #entries = new Set<Entry>();
  /** Kept between evictions: a new iterator would step over every slot that an evicted entry left behind. */
  #oldest = this.#entries.values();
  #bytes = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** A new cache within the budget. `name` is its name in the metrics. */
  cache<V>(name: string): MemoryCache<V> {
    if (this.#caches.has(name)) throw new Error(`there is a cache ${name} already`);
    const cache = new MemoryCache<V>({
      // One entry of this size would push out nearly everything else.
      maxEntryBytes: this.capacity / 4,
      added: (entry) => this.#add(entry),
      removed: (entry) => this.#remove(entry),
    });
    this.#caches.set(name, cache as MemoryCache<never>);
    return cache;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Each cache by name. */
  usage(): Record<string, CacheUsage> {
    return Object.fromEntries(Array.from(this.#caches, ([name, { entries, bytes }]) => [name, { entries, bytes }]));
  }

  #add(added: Entry): void {
    this.#entries.add(added);
    this.#bytes += added.bytes;
    while (this.#bytes > this.capacity) {
      const entry = this.#next();
      if (entry !== added && !entry.used) entry.cache.delete(entry.key);
      else {
        entry.used = false;
        this.#entries.delete(entry);
        this.#entries.add(entry);
      }
    }
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry);
    this.#bytes -= entry.bytes;
  }

  #next(): Entry {
    let step = this.#oldest.next();
    if (step.done) {
      this.#oldest = this.#entries.values();
      step = this.#oldest.next();
    }
    if (step.done) throw new Error("the memory budget is exceeded by no entry");
    return step.value;
  }
}

interface Accounting {
  maxEntryBytes: number;
  added(entry: Entry): void;
  removed(entry: Entry): void;
}

/** A cache within a `MemoryBudget`. Any entry may be evicted whenever any cache of the budget stores something. */
export class MemoryCache<V> {
  readonly #entries = new Map<string, Entry>();
  readonly #accounting: Accounting;
  #bytes = 0;

  constructor(accounting: Accounting) {
    this.#accounting = accounting;
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value as V;
  }

  /** `valueBytes` is the approximate size of the value. A value too large for the budget is not stored. */
  set(key: string, value: V, valueBytes: number): void {
    this.delete(key);
    // A character takes up to two bytes.
    const bytes = valueBytes + 2 * key.length + entryOverhead;
    if (bytes > this.#accounting.maxEntryBytes) return;
    const entry: Entry = { cache: this, key, value, bytes, used: false };
    this.#entries.set(key, entry);
    this.#bytes += bytes;
    this.#accounting.added(entry);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#accounting.removed(entry);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }
}
