import type { HttpDeps } from "../http/deps.ts";
import type { MemoryCache } from "../kernel/memory-budget.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { ItemCache } from "../manifest/item-cache.ts";
import type { Bodies } from "./cache/bodies.ts";
import type { CurrentItems } from "./cache/current-items.ts";
import type { Heads } from "./cache/heads.ts";
import type { PublicAnswers } from "./cache/public-answers.ts";
import type { RenderedViews } from "./cache/rendered-views.ts";
import type { RegistryDirectory, RegistryTenant } from "./contract.ts";

export interface RegistryDeps extends HttpDeps {
  tenant(key: TenantKey): RegistryTenant;
  directory(): RegistryDirectory;
  heads: Heads;
  bodies: Bodies;
  views: RenderedViews;
  /** What the platform's cache has of public servers; undefined where the platform has none. */
  publicAnswers: PublicAnswers | undefined;
  items: CurrentItems;
  /** The public server of a tenant that has an item with this id, as far as this isolate knows. */
  publicServerOf(tenant: TenantKey, id: string): Promise<string | undefined>;
  itemCache: ItemCache;
  knownTenants: MemoryCache<{ exists: boolean; until: number }>;
}
