import type { TenantKey } from "../../kernel/names.ts";
import type { PublicVersions } from "../../official/contract.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { PublicItems } from "../../search/contract.ts";

/** The current state of a server; for a public server also its changed items and versions. */
export type DirectoryChange = ListedChange | DirectoryRemoval;

export interface ListedChange extends Omit<CatalogEntry, "tenant"> {
  tenant: TenantKey;
  /** How the tenant is shown; absent if that is its key. */
  spelling?: string;
  items?: PublicItems;
  versions?: PublicVersions;
}

/** A removed server: enough to delete its row and to outrank a late update. */
interface DirectoryRemoval {
  tenant: TenantKey;
  name: string;
  generation: number;
  /** When the server was removed; the current time if absent. */
  endedAt?: string;
  /** The published versions, if the server was public. */
  versions?: PublicVersions;
}
