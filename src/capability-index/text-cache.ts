import { BoundedCache } from "../kernel/bounded-cache.ts";
import type { IndexText } from "./text.ts";

/** Cache size per isolate, and lifetime of an entry. */
const memoryBytes = 24 * 1024 * 1024;
const keptMs = 60_000;

/** Cached token counts per isolate. */
const rememberedCounts = 20_000;

/**
 * In-memory cache of index texts. The key contains owner, audience and version; the caller must check permission first.
 */
export class IndexTextCache {
  readonly #texts = new BoundedCache<{ rendered: IndexText; until: number }>(memoryBytes);
  readonly #now: () => number;
  /** Token counts by block key: unchanged blocks recur in the next index. */
  readonly counts = new BoundedCache<number>(rememberedCounts);

  constructor(now: () => number) {
    this.#now = now;
  }

  get(key: string): IndexText | undefined {
    const entry = this.#texts.get(key);
    return entry !== undefined && entry.until > this.#now() ? entry.rendered : undefined;
  }

  set(key: string, rendered: IndexText): void {
    // A character takes up to two bytes in memory.
    this.#texts.set(key, { rendered, until: this.#now() + keptMs }, 2 * (rendered.text.length + key.length));
  }
}
