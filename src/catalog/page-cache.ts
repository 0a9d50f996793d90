import type { DirectoryState } from "../http/directory-state.ts";
import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { PrivateServers } from "./contract.ts";

/** A catalogue page as sent. */
export interface CatalogPage {
  body: string;
  etag: string;
  /** Of the directory, as the caller sees it. */
  generation: number;
  directory: DirectoryState;
}

const freshMs = 2_000;

interface Kept<T> {
  value: T;
  at: number;
}

/**
 * Catalogue pages, and the private servers of callers, cached by caller and query. What the directory's object said is
 * fresh for two seconds; after that a page is valid while the directory confirms that its generation is still current. A page made
 * from the isolate's own copy is valid while both parts of it are.
 */
export class CatalogPages {
  readonly #now: () => number;
  readonly #pages: MemoryCache<Kept<CatalogPage>>;
  readonly #own: MemoryCache<Kept<PrivateServers>>;
  #cleared = 0;

  constructor(memory: MemoryBudget, now: () => number) {
    this.#pages = memory.cache("catalogue pages");
    this.#own = memory.cache("private servers");
    this.#now = now;
  }

  find(key: string): { page: CatalogPage; fresh: boolean } | undefined {
    const kept = this.#pages.get(key);
    return kept && { page: kept.value, fresh: this.#isFresh(kept) };
  }

  findOwn(key: string): PrivateServers | undefined {
    const kept = this.#own.get(key);
    return kept && this.#isFresh(kept) ? kept.value : undefined;
  }

  /** Read this counter before asking the directory; nothing is stored if a write cleared the cache meanwhile. */
  writeVersion(): number {
    return this.#cleared;
  }

  keep(key: string, page: CatalogPage, writeVersion: number): void {
    if (writeVersion !== this.#cleared) return;
    this.#pages.set(key, { value: page, at: this.#now() }, 2 * page.body.length);
  }

  keepOwn(key: string, own: PrivateServers, writeVersion: number): void {
    if (writeVersion !== this.#cleared) return;
    this.#own.set(key, { value: own, at: this.#now() }, 500 + 2 * JSON.stringify(own.entries ?? []).length);
  }

  /** Called after a write through this isolate, so that the writer sees it. */
  clear(): void {
    this.#cleared += 1;
    this.#pages.clear();
    this.#own.clear();
  }

  #isFresh({ at }: Kept<unknown>): boolean {
    return this.#now() - at <= freshMs;
  }
}
