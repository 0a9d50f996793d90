import type { HttpDeps } from "../http/deps.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { RebuildDirectory, ResendingTenant } from "./contract.ts";

export interface DirectoryDeps extends HttpDeps {
  tenant(key: TenantKey): ResendingTenant;
  /** A tenant by the id of its object; undefined for an id that no tenant's object can have. */
  tenantById(id: string): ResendingTenant | undefined;
  directory(): RebuildDirectory;
  /** A page of the tenants that have heads in KV. */
  storedTenants(cursor: string | undefined): Promise<StoredTenants>;
}

export interface StoredTenants {
  tenants: TenantKey[];
  /** undefined after the last page. */
  cursor?: string;
}
