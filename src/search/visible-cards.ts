import { isMember, type Principal } from "../auth/principal.ts";
import type { TenantKey } from "../kernel/names.ts";
import { demotionOf } from "../registry/record.ts";
import type { CapabilityCard, CardQuery } from "./contract.ts";
import type { SearchDeps } from "./deps.ts";
import { fuseRanks } from "./fuse.ts";
import type { Explanation } from "./rank.ts";
import type { ShownCard } from "./schema.ts";

/** A card the caller may see. `seenAt` is the tenant generation it is current as of. */
export interface VisibleCard extends CapabilityCard {
  seenAt: number;
  /** Found in the directory, as by any caller. */
  wasPublic: boolean;
  /** Score in the ranking of its tenant or of the directory; absent for a lookup by id. */
  score?: number;
  explanation?: Explanation;
}

/** Where to search for a caller: its own tenants and public servers of others, or a selection of both. */
export interface SearchScope {
  own: TenantKey[];
  /** Absent if only tenants of the caller are requested. */
  elsewhere?: { exceptTenants: readonly TenantKey[]; tenants?: readonly TenantKey[] };
  /** Tenants of the caller beyond the limit per search: only their public capabilities are found. */
  skipped: TenantKey[];
}

const maxOwnTenants = 16;

/** Result if the directory is not queried. */
const nothing = { cards: [], generation: 0 };

export function searchScope(principal: Principal, tenants: readonly TenantKey[] | undefined): SearchScope {
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

/** Capabilities the caller may see, best match first. */
export async function rankedCards(services: SearchDeps, range: SearchScope, query: CardQuery): Promise<VisibleCard[]> {
  return (await searchCards(services, range, query)).cards;
}

interface FoundCards {
  cards: VisibleCard[];
  /** Sum of the generations of all tenants searched and of the directory: changes when any of them changes. */
  generation: number;
}

/** Fuses the rankings of the caller's tenants with the directory's ranking. */
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
    cards: fuseRanks(lists, ({ tenant, id }) => `${tenant} ${id}`, fusedWeight(lists)),
    generation: inTenants.reduce((sum, { generation }) => sum + generation, published.generation),
  };
}

/**
 * Weight of an item where several rankings are fused: a place near the top counts as one about 7 places lower for a deprecated
 * item, and 20 for one that choices leave out. A single ranking has demoted them already.
 */
function fusedWeight(lists: readonly VisibleCard[][]): (card: VisibleCard) => number {
  const isSingle = lists.filter((list) => list.length > 0).length < 2;
  return ({ registry }) => (isSingle ? 1 : ([1, 0.9, 0.75][demotionOf(registry)] ?? 1));
}

/** All cards with these ids that the caller may see. */
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

export function shownCard(card: CapabilityCard): ShownCard {
  const { tenant, server, kind, key: name, id, digest, tokens, version, title, description, registry } = card;
  const { flags, status } = registry;
  return {
    ...{ id, tenant, server, kind, name, digest, tokens, flags, status },
    version,
    title,
    description,
    registry,
  };
}

/** For choices: deprecated items after all others, otherwise in the same order. */
export function deprecatedLast<T extends CapabilityCard>(cards: readonly T[]): T[] {
  const isDeprecated = ({ registry }: T) => registry.status === "deprecated";
  return [...cards.filter((card) => !isDeprecated(card)), ...cards.filter(isDeprecated)];
}
