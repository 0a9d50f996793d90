import type { HttpDeps } from "../http/deps.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { DefinitionsTenant } from "../registry/contract.ts";
import type { SearchDirectory, SearchTenant } from "./contract.ts";

export interface SearchDeps extends HttpDeps {
  tenant(key: TenantKey): SearchTenant & DefinitionsTenant;
  directory(): SearchDirectory;
}
