import type { Principal } from "../auth/principal.ts";
import type { DirectoryNeed } from "../directory/edge-directory.ts";
import { checkMinDirectory } from "../directory/freshness.ts";
import { type DirectoryState, parseState, stateText } from "../http/directory-state.ts";
import { type PageRequest, readCursor } from "../http/page.ts";
import { digestOfText } from "../kernel/digest.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { type ChoiceOption, obstacleTo } from "../registry/record.ts";
import type { CardQuery } from "./contract.ts";
import type { SearchDeps } from "./deps.ts";
import { type Found, foundAs, foundCard } from "./found.ts";
import type { FacetCounts } from "./index/facets.ts";
import { checkSearchLimit } from "./limit.ts";
import { parseQuery } from "./query.ts";
import type { Explanation } from "./rank.ts";
import { type LeftOutResult, maxFacetValues, type SearchPage, type SearchResult, type ShownCard } from "./schema.ts";
import { wordsIn } from "./terms.ts";
import { searchStart, searchValidity } from "./validity.ts";
import { deprecatedLast, findCards, searchScope, shownCard, type VisibleCard } from "./visible-cards.ts";

type Highlights = [start: number, end: number][];

const maxHighlights = 20;

export function highlightsIn(text: string, terms: ReadonlySet<string>): Highlights {
  const found: Highlights = [];
  for (const word of wordsIn(text)) {
    if (found.length === maxHighlights) break;
    if (word.terms.some((term) => terms.has(term))) found.push([word.start, word.end]);
  }
  return found;
}

export interface Search extends Pick<CardQuery, "text" | "prefix" | "kinds" | "attributes" | "status" | "facets"> {
  tenants?: readonly TenantKey[];
  /** Token budget for all results together. With one, the answer is a choice: it leaves out what is not to be chosen. */
  budget?: number;
  include?: readonly ChoiceOption[];
  explain: boolean;
  /** How new what is public must be. */
  need?: DirectoryNeed;
}

interface FoundPage {
  page: SearchPage;
  /** State of everything public that was searched; absent if only tenants of the caller were. */
  directory?: DirectoryState;
  /** True while the same search would find the same; absent if that cannot be known. */
  holds?: () => boolean;
}

/** Results over all pages; a caller who needs others should change the query. */
const maxResults = 100;

/** A page of capabilities for a task. */
export async function searchCapabilities(
  services: SearchDeps,
  principal: Principal,
  search: Search,
  page: PageRequest,
): Promise<Result<SearchPage, Failure>> {
  const found = await findPage(services, principal, search, page);
  return found.ok ? ok(found.value.page) : found;
}

/** The same, with how long it holds. A cursor is valid while the results before it are unchanged. */
export async function findPage(
  services: SearchDeps,
  principal: Principal,
  { tenants, budget, include = [], explain, need = {}, ...wanted }: Search,
  page: PageRequest,
): Promise<Result<FoundPage, Failure>> {
  const { text, prefix, facets, ...filter } = wanted;
  const question = parseQuery(text, { prefix });
  if (question === undefined) return err(failure("ErrorBadRequest", "`task` must contain a letter or digit"));
  const limited = checkSearchLimit(services, principal);
  if (limited !== undefined) return err(limited);
  const caller = principal.admin ? "admin" : [...new Set(principal.tenants)].sort();
  const scope = {
    list: "search",
    caller,
    text,
    prefix: prefix || null,
    filter,
    tenants: tenants ?? null,
    budget: budget ?? null,
    include,
  };
  const start = await readCursor(services, page.cursor, scope);
  if (!start.ok) return start;
  const range = searchScope(principal, tenants);
  const from = Number(start.value?.after[0] ?? 0);
  const to = from + page.limit;
  // Every page needs all results: duplicates move behind all others, and the budget may skip any result.
  const query: CardQuery = { ...wanted, limit: maxResults };
  const begun = searchStart(services);
  const { found, generation, directory, facets: counted } = await findCards(services, range, query, need);
  const behind = directory && checkMinDirectory(directory, need.min);
  if (behind !== undefined) return err(behind);
  const ranked = duplicatesLast(found).slice(0, maxResults);
  const { fitting, skippedBefore } =
    budget === undefined ? { fitting: ranked, skippedBefore: () => [] } : withinBudget(ranked, budget, include);
  // The results of earlier pages must be unchanged and in the same order; else this page would repeat or skip results. In
  // another epoch of the directory nothing is known of what was there before.
  const [, before, state = ""] = start.value?.after ?? [];
  if (before !== undefined) {
    const isOtherEpoch = directory !== undefined && state !== "" && parseState(state)?.epoch !== directory.epoch;
    if (isOtherEpoch || before !== (await resultsDigest(wholeOf(fitting.slice(0, from))))) {
      return err(failure("ErrorCursorExpired"));
    }
  }
  const reached = wholeOf(fitting.slice(0, to));
  const shown = reached.slice(from);
  const terms = new Set(question.whole.terms);
  const leftOut = skippedBefore(fitting.length > to ? shown.at(-1) : undefined);
  const answer: SearchPage = {
    items: shown.map((card) => resultOf(card, terms, explain)),
    usedTokens: reached.reduce((sum, { tokens }) => sum + tokens, 0),
    leftOut: leftOut.length === 0 ? undefined : leftOut.slice(0, maxLeftOutShown),
    moreLeftOut: leftOut.length > maxLeftOutShown ? leftOut.length - maxLeftOutShown : undefined,
    facets: counted && shownFacets(counted),
    steps: question.clauses.length > 1 ? question.clauses.length : undefined,
    generation,
    skippedTenants: range.skipped.length === 0 ? undefined : range.skipped,
  };
  if (fitting.length > to && services.cursors !== undefined) {
    const after = [String(to), await resultsDigest(reached), directory ? stateText(directory) : ""];
    answer.nextCursor = await services.cursors.write({ after, generation }, scope);
  }
  const isInMemory = !need.strong && (directory === undefined || directory.inMemory);
  const holds = isInMemory ? searchValidity(services, range, directory, begun) : undefined;
  return ok({ page: answer, directory, holds });
}

/** The most frequent values of each dimension. */
export function shownFacets(counted: FacetCounts): NonNullable<SearchPage["facets"]> {
  return Object.fromEntries(
    Object.entries(counted).map(([dimension, values]) => [
      dimension,
      {
        values: values.slice(0, maxFacetValues).map(([value, count]) => ({ value, count })),
        more: values.length > maxFacetValues || undefined,
      },
    ]),
  );
}

/**
 * Moves cards with the same kind and digest as an earlier card, as when two tenants publish the same, behind all
 * others.
 */
function duplicatesLast(found: readonly Found<VisibleCard>[]): Found<VisibleCard>[] {
  const seen = new Map<number, Found<VisibleCard>[]>();
  const copies: Found<VisibleCard>[] = [];
  const others = found.filter((one) => {
    const like = seen.get(one.digestStart) ?? [];
    const isCopy = like.some((other) => isSame(other.whole(), one.whole()));
    if (isCopy) copies.push(foundAs(one, asCopy));
    else seen.set(one.digestStart, [...like, one]);
    return !isCopy;
  });
  return [...others, ...copies];
}

function isSame(a: VisibleCard, b: VisibleCard): boolean {
  return a.kind === b.kind && a.digest === b.digest;
}

function asCopy(card: VisibleCard): VisibleCard {
  return { ...card, explanation: { words: 0, ...card.explanation, alike: true } };
}

function wholeOf(found: readonly Found<VisibleCard>[]): VisibleCard[] {
  return found.map((one) => one.whole());
}

function resultsDigest(cards: readonly VisibleCard[]): Promise<string> {
  return digestOfText(JSON.stringify(cards.map(({ tenant, id, digest }) => [tenant, id, digest])));
}

const maxLeftOutShown = 20;

/**
 * Takes results in order while they fit the budget, deprecated ones after the others. A result over the remaining budget is
 * skipped for cheaper ones after it; what is not to be chosen is skipped in any case.
 */
function withinBudget(found: readonly Found<VisibleCard>[], budget: number, include: readonly ChoiceOption[]) {
  let left = budget;
  const cards = wholeOf(found);
  const fitting: Found<VisibleCard>[] = [];
  const skipped: { place: number; result: LeftOutResult }[] = [];
  const places = new Map<VisibleCard, number>();
  deprecatedLast(cards).forEach((card, place) => {
    const { id, tenant, server, key: name, tokens, registry } = card;
    const obstacle = obstacleTo(registry, include) ?? overBudget(tokens, left);
    if (obstacle !== undefined) {
      skipped.push({ place, result: { id, tenant, server, name, tokens, ...obstacle } });
      return;
    }
    left -= tokens;
    fitting.push(foundCard(card));
    places.set(card, place);
  });
  /** The results skipped before `last`; all skipped results if `last` is undefined. */
  const skippedBefore = (last: VisibleCard | undefined): LeftOutResult[] => {
    const end = last === undefined ? cards.length : (places.get(last) ?? 0);
    return skipped.filter(({ place }) => place < end).map(({ result }) => result);
  };
  return { fitting, skippedBefore };
}

function overBudget(tokens: number, left: number): Pick<LeftOutResult, "reason" | "message"> | undefined {
  if (tokens <= left) return undefined;
  return { reason: "over-budget", message: `It costs ${tokens} tokens; ${left} are left` };
}

function resultOf(card: VisibleCard, terms: ReadonlySet<string>, explain: boolean): SearchResult {
  const shown = shownCard(card);
  const highlights: SearchResult["highlights"] = {};
  for (const field of ["name", "title", "description"] as const) {
    const found = shown[field] === undefined ? [] : highlightsIn(shown[field], terms);
    if (found.length > 0) highlights[field] = found;
  }
  const { alike, ...why } = card.explanation ?? { words: 0 };
  return {
    ...shown,
    score: rounded(card.score ?? 0),
    highlights,
    alike: alike || undefined,
    why: explain ? { ...roundedAll(why), terms: highlightedIn(shown, highlights) } : undefined,
  };
}

/** The distinct words that were highlighted, in lower case. */
function highlightedIn(shown: ShownCard, highlights: SearchResult["highlights"]): string[] {
  const found = Object.entries(highlights).flatMap(([field, places]) =>
    places.map(([from, to]) =>
      String(shown[field as "name"])
        .slice(from, to)
        .toLowerCase(),
    ),
  );
  return [...new Set(found)];
}

function roundedAll({ words, meaning, clause }: Explanation): Omit<Explanation, "alike"> {
  return {
    words: rounded(words),
    meaning: meaning === undefined ? undefined : rounded(meaning),
    clause,
  };
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}
