import type { TenantKey } from "../kernel/names.ts";
import type { RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { SubscriptionsTenant } from "./contract.ts";

export interface SubscriptionsDeps extends RegistryDeps {
  tenant(key: TenantKey): RegistryTenant & SubscriptionsTenant;
}
