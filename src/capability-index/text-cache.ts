import { BoundedCache } from "../kernel/bounded-cache.ts";
import type { IndexText } from "./text.ts";

/** Bytes of rendered indexes an isolate keeps, and how long it keeps one. */
const memoryBytes = 24 * 1024 * 1024;
const keptMs = 60_000;

/** Blocks whose tokens an isolate remembers. */
const rememberedCounts = 20_000;

/**
 * Capability indexes as text, kept in memory. The key says whose index it is, for whom and as of when: asking for it is
 * only ever half of reading one.
 */
export class IndexTextCache {
  readonly #texts = new BoundedCache<{ rendered: IndexText; until: number }>(memoryBytes);
  readonly #now: () => number;
  /** Tokens of blocks, by what they were made from: the same block is in the next index too. */
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
