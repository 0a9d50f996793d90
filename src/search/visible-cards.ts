import { isMember, type Principal } from "../auth/principal.ts";
import type { CapabilityCard, CardQuery } from "./contract.ts";
import type { SearchDeps } from "./deps.ts";
import { type Explanation, fuseRanks } from "./rank.ts";

/** A card with the generation of its tenant as of which it is true. */
export interface VisibleCard extends CapabilityCard {
  seenAt: number;
  /** Found among what is public, as anyone would. */
  wasPublic: boolean;
  /** Of its own ranking, where it was searched for. */
  score?: number;
  explanation?: Explanation;
}

/** Where a caller looks: all its tenants and what is public elsewhere, or only some of that. */
export interface SearchScope {
  own: string[];
  /** Absent where the caller's own are all that was asked for. */
  elsewhere?: { exceptTenants: readonly string[]; tenants?: readonly string[] };
  /** Tenants of the caller's beyond those that one question goes to. */
  skipped: string[];
}

const maxOwnTenants = 16;

/** What the directory has to say where it is not asked. */
const nothing = { cards: [], generation: 0 };

export function searchScope(principal: Principal, tenants: readonly string[] | undefined): SearchScope {
  const wanted = tenants ?? principal.tenants;
  const held = [...new Set(wanted.filter((tenant) => isMember(principal, tenant)))].sort();
  const own = held.slice(0, maxOwnTenants);
  const isAll = tenants?.every((tenant) => own.includes(tenant));
  return {
    own,
    elsewhere: isAll ? undefined : { exceptTenants: own, tenants },
    skipped: held.slice(maxOwnTenants),
  };
}

/** Capabilities that the caller may see, the best first. */
export async function rankedCards(services: SearchDeps, range: SearchScope, query: CardQuery): Promise<VisibleCard[]> {
  return (await searchCards(services, range, query)).cards;
}

export interface FoundCards {
  cards: VisibleCard[];
  /** Moves when anything does that the ranking was made from: the generations of all that was asked, added up. */
  generation: number;
}

/** Each tenant's own ranking and the public one, fused. */
export async function searchCards(
  services: SearchDeps,
  { own, elsewhere }: SearchScope,
  query: CardQuery,
): Promise<FoundCards> {
  const [inTenants, published] = await Promise.all([
    Promise.all(
      own.map(async (tenant) => {
        const { cards, generation } = await services.tenant(tenant).find(query);
        return { generation, cards: cards.map((card) => ({ ...card, seenAt: generation, wasPublic: false })) };
      }),
    ),
    elsewhere === undefined ? nothing : services.directory().find({ ...query, ...elsewhere }),
  ]);
  const elsewheres = published.cards.map((card) => ({ ...card, seenAt: card.generation, wasPublic: true }));
  const lists: VisibleCard[][] = [...inTenants.map(({ cards }) => cards), elsewheres];
  return {
    cards: fuseRanks(lists, ({ tenant, id }) => `${tenant} ${id}`),
    generation: inTenants.reduce((sum, { generation }) => sum + generation, published.generation),
  };
}

/** All that these ids may mean to the caller. */
export async function cardsById(
  services: SearchDeps,
  { own, elsewhere }: SearchScope,
  ids: readonly string[],
): Promise<VisibleCard[]> {
  if (ids.length === 0) return [];
  const [inTenants, published] = await Promise.all([
    Promise.all(
      own.map(async (tenant) => {
        const { cards, generation } = await services.tenant(tenant).cards(ids);
        return cards.map((card) => ({ ...card, seenAt: generation, wasPublic: false }));
      }),
    ),
    elsewhere === undefined ? nothing : services.directory().cards(ids, elsewhere),
  ]);
  return [
    ...inTenants.flat(),
    ...published.cards.map((card) => ({ ...card, seenAt: card.generation, wasPublic: true })),
  ];
}

/** A card as callers see it. */
export interface ShownCard {
  id: string;
  tenant: string;
  server: string;
  kind: string;
  name: string;
  digest: string;
  tokens: number;
  version?: string;
  title?: string;
  description?: string;
}

export function shownCard(card: CapabilityCard): ShownCard {
  const { tenant, server, kind, key: name, id, digest, tokens, version, title, description } = card;
  return {
    ...{ id, tenant, server, kind, name, digest, tokens },
    version,
    title,
    description,
  };
}
