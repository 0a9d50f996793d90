import type { TenantKey } from "../kernel/names.ts";
import type { RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { ChangesTenant, Streams } from "./contract.ts";

export interface ChangesDeps extends RegistryDeps {
  tenant(key: TenantKey): RegistryTenant & ChangesTenant;
  streams(subject: string): Streams;
}
