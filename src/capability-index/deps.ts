import type { TenantKey } from "../kernel/names.ts";
import type { Usage } from "../kernel/platform/usage.ts";
import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { SearchDirectory, SearchTenant } from "../search/contract.ts";
import type { SearchDeps } from "../search/deps.ts";
import type { IndexTenant } from "./contract.ts";
import type { IndexTextCache } from "./text-cache.ts";

export interface IndexDeps extends RegistryDeps, SearchDeps {
  usage: Usage;
  indexTexts: IndexTextCache;
  tenant(key: TenantKey): RegistryTenant & SearchTenant & IndexTenant;
  directory(): RegistryDirectory & SearchDirectory;
}
