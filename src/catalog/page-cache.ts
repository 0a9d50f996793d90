import { BoundedCache } from "../kernel/bounded-cache.ts";

/** A page of the catalogue as it is sent. */
export interface CatalogPage {
  body: string;
  etag: string;
  /** The directory's generation that it is of. */
  generation: number;
}

const freshMs = 2_000;
/** Bytes of pages that an isolate keeps; a character counts as two. */
const memoryBytes = 8 * 1024 * 1024;

/**
 * Pages of the catalogue, by who asked for what. One is as good as new for two seconds, and afterwards for as long as the
 * directory says that its generation is still the present one.
 */
export class CatalogPages {
  readonly #now: () => number;
  #memory = new BoundedCache<{ page: CatalogPage; at: number }>(memoryBytes);
  #cleared = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get bytes(): number {
    return this.#memory.size;
  }

  find(key: string): { page: CatalogPage; fresh: boolean } | undefined {
    const kept = this.#memory.get(key);
    return kept && { page: kept.page, fresh: this.#now() - kept.at <= freshMs };
  }

  /** Taken before the directory is asked: a page read before a write must not be kept after it. */
  writeVersion(): number {
    return this.#cleared;
  }

  keep(key: string, page: CatalogPage, writeVersion: number): void {
    if (writeVersion !== this.#cleared) return;
    this.#memory.set(key, { page, at: this.#now() }, 2 * (key.length + page.body.length));
  }

  /** Something was written through this isolate, and whoever wrote it must see it. */
  clear(): void {
    this.#cleared += 1;
    this.#memory = new BoundedCache(memoryBytes);
  }
}
