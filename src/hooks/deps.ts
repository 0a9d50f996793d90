import type { TenantKey } from "../kernel/names.ts";
import type { RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { HooksTenant } from "./contract.ts";

export interface HooksDeps extends RegistryDeps {
  tenant(key: TenantKey): RegistryTenant & HooksTenant;
}
