import type { Operations } from "../kernel/platform/usage.ts";
import type { Tenant } from "../objects/contract.ts";
import type { RegistryDeps, RegistryDirectory, RegistryTenant } from "../registry/deps.ts";
import type { SearchDirectory, SearchTenant } from "../search/contract.ts";
import type { SearchDeps } from "../search/deps.ts";
import type { RenderedIndexes } from "./text-cache.ts";

// stands in until the contract is written out

export type IndexTenant = Pick<
  Tenant,
  "indexState" | "indexServers" | "indexItems" | "declared" | "advertise" | "setAdvertise" | "advertisedServers"
>;
export interface IndexDeps extends RegistryDeps, SearchDeps {
  operations: Operations;
  indexes: RenderedIndexes;
  tenant(name: string): RegistryTenant & SearchTenant & IndexTenant;
  directory(): RegistryDirectory & SearchDirectory;
}
