import type { TenantKey } from "../kernel/names.ts";
import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { OfficialDirectory, OfficialTenant } from "./contract.ts";

export interface OfficialDeps extends RegistryDeps {
  tenant(key: TenantKey): RegistryTenant & OfficialTenant;
  directory(): RegistryDirectory & OfficialDirectory;
}
