import type { TenantKey } from "../kernel/names.ts";
import type { RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { HooksTenant } from "./contract.ts";
import type { HookIds } from "./hook-ids.ts";

export interface HooksDeps extends RegistryDeps {
  hookIds: HookIds;
  tenant(key: TenantKey): RegistryTenant & HooksTenant;
}
