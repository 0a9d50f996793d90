import type { Operations } from "../kernel/platform/usage.ts";
import type { Directory } from "../objects/contract.ts";
import type { RegistryDeps, RegistryDirectory } from "../registry/deps.ts";
import type { CatalogPages } from "./page-cache.ts";

// stands in until the contract is written out

export interface CatalogDeps extends RegistryDeps {
  operations: Operations;
  catalogPages: CatalogPages;
  directory(): RegistryDirectory & Pick<Directory, "catalog">;
}
