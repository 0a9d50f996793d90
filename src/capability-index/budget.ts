import { isMember, type Principal } from "../auth/principal.ts";
import type { DirectoryState } from "../http/directory-state.ts";
import type { Failure } from "../kernel/failure.ts";
import { type TenantKey, tenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { hasLongRun } from "../manifest/tokens.ts";
import { checkMember, checkMinGeneration, checkTenantExists } from "../registry/access.ts";
import { obstacleTo } from "../registry/record.ts";
import { noticeText } from "../registry/record-text.ts";
import type { CardQuery } from "../search/contract.ts";
import { checkPins } from "../search/pins.ts";
import { searchStart, searchValidity } from "../search/validity.ts";
import { cardsById, type SearchScope, searchCards, searchScope, type VisibleCard } from "../search/visible-cards.ts";
import type { BudgetIndex } from "./answer-schema.ts";
import { tokensOf } from "./blocks.ts";
import type { IndexDeps } from "./deps.ts";
import { budgetBlock } from "./elements.ts";
import {
  type DetailLevel,
  type DetailOption,
  detailLevels,
  type Fitted,
  fitIndex,
  maxConsidered,
  worthOf,
} from "./fit.ts";
import type { IndexBudgetRequest } from "./schema.ts";
import { budgetHeader, indexTextVersion } from "./text.ts";

const maxLeftOutShown = 20;

/** The tenant as shown, and its generation. Fails for a caller outside the tenant if the tenant has no public server. */
export async function visibleTenant(
  services: IndexDeps,
  principal: Principal,
  tenant: TenantKey,
  minGeneration = 0,
): Promise<Result<{ shown: string; generation: number }, Failure>> {
  const unknown = await checkTenantExists(services, principal, tenant);
  if (unknown !== undefined) return err(unknown);
  const { generation, hasPublic, tenant: shown = tenant } = await services.tenant(tenant).indexState();
  const error =
    (hasPublic ? undefined : checkMember(principal, tenant)) ?? checkMinGeneration(minGeneration, generation);
  return error === undefined ? ok({ shown, generation }) : err(error);
}

interface FittedIndex extends Omit<BudgetIndex, "generation"> {
  /** State of everything public that was searched; absent for members of the tenant. */
  directory?: DirectoryState;
  /** True while the same request would get the same; absent if that cannot be known. */
  holds?: () => boolean;
}

/** The most valuable index for a task within the token budget, from the capabilities that the caller may see. */
export async function fitCapabilityIndex(
  services: IndexDeps,
  principal: Principal,
  shown: string,
  request: IndexBudgetRequest,
): Promise<FittedIndex> {
  const tenant = tenantKey(shown);
  const { task: text = "", kinds = CapabilityKind.options, servers, pins = [], budget, include } = request;
  const range = searchScope(principal, [tenant]);
  const query = { text, kinds, limit: maxConsidered, servers };
  const begun = searchStart(services);
  const [{ cards: found, directory }, named] = await Promise.all([
    candidates(services, range, query),
    cardsById(
      services,
      range,
      pins.map(({ id }) => id),
    ),
  ]);
  const { held: reviewed, failed } = checkPins(pins, named);
  const unpinned = new Map(failed.map(({ pin: { id }, reason, message }) => [id, { id, reason, message }]));
  const pinIds = new Set([...reviewed.map(({ id }) => id), ...unpinned.keys()]);
  const matching = found.filter(({ id }) => !pinIds.has(id));
  const isChoosable = ({ registry }: VisibleCard) => obstacleTo(registry, include) === undefined;
  const notChosen = [...reviewed, ...matching].flatMap(({ id, registry }) => {
    const obstacle = obstacleTo(registry, include);
    return obstacle === undefined ? [] : [{ id, ...obstacle }];
  });
  const held = reviewed.filter(isChoosable);
  const ranked = matching.filter(isChoosable).map(deprecatedBehind).slice(0, maxConsidered);

  const measure = await measureItems(services, principal, tenant, [...held, ...ranked]);
  const measuredPins = held.map((card, index) => measure({ ...card, rank: index + 1 }));
  const measuredRanked = ranked.map(measure);
  const count = await tokensOf(services);
  const header = budgetHeader(shown);
  const fixed = count({ text: header });
  const fit = fitIndex(measuredPins.map(detailOptions), measuredRanked.map(detailOptions), Math.max(0, budget - fixed));

  const pinned = shownItems(held, measuredPins, fit.pins);
  const others = shownItems(ranked, measuredRanked, fit.ranked);
  const items = [...pinned.map((one) => ({ ...one, pinned: true as const })), ...others];
  const isEmpty = items.length === 0;
  const over = [
    ...overBudget(held, measuredPins, fit.pins, fixed),
    ...overBudget(ranked, measuredRanked, fit.ranked, fixed),
  ];
  const leftOut = [...unpinned.values(), ...notChosen, ...over];
  return {
    index: isEmpty ? "" : `${header}${items.map(({ text: lines }) => lines).join("")}`,
    tokens: isEmpty ? 0 : fixed + fit.pins.tokens + fit.ranked.tokens,
    budget,
    value: fit.worth,
    items: items.map(({ text: _, ...item }) => item),
    considered: held.length + ranked.length,
    leftOut: leftOut.slice(0, maxLeftOutShown),
    moreLeftOut: leftOut.length > maxLeftOutShown ? leftOut.length - maxLeftOutShown : undefined,
    directory,
    // Pins are looked up in the tenant's object or the directory's, whose state they do not tell.
    holds: pins.length > 0 ? undefined : searchValidity(services, range, directory, begun),
  };
}

/** Distance in rank between capabilities that match the task and those that do not. */
const unfoundDistance = 50;

type Ranked = VisibleCard & { rank: number };

/** A deprecated item is worth as little as one that does not match the task. */
function deprecatedBehind(card: Ranked): Ranked {
  return card.registry.status === "deprecated" ? { ...card, rank: card.rank + unfoundDistance } : card;
}

/** Capabilities that match the task. If they are few, all others follow at lower ranks and use the remaining budget. */
async function candidates(
  services: IndexDeps,
  range: SearchScope,
  query: CardQuery,
): Promise<{ cards: Ranked[]; directory?: DirectoryState }> {
  const { cards, directory } = await searchCards(services, range, query);
  const found = cards.map((card, index) => ({ ...card, rank: index + 1 }));
  if (query.text === "" || found.length >= query.limit) return { cards: found, directory };
  const ids = new Set(found.map(({ id }) => id));
  const all = await searchCards(services, range, { ...query, text: "" });
  const others = all.cards.filter(({ id }) => !ids.has(id));
  const behind = found.length + unfoundDistance + 1;
  return {
    cards: [...found, ...others.map((card, index) => ({ ...card, rank: behind + index }))],
    directory: isSameState(directory, all.directory) ? directory : undefined,
  };
}

/** What came from two states of the directory is as of neither. */
function isSameState(a: DirectoryState | undefined, b: DirectoryState | undefined): boolean {
  return a?.epoch === b?.epoch && a?.generation === b?.generation;
}

/** An item at each level of detail that adds content. */
type MeasuredItem = { level: DetailLevel; text: string; tokens: number; worth: number }[];

function detailOptions(weighed: MeasuredItem): DetailOption[] {
  return weighed.map(({ tokens, worth }) => ({ tokens, worth }));
}

/** Computes tokens and worth of each item at each level. Reads all declared items in one call. */
async function measureItems(
  services: IndexDeps,
  principal: Principal,
  tenant: TenantKey,
  cards: readonly VisibleCard[],
) {
  const ids = cards.map(({ id }) => id);
  const onlyPublic = !isMember(principal, tenant);
  const { items } = await services.tenant(tenant).declared(ids, { onlyPublic });
  const declared = new Map(items.map((item) => [`${item.id} ${item.digest}`, item.declared]));
  const count = await tokensOf(services);
  return (card: Ranked): MeasuredItem => {
    const { kind, id, server, key, digest, rank, description = card.title } = card;
    const whole = declared.get(`${id} ${digest}`);
    const notice = noticeText(card.registry);
    return detailLevels.flatMap((level) => {
      if (level === "schema" && whole === undefined) return [];
      const text =
        level === "name"
          ? budgetBlock(card, notice, { level })
          : level === "summary"
            ? budgetBlock(card, notice, { level, description })
            : budgetBlock(card, notice, { level, element: { server, kind, key, id, declared: whole ?? {} } });
      // The token count of a long run may be off by one, which could exceed the budget.
      if (text === undefined || hasLongRun(text)) return [];
      const remembered = JSON.stringify([indexTextVersion, level, tenant, server, kind, key, id, digest, notice]);
      const tokens = count({ text, key: remembered });
      return [{ level, text, tokens, worth: worthOf(rank, level) }];
    });
  };
}

function shownItems(cards: readonly VisibleCard[], weighed: readonly MeasuredItem[], { chosen }: Fitted) {
  return cards.flatMap(({ id, server, kind, digest, registry }, index) => {
    const showing = weighed[index]?.[chosen[index] ?? -1];
    if (showing === undefined) return [];
    const { level, text, tokens } = showing;
    return [{ id, server, kind, level, tokens, digest, registry, text }];
  });
}

function overBudget(
  cards: readonly VisibleCard[],
  weighed: readonly MeasuredItem[],
  { chosen }: Fitted,
  fixed: number,
): BudgetIndex["leftOut"] {
  return cards.flatMap(({ id }, index) => {
    const name = weighed[index]?.[0];
    if (chosen[index] !== -1 || name === undefined) return [];
    const message = `Does not fit: its name needs ${name.tokens} tokens besides the ${fixed}-token header`;
    return [{ id, reason: "over-budget" as const, message }];
  });
}
