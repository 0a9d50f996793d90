interface Entry<V> {
  value: V;
  size: number;
  /** Asked for since it was last passed over. */
  used: boolean;
}

/**
 * Entries that nobody asked for leave first, once the sizes of all add up to more than the capacity. Asking only leaves
 * a mark: keeping the entries in order of their last use would cost more than what most of them save. Who has a mark is
 * passed over once, and loses it.
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
    // What is moved to the end is met again, without its mark.
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
