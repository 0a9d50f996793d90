import type { DirectoryState } from "../http/directory-state.ts";
import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import { freshMs } from "../kernel/platform/freshness.ts";
import type { CatalogEntry } from "../registry/summary.ts";

/** A catalogue page as sent. */
export interface CatalogPage {
  body: string;
  etag: string;
  /** Of the directory, as the caller sees it. */
  generation: number;
  directory: DirectoryState;
}

/** The first page of everything public: what costs time of it, for callers who see nothing else. */
export interface PublicPage {
  directory: DirectoryState;
  /** One more than the page has, if there is a next page. */
  items: CatalogEntry[];
  content: string;
  etag: string;
}

interface Kept<T> {
  value: T;
  at: number;
}

/**
 * Catalogue pages, cached by caller and query. What the directory's object said is
 * fresh for two seconds; after that a page is valid while the directory confirms that its generation is still current. A page made
 * from the isolate's own copy is valid while both parts of it are.
 */
export class CatalogPages {
  readonly #now: () => number;
  readonly #pages: MemoryCache<Kept<CatalogPage>>;
  readonly #public: MemoryCache<PublicPage>;
  #cleared = 0;

  constructor(memory: MemoryBudget, now: () => number) {
    this.#pages = memory.cache("catalogue pages");
    this.#public = memory.cache("public catalogue pages");
    this.#now = now;
  }

  find(key: string): { page: CatalogPage; fresh: boolean } | undefined {
    const kept = this.#pages.get(key);
    return kept && { page: kept.value, fresh: this.#isFresh(kept) };
  }

  findPublic(key: string, { epoch, generation }: DirectoryState): PublicPage | undefined {
    const page = this.#public.get(key);
    return page?.directory.epoch === epoch && page.directory.generation === generation ? page : undefined;
  }

  keepPublic(key: string, page: PublicPage): void {
    this.#public.set(key, page, 4 * page.content.length);
  }

  /** Read this counter before asking the directory; nothing is stored if a write cleared the cache meanwhile. */
  writeVersion(): number {
    return this.#cleared;
  }

  keep(key: string, page: CatalogPage, writeVersion: number): void {
    if (writeVersion !== this.#cleared) return;
    this.#pages.set(key, { value: page, at: this.#now() }, 2 * page.body.length);
  }

  /** Called after a write through this isolate, so that the writer sees it. */
  clear(): void {
    this.#cleared += 1;
    this.#pages.clear();
  }

  #isFresh({ at }: Kept<unknown>): boolean {
    return this.#now() - at <= freshMs;
  }
}
