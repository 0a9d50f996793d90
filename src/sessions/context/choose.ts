import type { Principal } from "../../auth/principal.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { cardsById, deprecatedLast, rankedCards, searchScope, type VisibleCard } from "../../search/visible-cards.ts";
import type { ChosenSubset } from "../contract.ts";
import type { SessionsDeps } from "../deps.ts";
import type { ContextRequest } from "../schema.ts";
import { type Fit, fitBudget } from "./fit.ts";

interface ContextBounds {
  kinds: readonly CapabilityKind[];
  maxItems: number;
}

/** Cards per ranking: enough to fill a budget, few enough to compare in one request. */
const rankedPerIndex = 200;
/** Following the changes of a subset later sends a request to each of its tenants. */
const maxChosenTenants = 32;

export interface ChosenContext {
  fit: Fit<VisibleCard>;
  subset: ChosenSubset;
  /** Tenants of the caller that were not searched, because there are too many. */
  skippedTenants: string[];
}

/** Chooses, of the capabilities the caller may see, those that fit the task and the budget. */
export async function chooseContext(
  services: SessionsDeps,
  principal: Principal,
  wish: ContextRequest,
  { kinds: allowed, maxItems }: ContextBounds,
): Promise<ChosenContext> {
  const { budget, must_have: mustHave = [], pins = [], task: text = "", include = [] } = wish;
  const kinds = allowed.filter((kind) => wish.kinds === undefined || wish.kinds.includes(kind));
  const range = searchScope(principal, wish.tenants);
  const [ranked, named] = await Promise.all([
    kinds.length === 0 ? [] : rankedCards(services, range, { text, kinds, limit: rankedPerIndex }),
    cardsById(
      services,
      range,
      [...mustHave, ...pins].map(({ id }) => id),
    ),
  ]);
  const bounds = { budget, maxItems, maxTenants: maxChosenTenants, include };
  const fit = fitBudget({ ...bounds, mustHave, pins, named, ranked: deprecatedLast(ranked) });
  return { fit, subset: subsetOf(fit), skippedTenants: range.skipped };
}

function subsetOf({ chosen }: Fit<VisibleCard>): ChosenSubset {
  const servers = new Map<string, ChosenSubset["servers"][number]>();
  const items = chosen.map(({ card }) => {
    const { tenant, server, kind, key, id, digest, tokens, registry, seenAt, wasPublic } = card;
    const since = Math.min(seenAt, servers.get(`${tenant}/${server}`)?.since ?? seenAt);
    servers.set(`${tenant}/${server}`, { tenant, server, since, wasPublic });
    return { tenant, server, kind, key, id, digest, tokens, registry };
  });
  return { items, servers: [...servers.values()] };
}
