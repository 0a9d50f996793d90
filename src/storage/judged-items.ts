import type { DescribedItem } from "../domain/described-item.ts";
import type { ItemMemo } from "../domain/item-memo.ts";
import { BoundedCache } from "./bounded-cache.ts";

/**
 * Items that this isolate found valid, with what it worked out about them. Each tenant has its own: how long a publish
 * takes must not tell one what another has.
 */
export class JudgedItems {
  readonly #items: BoundedCache<DescribedItem>;

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
