import type { IndexTenant } from "../capability-index/contract.ts";
import type { IndexDeps } from "../capability-index/deps.ts";
import type { ChangesTenant } from "../changes/contract.ts";
import type { OpenApiAsset } from "../http/openapi/asset.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { RegistryTenant } from "../registry/contract.ts";
import type { SearchTenant } from "../search/contract.ts";
import type { SessionsTenant } from "../sessions/contract.ts";
import type { SessionsDeps } from "../sessions/deps.ts";

export interface McpDeps extends IndexDeps, SessionsDeps {
  /** The registry's own operations, which its views show. */
  openapi: OpenApiAsset;
  tenant(key: TenantKey): RegistryTenant & SearchTenant & ChangesTenant & IndexTenant & SessionsTenant;
}
