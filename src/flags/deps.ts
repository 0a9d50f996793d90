import type { TenantKey } from "../kernel/names.ts";
import type { RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { FlagsTenant } from "./contract.ts";

export interface FlagsDeps extends RegistryDeps {
  tenant(key: TenantKey): RegistryTenant & FlagsTenant;
}
