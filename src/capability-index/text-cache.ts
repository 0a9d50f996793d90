import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { IndexText } from "./text.ts";

const keptMs = 60_000;

/**
 * In-memory cache of index texts. The key contains owner, audience and version; the caller must check permission first.
 */
export class IndexTextCache {
  readonly #texts: MemoryCache<{ rendered: IndexText; until: number }>;
  readonly #now: () => number;
  /** Token counts by block key: unchanged blocks recur in the next index. */
  readonly #counts: MemoryCache<number>;

  constructor(memory: MemoryBudget, now: () => number) {
    this.#texts = memory.cache("index texts");
    this.#counts = memory.cache("index token counts");
    this.#now = now;
  }

  get(key: string): IndexText | undefined {
    const entry = this.#texts.get(key);
    return entry !== undefined && entry.until > this.#now() ? entry.rendered : undefined;
  }

  set(key: string, rendered: IndexText): void {
    // A character takes up to two bytes in memory.
    this.#texts.set(key, { rendered, until: this.#now() + keptMs }, 2 * rendered.text.length);
  }

  countOf(key: string): number | undefined {
    return this.#counts.get(key);
  }

  setCount(key: string, tokens: number): void {
    this.#counts.set(key, tokens, 0);
  }
}
