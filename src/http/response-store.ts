import { BoundedCache } from "../kernel/bounded-cache.ts";
import type { Usage } from "../kernel/platform/usage.ts";

/** A whole answer, ready to be sent again to the same caller with the same question. */
export interface CachedResponse {
  /** As the metrics name it. */
  route: string;
  /** All of the body, or what stands before and behind the id of a message; absent while only the tag was asked for. */
  body: Uint8Array | { before: string; behind: string } | undefined;
  /** Built once: copying them costs a fraction of building them. */
  headers: Headers;
  /** For a caller who has it already. Without a body, one and the same response can be sent any number of times. */
  unchanged?: { etag: string; headers: Headers; response: Response };
  /** Who asked; absent for whoever has no token. */
  subject?: string;
  /** Milliseconds since the epoch: how long the caller is taken at their word. */
  until: number;
  /** Whether all that it was made from is in memory, and the same, at this moment. */
  holds: () => boolean;
}

const memoryBytes = 16 * 1024 * 1024;
/** Headers, keys and what holds them together, roughly. */
const overhead = 2_048;

/**
 * Answers of this isolate by who asked what. One is kept after it was made the long way, with every check made; while
 * the same caller asks the same and nothing it depends on has moved, it is sent again without making any of it anew.
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

  find(key: string, now: number): CachedResponse | undefined {
    const answer = this.#memory.get(key);
    if (answer === undefined) return undefined;
    if (answer.until > now && answer.holds()) {
      this.#operations.memory += 1;
      return answer;
    }
    this.#memory.delete(key);
    return undefined;
  }

  keep(key: string, answer: CachedResponse): void {
    this.#memory.set(key, answer, sizeOf(answer) + 2 * key.length + overhead);
  }
}

function sizeOf({ body }: CachedResponse): number {
  if (body === undefined) return 0;
  return body instanceof Uint8Array ? body.byteLength : 2 * (body.before.length + body.behind.length);
}
