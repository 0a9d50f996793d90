import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { TenantKey } from "../kernel/names.ts";
import { logStorageError } from "../kernel/platform/cache-api.ts";
import { readJson } from "../kernel/read-json.ts";

/** Ids that the platform signs; and UUIDs, of hooks that an earlier release registered. */
export const hookIdPattern = /^(?:[0-9a-f]{64}|[0-9a-f-]{36})$/;

interface Options {
  kv: Pick<KVNamespace, "get" | "put">;
  memory: MemoryBudget;
  now: () => number;
  keepAlive: (promise: Promise<unknown>) => void;
  create: () => string;
  isIssued: (id: string) => boolean;
  /** Asks the tenant's object for the ids of its hooks that the platform did not sign. */
  ask: (tenant: TenantKey) => Promise<string[]>;
}

/** How long the list of a tenant is kept in memory, and in KV. It only becomes shorter, unless an earlier release runs. */
const inMemoryMs = 60_000;
const inKvSeconds = 3_600;

/**
 * Tells which ids can be a hook's, so that a made-up one wakes no tenant's object. Ids are signed by the platform. Other
 * ids are those of hooks that were registered before that: the object lists them, at most once an hour, in KV.
 */
export class HookIds {
  readonly #options: Options;
  readonly #lists: MemoryCache<{ ids: readonly string[]; until: number }>;

  constructor(options: Options) {
    this.#options = options;
    this.#lists = options.memory.cache("older hooks");
  }

  create(): string {
    return this.#options.create();
  }

  async mayExist(tenant: TenantKey, id: string): Promise<boolean> {
    return this.#options.isIssued(id) || (await this.#others(tenant)).includes(id);
  }

  async #others(tenant: TenantKey): Promise<readonly string[]> {
    const { kv, now, ask, keepAlive } = this.#options;
    const known = this.#lists.get(tenant);
    if (known !== undefined && known.until > now()) return known.ids;
    const key = `hooks/${tenant}`;
    // Where KV cannot be read, the object is asked.
    const stored = await kv.get(key).catch((cause) => logStorageError("KV read", cause) ?? null);
    const ids = stored === null ? await ask(tenant) : (readJson(stored) as string[]);
    if (stored === null) {
      const put = kv.put(key, JSON.stringify(ids), { expirationTtl: inKvSeconds });
      keepAlive(put.catch((cause) => logStorageError("KV write", cause)));
    }
    this.#lists.set(tenant, { ids, until: now() + inMemoryMs }, 2 * key.length + 80 * ids.length);
    return ids;
  }
}
