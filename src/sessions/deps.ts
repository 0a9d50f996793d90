import type { ChangesTenant } from "../changes/contract.ts";
import type { ChangesDeps } from "../changes/deps.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { RateLimiter } from "../kernel/rate-limit.ts";
import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { SearchDirectory, SearchTenant } from "../search/contract.ts";
import type { SearchDeps } from "../search/deps.ts";
import type { AnonymousAllowance } from "./anonymous-allowance.ts";
import type { SessionsTenant } from "./contract.ts";
import type { Sessions } from "./session-cache.ts";

export interface SessionsDeps extends ChangesDeps, SearchDeps {
  sessions: Sessions;
  negotiateLimiter: RateLimiter;
  anonymousNegotiateLimiter: RateLimiter;
  anonymousAllowance: AnonymousAllowance;
  /** The registry's own tools and resources, listed in the answer to a negotiation. */
  ownOffer: { tools: readonly string[]; resources(): string[] };
  tenant(key: TenantKey): RegistryTenant & SearchTenant & ChangesTenant & SessionsTenant;
  directory(): RegistryDirectory & SearchDirectory;
}
