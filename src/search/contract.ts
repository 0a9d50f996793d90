import type { DirectoryState } from "../http/directory-state.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { Attribute } from "../manifest/attributes.ts";
import type { Flag } from "../manifest/flag.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { AsOf } from "../registry/contract.ts";
import type { RegistryRecord } from "../registry/record-schema.ts";
import type { FacetCounts, SearchDimension } from "./index/facets.ts";
import type { ItemFilter } from "./index/filter.ts";
import type { Explanation } from "./rank.ts";

/** A current capability in search and negotiation: enough to choose by, without its schema. */
export interface CapabilityCard extends CardContent {
  /** What is known of the item and of its server now. */
  registry: RegistryRecord;
}

/** What a card shows of an item, whatever its server. */
interface CardContent {
  /** As shown. */
  tenant: string;
  server: string;
  kind: CapabilityKind;
  /** Name, URI, URI template or generator type. */
  key: string;
  id: string;
  digest: string;
  tokens: number;
  /** Declared by the item, else by its server. */
  version?: string;
  title?: string;
  /** Only the first few hundred characters. */
  description?: string;
}

/** A card as stored: what is known of its server is added when it is read. */
export interface StoredCard extends CardContent {
  tenant: TenantKey;
  flags: Flag[];
  /** Set if the item is deprecated: what it says about that, which may be nothing. */
  deprecated?: string;
  /** Values that results are filtered and counted by. */
  attributes: Attribute[];
}

/** A query for current, enabled capabilities. */
export interface CardQuery extends Pick<ItemFilter, "kinds" | "servers" | "attributes" | "status"> {
  /** Plain words, never query syntax. Without a letter or digit, cards are listed by tenant, server, kind and key. */
  text: string;
  /** The last word may be unfinished. */
  prefix?: boolean;
  limit: number;
  /** Dimensions to count; none if absent. */
  facets?: readonly SearchDimension[];
}

/** A card with its score and why it matches. No explanation if the query has no search terms. */
export type RankedCard = CapabilityCard & { score: number; explanation?: Explanation };

/** Tenants whose public capabilities are searched; all tenants if neither list is given. */
export interface TenantFilter {
  tenants?: readonly TenantKey[];
  exceptTenants?: readonly TenantKey[];
}

/** A card and the tenant generation it is current as of. */
export type PublicCard<T extends CapabilityCard = CapabilityCard> = T & { generation: number };

/** The best cards for a query, and what was counted over all that match. */
export interface FoundCards<T extends CapabilityCard = RankedCard> {
  cards: T[];
  facets?: FacetCounts;
}

/** What a tenant says of itself to those who search it. */
export interface SearchState {
  /** Everything it has is public, and the directory has been sent all of it. */
  isAllPublic: boolean;
  /** A state of the directory that has all of it; absent if there is nothing. */
  directory?: DirectoryState;
}

/** Search methods of the tenant object. */
export interface SearchTenant {
  searchState(): Promise<AsOf<SearchState>>;
  /** Current, enabled capabilities, best match first. */
  find(query: CardQuery): Promise<AsOf<FoundCards>>;
  /** Capabilities with these ids that are current and enabled. */
  cards(ids: readonly string[]): Promise<AsOf<{ cards: (CapabilityCard & { public: boolean })[] }>>;
}

/** Search methods of the directory. */
export interface SearchDirectory {
  /** Capabilities of public servers, best match first. */
  find(query: CardQuery & TenantFilter): Promise<FoundCards<PublicCard<RankedCard>> & DirectoryState>;
  /** Capabilities of public servers by id. Several tenants may have the same id. */
  cards(ids: readonly string[], whose?: TenantFilter): Promise<AsOf<{ cards: PublicCard[] }>>;
}

/** Changed items of a public server, sent from the tenant to the directory in batches. */
export interface PublicItems {
  /** Generation at which the server became public. The directory drops items it has from an earlier public period. */
  publicSince: number;
  changed: ItemChange[];
  /** No items are pending after this batch: all items of the server are then as of the batch's generation. */
  complete: boolean;
}

/** What an item is indexed by, beside its card. */
export interface IndexColumns {
  /** Packed term weights. */
  bag: ArrayBuffer;
  /** Packed meaning vector; null if there were no word vectors to compute it with. */
  vector: ArrayBuffer | null;
}

export interface ItemChange {
  kind: CapabilityKind;
  key: string;
  /** Current state; absent if the item is removed or disabled. */
  indexed?: { card: StoredCard } & IndexColumns;
}
