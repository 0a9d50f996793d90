/** Something that holds memory and can let it go. */
interface Held {
  readonly bytes: number;
  drop(): void;
}

/**
 * Memory for the indexes of objects in this isolate: an index is kept while it is asked. Those that were not asked for
 * longest are dropped when together they take more than the capacity. The one that is asked now is kept in any case: to
 * build it for each search would take far longer than the search.
 */
export class IndexMemory {
  readonly #held = new Map<Held, number>();
  #bytes = 0;

  /** For the budget that it is a part of. */
  get usage(): { entries: number; bytes: number } {
    return { entries: this.#held.size, bytes: this.#bytes };
  }

  /** Call after each use of an index. */
  used(index: Held, capacity: number): void {
    this.release(index);
    this.#held.set(index, index.bytes);
    this.#bytes += index.bytes;
    for (const [other] of this.#held) {
      if (this.#bytes <= capacity || other === index) return;
      this.release(other);
      other.drop();
    }
  }

  release(index: Held): void {
    this.#bytes -= this.#held.get(index) ?? 0;
    this.#held.delete(index);
  }
}

/** Shared by the objects of this isolate, and counted by the Worker's budget where it runs in the same one. */
export const objectIndexes = new IndexMemory();
