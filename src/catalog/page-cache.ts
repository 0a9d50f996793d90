import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";

/** A catalogue page as sent. */
export interface CatalogPage {
  body: string;
  etag: string;
  /** Directory generation of the page. */
  generation: number;
}

const freshMs = 2_000;

/**
 * Catalogue pages, cached by caller and query. A page is fresh for two seconds; after that it is valid while the
 * directory confirms that its generation is still current.
 */
export class CatalogPages {
  readonly #now: () => number;
  readonly #memory: MemoryCache<{ page: CatalogPage; at: number }>;
  #cleared = 0;

  constructor(memory: MemoryBudget, now: () => number) {
    this.#memory = memory.cache("catalogue pages");
    this.#now = now;
  }

  find(key: string): { page: CatalogPage; fresh: boolean } | undefined {
    const kept = this.#memory.get(key);
    return kept && { page: kept.page, fresh: this.#now() - kept.at <= freshMs };
  }

  /** Read this counter before asking the directory; the page is not stored if a write cleared the cache meanwhile. */
  writeVersion(): number {
    return this.#cleared;
  }

  keep(key: string, page: CatalogPage, writeVersion: number): void {
    if (writeVersion !== this.#cleared) return;
    this.#memory.set(key, { page, at: this.#now() }, 2 * page.body.length);
  }

  /** Called after a write through this isolate, so that the writer sees it. */
  clear(): void {
    this.#cleared += 1;
    this.#memory.clear();
  }
}
