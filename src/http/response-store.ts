import { BoundedCache } from "../kernel/bounded-cache.ts";
import type { Usage } from "../kernel/platform/usage.ts";

/** A complete response, ready to be sent again to the same caller for the same request. */
export interface CachedResponse {
  /** Route name in the metrics. */
  route: string;
  /** The whole body, or the text before and after the id of a JSON-RPC message; undefined if only a 304 can be sent. */
  body: Uint8Array | { before: string; behind: string } | undefined;
  /** Built once: copying Headers costs a fraction of building them. */
  headers: Headers;
  /** The 304. It has no body, so the same Response can be sent any number of times. */
  notModified?: { etag: string; headers: Headers; response: Response };
  /** Subject of the token; absent for a caller without a token. */
  subject?: string;
  /** Epoch milliseconds until which the caller's authentication is cached. */
  until: number;
  /** True while everything the response was made from is in memory and unchanged. */
  isValid: () => boolean;
}

const memoryBytes = 16 * 1024 * 1024;
/** Approximate size of headers, keys and the objects around them. */
const overhead = 2_048;

/**
 * Responses of this isolate, by caller and request. A response is stored after the app made it with every check; while
 * the same caller sends the same request and nothing it depends on has changed, it is sent again as it is.
 */
export class ResponseStore {
  readonly #memory = new BoundedCache<CachedResponse>(memoryBytes);
  readonly #operations: Usage;

  constructor(operations: Usage) {
    this.#operations = operations;
  }

  get bytes(): number {
    return this.#memory.size;
  }

  get(key: string, now: number): CachedResponse | undefined {
    const answer = this.#memory.get(key);
    if (answer === undefined) return undefined;
    if (answer.until > now && answer.isValid()) {
      this.#operations.memory += 1;
      return answer;
    }
    this.#memory.delete(key);
    return undefined;
  }

  put(key: string, answer: CachedResponse): void {
    this.#memory.set(key, answer, sizeOf(answer) + 2 * key.length + overhead);
  }
}

function sizeOf({ body }: CachedResponse): number {
  if (body === undefined) return 0;
  return body instanceof Uint8Array ? body.byteLength : 2 * (body.before.length + body.behind.length);
}
