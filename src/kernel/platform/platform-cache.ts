import { logStorageError } from "./cache-api.ts";
import type { Usage } from "./usage.ts";

/**
 * An entrypoint of this Worker with the platform's own cache in front of its `fetch`. The cache is absent in the embedded
 * server, in development, and in a deployment that has it switched off.
 */
export interface CachedEntrypoint {
  fetch(request: Request): Promise<Response>;
  /** Tells the cache in front of this entrypoint to forget everything with one of the tags. */
  purge(tags: string[]): Promise<{ success: boolean; errors: { code: number; message: string }[] }>;
  /**
   * Whether there is such a cache. Only this entrypoint is asked: the one that callers reach has it switched off, and what
   * the platform then tells that one is not documented.
   */
  hasCache(): Promise<boolean>;
}

interface PlatformCacheOptions {
  entrypoint: CachedEntrypoint;
  now: () => number;
  wait: (milliseconds: number) => Promise<unknown>;
  /** Lets a promise settle after the response was sent. */
  keepAlive: (promise: Promise<unknown>) => void;
  usage: Usage;
}

/** The platform takes a few purges a minute from a whole account, so what comes within this time goes in one. */
const gatherMs = 5_000;
/** A purge whose request was cancelled is given up after this time, and the next one takes its tags along. */
const patienceMs = 30_000;
/** The platform's bound for one purge. */
const tagsAtOnce = 100;
const mostPending = 1_000;
/** Requests have room for 128 kB of headers. */
const longestContext = 32_768;

/**
 * Answers that depend on nothing but their path, kept by the platform for every data centre. No promise rests on a purge: paths
 * name the content, so an answer that must not be shown any more is one that nobody asks for. A purge only lets
 * the platform forget the bytes sooner than after a day.
 */
export class PlatformCache {
  readonly #options: PlatformCacheOptions;
  readonly #pending = new Set<string>();
  #purgingSince: number | undefined;
  #isPresent: boolean | undefined;

  constructor(options: PlatformCacheOptions) {
    this.#options = options;
  }

  /**
   * Asked of the entrypoint until it has said so once. Requests that come before that ask by themselves: a request that is
   * cancelled must not leave others waiting for its question.
   */
  async isPresent(): Promise<boolean> {
    if (this.#isPresent === undefined) {
      try {
        this.#isPresent = await this.#options.entrypoint.hasCache();
      } catch (cause) {
        logStorageError("platform cache", cause);
      }
    }
    return this.#isPresent ?? false;
  }

  /**
   * The bytes at a path; undefined if they are not to be had this way. `context` goes along to the entrypoint and is no part of
   * the key: the path must say everything that the answer depends on. No header of the caller goes along, least of all a token.
   */
  async read(path: string, context: string): Promise<Uint8Array | undefined> {
    if (context.length > longestContext || !(await this.isPresent())) return undefined;
    this.#options.usage.cacheReads += 1;
    try {
      // The host is no part of the key and leads nowhere.
      const request = new Request(`https://rollcall.invalid${path}`, { headers: { [contextHeader]: context } });
      const response = await this.#options.entrypoint.fetch(request);
      if (response.status === 200) return new Uint8Array(await response.arrayBuffer());
      await response.body?.cancel();
      return undefined;
    } catch (cause) {
      return logStorageError("platform cache read", cause);
    }
  }

  /** Forgets what has one of the tags, soon. What the platform refuses is tried again with the next purge. */
  purge(tags: readonly string[]): void {
    if (this.#isPresent === false) return;
    for (const tag of tags) this.#pending.add(tag);
    // The oldest go first; their answers are gone after a day in any case.
    for (const tag of this.#pending) {
      if (this.#pending.size <= mostPending) break;
      this.#pending.delete(tag);
    }
    const { now, keepAlive } = this.#options;
    if (this.#purgingSince !== undefined && now() - this.#purgingSince < patienceMs) return;
    this.#purgingSince = now();
    keepAlive(this.#purgeGathered());
  }

  async #purgeGathered(): Promise<void> {
    const { wait, entrypoint } = this.#options;
    try {
      await wait(gatherMs);
      if (!(await this.isPresent())) return this.#pending.clear();
      while (this.#pending.size > 0) {
        const tags = [...this.#pending].slice(0, tagsAtOnce);
        const { success, errors } = await entrypoint.purge(tags);
        if (!success) {
          const reasons = errors.map(({ code, message }) => `${code} ${message}`);
          return void logStorageError("platform cache purge", reasons.join("; "));
        }
        for (const tag of tags) this.#pending.delete(tag);
      }
    } catch (cause) {
      logStorageError("platform cache purge", cause);
    } finally {
      this.#purgingSince = undefined;
    }
  }
}

/** What goes along with a request beside its path. */
export const contextHeader = "Rollcall-Context";

/** An answer that the platform keeps for a day, and the tags it goes by. */
export function cachedAnswer(body: string, contentType: string, tags: readonly string[]): Response {
  const headers = {
    "Content-Type": contentType,
    "Cache-Control": "public, max-age=86400",
    "Cache-Tag": tags.join(","),
  };
  return new Response(body, { headers });
}

/** An answer that the platform must not keep. Without `no-store` it would keep a 404 for three minutes. */
export function uncachedAnswer(status: number): Response {
  return new Response(null, { status, headers: { "Cache-Control": "no-store" } });
}
