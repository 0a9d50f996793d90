import type { ServerRef } from "../kernel/names.ts";
import type { Attribute } from "../manifest/attributes.ts";
import type { Flag } from "../manifest/flag.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { CatalogEntry } from "../registry/summary.ts";

/**
 * Everything public of one server: the unit that segments replace. A newer segment that has a place hides the place in
 * every older one, so a place without any rows is the tombstone of its server.
 */
export interface Place extends ServerRef {
  /** How lists show the server; absent if it is not public, or deleted. */
  entry?: CatalogEntry;
  /** The tenant's generation that all cards are at least as new as. */
  cardsAsOf?: number;
  /** Current, enabled items, in order of kind and key. */
  cards: CardRow[];
  /** Versions of the official API, in order of version. A deleted server may still have versions. */
  versions: VersionRow[];
}

/** One capability as search results show it. What is known of its server is in the entry of the place. */
export interface CardRow {
  kind: CapabilityKind;
  /** Name, URI, URI template or generator type. */
  key: string;
  id: string;
  digest: string;
  tokens: number;
  /** Declared by the item. */
  version?: string;
  title?: string;
  description?: string;
  flags: Flag[];
  /** Set if the item is deprecated: what it says about that, which may be nothing. */
  deprecated?: string;
  /** What filters and facets go by. */
  attributes: Attribute[];
  /** Packed terms and their weights; the format is the search's own. */
  terms: Uint8Array;
  /** Meaning of the item: `vectorLength` numbers and the factor they are scaled by. Absent if it has no known words. */
  vector?: { numbers: Int8Array; scale: number };
}

export const vectorLength = 128;

/** One version of a server in the official API, without its document. */
export interface VersionHeader {
  version: string;
  status: "active" | "deprecated" | "deleted";
  statusMessage?: string;
  statusChangedAt: string;
  publishedAt: string;
  updatedAt: string;
  isLatest: boolean;
  /** Worked out for a server that published no version. */
  isDerived: boolean;
  /** In lower case, to search. */
  description: string;
  flags: Flag[];
  sequence: number;
  generation: number;
}

export interface VersionRow extends VersionHeader {
  /** The server.json, as JSON text. */
  document: string;
}
