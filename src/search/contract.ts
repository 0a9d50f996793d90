import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { AsOf } from "../registry/contract.ts";
import type { Explanation } from "./rank.ts";

/** A current capability as a search or a negotiation sees it: enough to choose by, without its schema. */
export interface CapabilityCard {
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
  /** The first few hundred characters. */
  description?: string;
}

/** What to look for among current capabilities that are switched on. */
export interface CardQuery {
  /** Plain words, never query syntax. Empty lists in order of server, kind and key. */
  text: string;
  kinds?: readonly CapabilityKind[];
  /** By name, of whichever tenants are asked. */
  servers?: readonly string[];
  limit: number;
}

/** A card with how well it serves what was asked, and why; nothing was asked where it has no explanation. */
export type RankedCard = CapabilityCard & { score: number; explanation?: Explanation };

/** Whose public items to look at; everyone's where neither is given. */
export interface TenantFilter {
  tenants?: readonly string[];
  exceptTenants?: readonly string[];
}

/** A card with the generation of its tenant as of which it is true. */
export type PublicCard<T extends CapabilityCard = CapabilityCard> = T & { generation: number };

/** What search asks a tenant's object. */
export interface SearchTenant {
  /** Current items that are switched on, the best first. */
  find(query: CardQuery): Promise<AsOf<{ cards: RankedCard[] }>>;
  /** Those of these ids that are current and switched on. */
  cards(ids: readonly string[]): Promise<AsOf<{ cards: (CapabilityCard & { public: boolean })[] }>>;
}

/** What search asks the directory. */
export interface SearchDirectory {
  /** Items of public servers, the best first. */
  find(query: CardQuery & TenantFilter): Promise<AsOf<{ cards: PublicCard<RankedCard>[] }>>;
  /** Items of public servers by id, which several tenants may have. */
  cards(ids: readonly string[], whose?: TenantFilter): Promise<AsOf<{ cards: PublicCard[] }>>;
}

/** What a tenant tells of a public server's items: those that changed, a batch at a time. */
export interface PublicItems {
  /** The generation at which the server became public: what is here from an earlier time is dropped. */
  publicSince: number;
  changed: ItemChange[];
  /** Nothing more is owed: with this batch every item is as of the generation it carries. */
  complete: boolean;
}

export interface ItemChange {
  kind: CapabilityKind;
  key: string;
  /** As it is now; absent where it is gone or switched off. */
  indexed?: { card: CapabilityCard; bag: ArrayBuffer };
}
