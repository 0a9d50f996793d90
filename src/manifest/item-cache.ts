import { BoundedCache } from "../kernel/bounded-cache.ts";
import type { ItemAnalysis } from "./describe.ts";
import type { SectionName } from "./schema/manifest.ts";

/**
 * Items that were valid before, with what was worked out about them. The same text under the same rules has the same
 * outcome, so a manifest in which one tool changed is work for one tool.
 */
export interface ItemMemo {
  get(key: string): ItemAnalysis | undefined;
  set(key: string, item: ItemAnalysis, size: number): void;
}

/** The whole text, so that nobody can make one item pass for another. */
export function itemCacheKey(section: SectionName, item: unknown): string {
  return `${section} ${JSON.stringify(item)}`;
}

/** What an item takes in memory with its key, at most: a character is one byte or two. */
export function memoSize(key: string, { text, mentions, attributes, flags }: ItemAnalysis): number {
  const words = JSON.stringify([mentions, attributes, flags]);
  return 512 + 2 * (key.length + text.length + words.length);
}

/**
 * Items that this isolate found valid, with what it worked out about them. Each tenant has its own: how long a publish
 * takes must not tell one what another has.
 */
export class ItemCache {
  readonly #items: BoundedCache<ItemAnalysis>;

  constructor(bytes: number) {
    this.#items = new BoundedCache(bytes);
  }

  get bytes(): number {
    return this.#items.size;
  }

  of(tenant: string): ItemMemo {
    return {
      get: (key) => this.#items.get(`${tenant} ${key}`),
      set: (key, item, size) => this.#items.set(`${tenant} ${key}`, item, size),
    };
  }
}
