import type { PublicVersions } from "../../official/contract.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { PublicItems } from "../../search/contract.ts";

/** The current state of a server; for a public server also its changed items and versions. */
export type DirectoryChange = (CatalogEntry & { items?: PublicItems; versions?: PublicVersions }) | DirectoryRemoval;

/** A removed server: enough to delete its row and to outrank a late update. */
interface DirectoryRemoval {
  tenant: string;
  name: string;
  generation: number;
  /** When the server was removed; the current time if absent. */
  endedAt?: string;
  /** The published versions, if the server was public. */
  versions?: PublicVersions;
}
