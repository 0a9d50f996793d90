import type { PublicVersions } from "../../official/contract.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { PublicItems } from "../../search/contract.ts";

/** A server as it is now, with those of its items that changed where it is public. */
export type DirectoryChange = (CatalogEntry & { items?: PublicItems; versions?: PublicVersions }) | DirectoryRemoval;

/** A server that is gone: enough to remove its row and to outrank a late update. */
export interface DirectoryRemoval {
  tenant: string;
  name: string;
  generation: number;
  /** When it ended; now, where that is not said. */
  endedAt?: string;
  /** Its published versions, where it was public. */
  versions?: PublicVersions;
}
