import type { EdgeDirectory } from "../directory/edge-directory.ts";
import type { HttpDeps } from "../http/deps.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { RateLimiter } from "../kernel/rate-limit.ts";
import type { DefinitionsTenant } from "../registry/contract.ts";
import type { SearchDirectory, SearchTenant } from "./contract.ts";
import type { TenantStates } from "./tenant-states.ts";
import type { WordVectors } from "./word-vectors.ts";

export interface SearchDeps extends HttpDeps {
  tenant(key: TenantKey): SearchTenant & DefinitionsTenant;
  directory(): SearchDirectory;
  /** The isolate's copy of what is public. */
  edgeDirectory: Pick<EdgeDirectory, "current" | "isCurrent">;
  /** Every search weighs every item, so one caller may ask for so many new ones. */
  searchLimiter: RateLimiter;
  tenantStates: Pick<TenantStates, "of">;
  /** Number of writes through this isolate. */
  writes(): number;
  /** undefined if they cannot be read: words alone decide then. */
  wordVectors(): Promise<WordVectors | undefined>;
}
