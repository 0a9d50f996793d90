import type { EdgeDirectory } from "../directory/edge-directory.ts";
import type { Usage } from "../kernel/platform/usage.ts";
import type { RegistryDirectory } from "../registry/contract.ts";
import type { RegistryDeps } from "../registry/deps.ts";
import type { CatalogDirectory } from "./contract.ts";
import type { EntryCache } from "./entry-cache.ts";
import type { OwnServers } from "./own-servers.ts";
import type { CatalogPages } from "./page-cache.ts";

export interface CatalogDeps extends RegistryDeps {
  usage: Usage;
  catalogPages: CatalogPages;
  catalogEntries: EntryCache;
  ownServers: OwnServers;
  edgeDirectory: EdgeDirectory;
  directory(): RegistryDirectory & CatalogDirectory;
}
