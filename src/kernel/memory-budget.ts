/** Approximate size of an entry besides its key and value: the objects and table slots around it. */
const entryOverhead = 200;

interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly bytes: number;
  /** Place in the order of all entries of the budget. */
  at: number;
  /** Read since the eviction loop last visited the entry. */
  used: boolean;
  older?: Entry | undefined;
  newer?: Entry | undefined;
}

/** What one cache holds. */
export interface CacheUsage {
  entries: number;
  bytes: number;
}

/** The part of a budget that something outside its caches may take. */
export const maxLent = 1 / 3;

interface Limits {
  /** Part of the budget that the cache may fill. */
  share?: number;
  /** Part of the budget that other caches cannot take from it: for entries that more than speed depends on. */
  reserved?: number;
}

/**
 * The memory that all caches of an isolate share. Second-chance eviction across them: from the oldest entry on, an entry
 * that was read since the last visit becomes the newest once, any other is evicted. So a cache that is asked much grows
 * at the expense of one that is not, within its share, and together they stay within the capacity.
 */
export class MemoryBudget {
  /** In bytes. */
  readonly capacity: number;
  readonly #caches = new Map<string, MemoryCache<never>>();
  readonly #lent = new Map<string, () => CacheUsage>();
  #reserved = 0;
  #added = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** A new cache within the budget. `name` is its name in the metrics. */
  cache<V>(name: string, { share = 1 / 2, reserved = 0 }: Limits = {}): MemoryCache<V> {
    if (this.#caches.has(name)) throw new Error(`there is a cache ${name} already`);
    this.#reserved += reserved;
    if (this.#reserved > 1 / 2) throw new Error("more than half of the memory is reserved");
    const cache = new MemoryCache<V>({
      maxBytes: share * this.capacity,
      reservedBytes: reserved * this.capacity,
      // One entry of this size would push out nearly everything else.
      maxEntryBytes: Math.min(1 / 4, share) * this.capacity,
      nextPlace: () => {
        this.#added += 1;
        return this.#added;
      },
      makeRoom: (added) => this.#makeRoom(added),
    });
    this.#caches.set(name, cache as MemoryCache<never>);
    return cache;
  }

  /** Counts memory that something else holds and lets go by itself: the caches have so much less. */
  lend(name: string, used: () => CacheUsage): void {
    this.#lent.set(name, used);
  }

  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#caches.values()) sum += bytes;
    // At most this part, so that there is always room for an entry and for what is reserved.
    for (const used of this.#lent.values()) sum += Math.min(used().bytes, maxLent * this.capacity);
    return sum;
  }

  /** Each cache by name. */
  usage(): Record<string, CacheUsage> {
    const lent = Array.from(this.#lent, ([name, used]) => [name, used()] as const);
    const caches = Array.from(this.#caches, ([name, { entries, bytes }]) => [name, { entries, bytes }] as const);
    return Object.fromEntries([...caches, ...lent]);
  }

  #makeRoom(added: Entry): void {
    while (this.bytes > this.capacity) {
      let oldest: MemoryCache<never> | undefined;
      for (const cache of this.#caches.values()) {
        if (cache.isTakenFrom && cache.oldestPlace < (oldest?.oldestPlace ?? Number.POSITIVE_INFINITY)) oldest = cache;
      }
      if (oldest === undefined) throw new Error("the memory budget is exceeded by reserved memory");
      oldest.visitOldest(added);
    }
  }
}

interface Accounting {
  maxBytes: number;
  reservedBytes: number;
  maxEntryBytes: number;
  nextPlace(): number;
  makeRoom(added: Entry): void;
}

/** A cache within a `MemoryBudget`. Any entry may be evicted whenever any cache of the budget stores something. */
export class MemoryCache<V> {
  readonly #entries = new Map<string, Entry>();
  readonly #accounting: Accounting;
  // A linked list: a new iterator of a Map steps over every slot that a deleted entry left behind, and an iterator that
  // is kept holds on to every table that the Map has outgrown, with the entries that were in it.
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
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
    const { maxEntryBytes, maxBytes, makeRoom } = this.#accounting;
    if (!(bytes >= entryOverhead && bytes <= maxEntryBytes)) return;
    const entry: Entry = { key, value, bytes, at: 0, used: false };
    this.#entries.set(key, entry);
    this.#bytes += bytes;
    this.#append(entry);
    while (this.#bytes > maxBytes) this.visitOldest(entry);
    makeRoom(entry);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#unlink(entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
    this.#oldest = undefined;
    this.#newest = undefined;
  }

  /** True if other caches may push out entries of this one. */
  get isTakenFrom(): boolean {
    return this.#bytes > this.#accounting.reservedBytes;
  }

  /** Place of the oldest entry in the order of the budget. */
  get oldestPlace(): number {
    return this.#oldest?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Evicts the oldest entry, or makes it the newest if it was read or just added. */
  visitOldest(added: Entry): void {
    const entry = this.#oldest;
    if (entry === undefined) return;
    if (entry !== added && !entry.used) this.delete(entry.key);
    else {
      entry.used = false;
      this.#unlink(entry);
      this.#append(entry);
    }
  }

  #append(entry: Entry): void {
    entry.at = this.#accounting.nextPlace();
    entry.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry): void {
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    entry.older = undefined;
    entry.newer = undefined;
  }
}
