import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { ItemAnalysis } from "./describe.ts";
import type { SectionName } from "./schema/manifest.ts";

/**
 * Cache of items that passed validation before, with their analysis. The same text under the same rules gives the same
 * result, so if one tool of a manifest changed, only that tool is processed again.
 */
export interface ItemMemo {
  get(key: string): ItemAnalysis | undefined;
  set(key: string, item: ItemAnalysis, size: number): void;
}

/** The key is the whole text, so that no item can be passed off as another. */
export function itemCacheKey(section: SectionName, item: unknown): string {
  return `${section} ${JSON.stringify(item)}`;
}

/** Upper bound for the memory of an analysis: a character takes one or two bytes. */
export function analysisBytes({ text, mentions, attributes, flags }: ItemAnalysis): number {
  const words = JSON.stringify([mentions, attributes, flags]);
  return 512 + 2 * (text.length + words.length);
}

/**
 * Items that this isolate found valid, with their analysis. Cached per tenant: otherwise the duration of a publish
 * would reveal which items another tenant has.
 */
export class ItemCache {
  readonly #items: MemoryCache<ItemAnalysis>;

  constructor(memory: MemoryBudget) {
    this.#items = memory.cache("analysed items", { share: 1 / 3 });
  }

  of(tenant: string): ItemMemo {
    return {
      get: (key) => this.#items.get(`${tenant} ${key}`),
      set: (key, item, size) => this.#items.set(`${tenant} ${key}`, item, size),
    };
  }
}
