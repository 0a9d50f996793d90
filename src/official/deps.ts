import type { Directory, Tenant } from "../objects/contract.ts";
import type { RegistryDeps, RegistryDirectory, RegistryTenant } from "../registry/deps.ts";

// stands in until the contract is written out

export interface OfficialDeps extends RegistryDeps {
  tenant(name: string): RegistryTenant & Pick<Tenant, "publishVersion" | "changeStatus" | "versions">;
  directory(): RegistryDirectory &
    Pick<Directory, "listVersions" | "versionsOf" | "versionNamed" | "claimRemotes" | "releaseClaims">;
}
