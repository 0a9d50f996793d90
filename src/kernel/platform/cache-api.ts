import type { Usage } from "./usage.ts";

/** The two verbs of the Cache API that are used, so that tests can give each Worker a data centre of its own. */
export type EdgeCache = Pick<Cache, "match" | "put">;

/**
 * JSON in the Cache API under keys of our own making. The Cache API ignores `Vary` and knows nothing of tokens, so a
 * key always carries the tenant, and what is stored is never a response that was made for a caller.
 */
export class CacheApi {
  readonly #cache: EdgeCache;
  readonly #operations: Usage;

  constructor(cache: EdgeCache, operations: Usage) {
    this.#cache = cache;
    this.#operations = operations;
  }

  async read(key: string): Promise<string | undefined> {
    this.#operations.cacheReads += 1;
    try {
      const response = await this.#cache.match(urlOf(key));
      return await response?.text();
    } catch (cause) {
      return logStorageError("cache read", cause);
    }
  }

  async write(key: string, text: string, maxAgeSeconds: number): Promise<void> {
    this.#operations.cacheWrites += 1;
    const headers = { "Content-Type": "application/json", "Cache-Control": `max-age=${maxAgeSeconds}` };
    try {
      await this.#cache.put(urlOf(key), new Response(text, { headers }));
    } catch (cause) {
      logStorageError("cache write", cause);
    }
  }
}

/** A name that cannot be a route of ours or anyone's: `.invalid` is reserved. */
function urlOf(key: string): string {
  return `https://rollcall.invalid/1/${key.split("/").map(encodeURIComponent).join("/")}`;
}

/** A layer that fails is a layer that has nothing: the next one is asked, and the log says so. */
export function logStorageError(layer: string, cause: unknown): undefined {
  console.error(JSON.stringify({ event: "storage", layer, cause: String(cause) }));
}
