import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";

interface StoredPage {
  body: Uint8Array;
  headers: Record<string, string>;
  /** True while the data that the page shows is in memory and unchanged. */
  holds: () => boolean;
}

/** Pages as sent to visitors who are not signed in, by URL. Nothing else is ever stored here. */
export class PageStore {
  readonly #pages: MemoryCache<StoredPage>;

  constructor(memory: MemoryBudget) {
    this.#pages = memory.cache("pages", { share: 1 / 8 });
  }

  find(url: string): StoredPage | undefined {
    const page = this.#pages.get(url);
    return page?.holds() ? page : undefined;
  }

  put(url: string, page: StoredPage): void {
    this.#pages.set(url, page, page.body.byteLength + 1_024);
  }
}
