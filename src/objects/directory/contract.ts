import type { PublicVersions } from "../../official/sql/directory-versions.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { PublicItems } from "../../search/sql/directory-cards.ts";
import type { DirectoryRemoval } from "./directory-object.ts";

/** A server as it is now, with those of its items that changed where it is public. */
export type DirectoryChange = (CatalogEntry & { items?: PublicItems; versions?: PublicVersions }) | DirectoryRemoval;
