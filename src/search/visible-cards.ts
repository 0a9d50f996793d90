import { isMember, type Principal } from "../auth/principal.ts";
import type { DirectoryNeed } from "../directory/edge-directory.ts";
import { type DirectoryState, isAsNewAs } from "../http/directory-state.ts";
import { type TenantKey, tenantKey } from "../kernel/names.ts";
import { createWorkerPace } from "../kernel/platform/worker-pace.ts";
import { demotionOf } from "../registry/record.ts";
import type { CapabilityCard, CardQuery, TenantFilter } from "./contract.ts";
import type { SearchDeps } from "./deps.ts";
import { type Found, foundAs, foundCard } from "./found.ts";
import { fuseRanks } from "./fuse.ts";
import { addFacets, type FacetCounts } from "./index/facets.ts";
import { installedKernel } from "./index/kernel.ts";
import { findInView } from "./public/find-public.ts";
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

interface VisibleCards {
  /** Counted over all that match in all places searched. */
  facets?: FacetCounts;
  /** Sum of the generations of all tenants searched and of the directory: changes when any of them changes. */
  generation: number;
  /** State of the directory, if public capabilities were searched. */
  directory?: DirectoryState & { inMemory: boolean };
}

/** Fuses the rankings of the caller's tenants with the ranking of what is public. */
export async function searchCards(
  services: SearchDeps,
  scope: SearchScope,
  query: CardQuery,
): Promise<VisibleCards & { cards: VisibleCard[] }> {
  const { found, ...rest } = await findCards(services, scope, query);
  return { ...rest, cards: found.map((card) => card.whole()) };
}

/** The same, with each card to be made when it is asked for. */
export async function findCards(
  services: SearchDeps,
  scope: SearchScope,
  query: CardQuery,
  need: DirectoryNeed = {},
): Promise<VisibleCards & { found: Found<VisibleCard>[] }> {
  const { asked, open, openGeneration, openDirectory, elsewhere } = await divided(services, scope, need);
  const [inTenants, published] = await Promise.all([
    Promise.all(
      asked.map(async (tenant) => {
        const { cards, generation, facets } = await services.tenant(tenant).find(query);
        const found = cards.map((card) => foundCard({ ...card, seenAt: generation, wasPublic: false }));
        return { generation, facets, found };
      }),
    ),
    elsewhere === undefined ? undefined : findPublic(services, { ...query, ...elsewhere }, need, openDirectory),
  ]);
  const wasPublic = ({ tenant }: CapabilityCard) => open.length === 0 || !open.includes(tenantKey(tenant));
  const elsewheres =
    published?.found.map((one) =>
      foundAs(one, (card) => ({ ...card, seenAt: card.generation, wasPublic: wasPublic(card) })),
    ) ?? [];
  const lists: Found<VisibleCard>[][] = [...inTenants.map(({ found }) => found), elsewheres];
  const counted = [...inTenants, ...(published === undefined ? [] : [published])].map(({ facets = {} }) => facets);
  return {
    found: fuseRanks(lists, keyOf, weightOf),
    facets: query.facets && addFacets(query.facets, counted),
    generation: inTenants.reduce(
      (sum, { generation }) => sum + generation,
      openGeneration + (published?.generation ?? 0),
    ),
    directory: published && { epoch: published.epoch, generation: published.generation, inMemory: published.inMemory },
  };
}

function keyOf(found: Found<VisibleCard>): string {
  const { tenant, id } = found.whole();
  return `${tenant} ${id}`;
}

/**
 * Weight of an item where several rankings are fused: a place near the top counts as one about 7 places lower for a deprecated
 * item, and 20 for one that choices leave out. A single ranking has demoted them already.
 */
function weightOf(found: Found<VisibleCard>): number {
  return [1, 0.9, 0.75][demotionOf(found.whole().registry)] ?? 1;
}

interface DividedScope extends Pick<SearchScope, "elsewhere"> {
  /** Tenants of the caller that are asked themselves. */
  asked: TenantKey[];
  /** Those that have nothing but what is public: it is searched with everything else. */
  open: TenantKey[];
  openGeneration: number;
  /** A state of the directory that has all that those have. */
  openDirectory?: DirectoryState;
}

/** Which of the caller's tenants must be asked. One ranking over all that is public is also better than several fused. */
async function divided(
  { tenantStates }: SearchDeps,
  { own, elsewhere }: SearchScope,
  { strong = false }: DirectoryNeed,
): Promise<DividedScope> {
  if (strong || own.length === 0) return { asked: own, open: [], openGeneration: 0, elsewhere };
  const states = await Promise.all(own.map((tenant) => tenantStates.of(tenant)));
  const open = own.filter((_, index) => states[index]?.isAllPublic === true);
  if (open.length === 0) return { asked: own, open, openGeneration: 0, elsewhere };
  const asked = own.filter((tenant) => !open.includes(tenant));
  const told = states.flatMap(({ directory }) => directory ?? []);
  return {
    asked,
    open,
    openGeneration: states.reduce((sum, state) => sum + (state.isAllPublic ? state.generation : 0), 0),
    openDirectory: told.reduce<DirectoryState | undefined>(
      (newest, state) => (newest === undefined || isAsNewAs(state, newest) ? state : newest),
      undefined,
    ),
    elsewhere: { exceptTenants: asked, tenants: elsewhere === undefined ? open : elsewhere.tenants },
  };
}

/**
 * From the segments in memory; from the directory's object while they are loading, and for lists without words. `least` is a state
 * that the answer must have: a tenant that has made its last server public says so at once, and is not asked itself.
 */
async function findPublic(
  services: SearchDeps,
  query: CardQuery & TenantFilter,
  need: DirectoryNeed,
  least: DirectoryState | undefined,
) {
  const { edgeDirectory } = services;
  const current = await edgeDirectory.current(need);
  const isBehind = current !== undefined && least !== undefined && !isAsNewAs(current, least);
  const view = isBehind ? await edgeDirectory.current({ ...need, min: least }) : current;
  if (view !== undefined) {
    const tools = { kernel: installedKernel(), vectors: await services.wordVectors() };
    const found = await createWorkerPace().run(findInView(view, query, tools));
    if (found !== undefined) {
      const { cards, facets } = found;
      return { found: cards, facets, epoch: view.epoch, generation: view.generation, inMemory: true };
    }
  }
  const { cards, ...rest } = await services.directory().find(query);
  return { ...rest, found: cards.map(foundCard), inMemory: false };
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
    elsewhere === undefined ? { cards: [] } : services.directory().cards(ids, elsewhere),
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
