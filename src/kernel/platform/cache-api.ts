import type { Usage } from "./usage.ts";

/** The Cache API methods in use, so that tests can give each Worker its own data centre. */
export type EdgeCache = Pick<Cache, "match" | "put">;

/**
 * Stores JSON in the Cache API under the registry's own keys. The Cache API ignores `Vary` and tokens, so every key
 * contains the tenant, and a response made for one caller is never stored.
 */
export class CacheApi {
  readonly #cache: EdgeCache;
  readonly #keysBelow: string;
  readonly #operations: Usage;

  /** `keysBelow` is the URL that all keys start with. */
  constructor(cache: EdgeCache, keysBelow: string, operations: Usage) {
    this.#cache = cache;
    this.#keysBelow = keysBelow;
    this.#operations = operations;
  }

  async read(key: string): Promise<string | undefined> {
    this.#operations.cacheReads += 1;
    try {
      const response = await this.#cache.match(this.#urlOf(key));
      return await response?.text();
    } catch (cause) {
      return logStorageError("cache read", cause);
    }
  }

  async write(key: string, text: string, maxAgeSeconds: number): Promise<void> {
    this.#operations.cacheWrites += 1;
    const headers = { "Content-Type": "application/json", "Cache-Control": `max-age=${maxAgeSeconds}` };
    try {
      await this.#cache.put(this.#urlOf(key), new Response(text, { headers }));
    } catch (cause) {
      logStorageError("cache write", cause);
    }
  }

  /** The same for bytes. */
  async readBytes(key: string): Promise<Uint8Array | undefined> {
    this.#operations.cacheReads += 1;
    try {
      const response = await this.#cache.match(this.#urlOf(key));
      return response === undefined ? undefined : new Uint8Array(await response.arrayBuffer());
    } catch (cause) {
      return logStorageError("cache read", cause);
    }
  }

  async writeBytes(key: string, bytes: Uint8Array, maxAgeSeconds: number): Promise<void> {
    this.#operations.cacheWrites += 1;
    const headers = { "Content-Type": "application/octet-stream", "Cache-Control": `max-age=${maxAgeSeconds}` };
    try {
      await this.#cache.put(this.#urlOf(key), new Response(bytes, { headers }));
    } catch (cause) {
      logStorageError("cache write", cause);
    }
  }

  #urlOf(key: string): string {
    return `${this.#keysBelow}/1/${key.split("/").map(encodeURIComponent).join("/")}`;
  }
}

/** Logs the error and returns undefined: a failed layer counts as a miss, and the next layer is read. */
export function logStorageError(layer: string, cause: unknown): undefined {
  console.error(JSON.stringify({ event: "storage", layer, cause: String(cause) }));
}
