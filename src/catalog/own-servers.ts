import { reaches } from "../http/directory-state.ts";
import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import { type TenantKey, tenantKey } from "../kernel/names.ts";
import { freshMs } from "../kernel/platform/freshness.ts";
import type { CatalogEntry } from "../registry/summary.ts";
import type { CatalogDirectory, DirectoryAsOf, PrivateServers } from "./contract.ts";

interface OwnServersOptions {
  memory: MemoryBudget;
  now: () => number;
  /** Number of writes through this isolate. */
  writes: () => number;
  directory: () => Pick<CatalogDirectory, "privateServers">;
}

interface TenantServers extends DirectoryAsOf {
  entries: CatalogEntry[];
  at: number;
}

/**
 * Private servers of tenants, by tenant: callers who share one share what is known of it. What the directory said counts for
 * two seconds, and not past a write of the tenant through this isolate.
 */
export class OwnServers {
  readonly #options: OwnServersOptions;
  readonly #known: MemoryCache<TenantServers>;

  constructor(options: OwnServersOptions) {
    this.#options = options;
    this.#known = options.memory.cache("private servers");
  }

  /** Without `entries` if there are too many: the directory must answer the question itself then. */
  async of(tenants: readonly TenantKey[]): Promise<PrivateServers> {
    const { now, writes, directory } = this.#options;
    const known = tenants.map((tenant) => this.#fresh(tenant));
    const missing = tenants.filter((_, index) => known[index] === undefined);
    if (missing.length === 0) return joined(known as TenantServers[]);
    const [at, before] = [now(), writes()];
    const answer = await directory().privateServers(missing);
    const { entries, ...asOf } = answer;
    if (entries === undefined) return answer;
    const byTenant = Map.groupBy(entries, (entry) => tenantKey(entry.tenant));
    const found = missing.map((tenant): TenantServers => ({ ...asOf, entries: byTenant.get(tenant) ?? [], at }));
    if (writes() === before) for (const [index, tenant] of missing.entries()) this.#keep(tenant, found[index]);
    return joined([...known.filter((one) => one !== undefined), ...found]);
  }

  /** Call after a write of the tenant through this isolate. */
  forget(tenant: TenantKey): void {
    this.#known.delete(tenant);
  }

  #fresh(tenant: TenantKey): TenantServers | undefined {
    const known = this.#known.get(tenant);
    return known !== undefined && this.#options.now() - known.at <= freshMs ? known : undefined;
  }

  #keep(tenant: TenantKey, servers: TenantServers | undefined): void {
    if (servers === undefined) return;
    this.#known.set(tenant, servers, 500 + 2 * JSON.stringify(servers.entries).length);
  }
}

/** As of the newest of what was said: every change raises the generation, so a newer one of any tenant shows. */
function joined(parts: readonly TenantServers[]): PrivateServers {
  const newest = parts.reduce((best, part) => (reaches(best.directory, part.directory) ? best : part));
  return {
    generation: parts.reduce((most, { generation }) => Math.max(most, generation), 0),
    directory: newest.directory,
    entries: parts.flatMap(({ entries }) => entries),
  };
}
