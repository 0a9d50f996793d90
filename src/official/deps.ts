import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { OfficialDirectory, OfficialTenant } from "./contract.ts";

export interface OfficialDeps extends RegistryDeps {
  tenant(name: string): RegistryTenant & OfficialTenant;
  directory(): RegistryDirectory & OfficialDirectory;
}
