import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { TenantKey } from "../kernel/names.ts";
import { freshMs } from "../kernel/platform/freshness.ts";
import type { AsOf } from "../registry/contract.ts";
import type { SearchState, SearchTenant } from "./contract.ts";

interface TenantStatesOptions {
  memory: MemoryBudget;
  now: () => number;
  /** Number of writes through this isolate. */
  writes: () => number;
  tenant: (key: TenantKey) => Pick<SearchTenant, "searchState">;
}

/**
 * Whether all that tenants have is public and in the directory: then their members' searches need not ask them. What a
 * tenant said counts for two seconds, and not past a write of it through this isolate.
 */
export class TenantStates {
  readonly #options: TenantStatesOptions;
  readonly #states: MemoryCache<{ state: AsOf<SearchState>; at: number }>;

  constructor(options: TenantStatesOptions) {
    this.#options = options;
    this.#states = options.memory.cache("tenant states");
  }

  async of(tenant: TenantKey): Promise<AsOf<SearchState>> {
    const { now, writes } = this.#options;
    const known = this.#states.get(tenant);
    if (known !== undefined && now() - known.at <= freshMs) return known.state;
    const [at, before] = [now(), writes()];
    const state = await this.#options.tenant(tenant).searchState();
    if (writes() === before) this.#states.set(tenant, { state, at }, 200);
    return state;
  }

  /** Call after a write of the tenant through this isolate. */
  forget(tenant: TenantKey): void {
    this.#states.delete(tenant);
  }
}
