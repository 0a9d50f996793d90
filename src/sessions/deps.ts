import type { ChangesDeps, ChangesTenant } from "../changes/deps.ts";
import type { TokenBuckets } from "../kernel/rate-limit.ts";
import type { Tenant } from "../objects/contract.ts";
import type { RegistryDirectory, RegistryTenant } from "../registry/deps.ts";
import type { SearchDirectory, SearchTenant } from "../search/contract.ts";
import type { SearchDeps } from "../search/deps.ts";
import type { Sessions } from "./session-cache.ts";

// stands in until the contract is written out

export type SessionsTenant = Pick<Tenant, "compare">;
export interface SessionsDeps extends ChangesDeps, SearchDeps {
  sessions: Sessions;
  negotiations: TokenBuckets;
  tenant(name: string): RegistryTenant & SearchTenant & ChangesTenant & SessionsTenant;
  directory(): RegistryDirectory & SearchDirectory;
}
