import type { EdgeDirectory } from "../directory/edge-directory.ts";
import type { MemoryCache } from "../kernel/memory-budget.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { Usage } from "../kernel/platform/usage.ts";
import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { OfficialDirectory, OfficialTenant } from "./contract.ts";

export interface OfficialDeps extends RegistryDeps {
  tenant(key: TenantKey): RegistryTenant & OfficialTenant;
  directory(): RegistryDirectory & OfficialDirectory;
  edgeDirectory: EdgeDirectory;
  usage: Usage;
  /** Texts of server.json, by where segments have them. */
  serverJsonTexts: MemoryCache<string>;
}
