import type { DirectoryState } from "../../http/directory-state.ts";
import type { TenantKey } from "../../kernel/names.ts";
import type { PublicVersions } from "../../official/contract.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { PublicItems } from "../../search/contract.ts";

/** Answer to a batch of changes. */
export interface DirectoryUpdate {
  /** For each change; false if the directory has a newer generation of the server. */
  accepted: boolean[];
  /** A state that has the accepted changes. */
  state: DirectoryState;
}

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
