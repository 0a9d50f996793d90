import type { RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { HooksTenant } from "./contract.ts";

export interface HooksDeps extends RegistryDeps {
  tenant(name: string): RegistryTenant & HooksTenant;
}
