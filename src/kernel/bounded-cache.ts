interface Entry<V> {
  value: V;
  size: number;
  /** Read since the eviction loop last visited the entry. */
  used: boolean;
}

/**
 * Cache with a limit on the total size and second-chance eviction: from the oldest on, entries that were not read since
 * the last visit are evicted; an entry that was read loses its mark and moves to the end. A read only sets the mark:
 * keeping the exact order of last use would cost more than most cached entries save.
 */
export class BoundedCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #capacity: number;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  set(key: string, value: V, size = 1): void {
    this.delete(key);
    if (size > this.#capacity) return;
    const entry = { value, size, used: false };
    this.#entries.set(key, entry);
    this.#size += size;
    // The loop visits entries moved to the end again, now without their mark.
    for (const [oldest, met] of this.#entries) {
      if (this.#size <= this.#capacity) break;
      if (met === entry) {
        this.#entries.delete(key);
        this.#entries.set(key, entry);
      } else if (met.used) {
        met.used = false;
        this.#entries.delete(oldest);
        this.#entries.set(oldest, met);
      } else this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#size -= entry.size;
    this.#entries.delete(key);
  }
}
