import type { CardQuery, RankedCard, StoredCard, TenantFilter } from "../contract.ts";
import { countFacets, type FacetCounts } from "../index/facets.ts";
import { type ItemFilter, type StatusOf, wantedItems } from "../index/filter.ts";
import { installedKernel } from "../index/kernel.ts";
import { parseQuery } from "../query.ts";
import { rank } from "../rank.ts";
import type { WordVectors } from "../word-vectors.ts";
import type { CardIndex } from "./card-index.ts";
import { type CardCondition, cardsNumbered, inListOrder, listCards, oneOf } from "./card-table.ts";

export type StoredRankedCard = StoredCard & Pick<RankedCard, "score" | "explanation">;

interface IndexedCards {
  sql: SqlStorage;
  index: CardIndex;
  generation: number;
  vectors: WordVectors | undefined;
  /** Read only if the query filters or counts by status. */
  statusOf: () => StatusOf;
}

/** Cards for a query, best match first; in fixed order if the text has no search terms. Every card is weighed. */
export function findCards(
  { sql, index, generation, vectors, statusOf }: IndexedCards,
  query: CardQuery & TenantFilter,
): { cards: StoredRankedCard[]; facets?: FacetCounts } {
  const { text, prefix, limit, facets } = query;
  const question = parseQuery(text, { prefix });
  if (question === undefined) {
    return { cards: listCards(sql, conditionsOf(query), limit).map((card) => ({ ...card, score: 0 })) };
  }
  const needsStatus = query.status !== undefined || facets?.includes("status");
  const status = needsStatus ? statusOf() : undefined;
  const parts = index
    .parts(sql, generation)
    .map((part) => ({ ...part, wanted: wantedItems(part.part, query, query.status && status) }));
  const { ranked, matches } = rank(question, parts, { kernel: installedKernel(), vectors }, limit);
  const numbered = ranked.map((item) => ({ ...item, number: parts[item.part]?.numbers[item.place] ?? 0 }));
  const found = cardsNumbered(
    sql,
    numbered.map(({ number }) => number),
  );
  const cards = numbered.flatMap(({ number, score, explanation }) => {
    const card = found.get(number);
    return card === undefined ? [] : [{ ...card, score, explanation }];
  });
  return {
    cards: cards.sort((a, b) => b.score - a.score || inListOrder(a, b)),
    facets: facets && countFacets(facets, parts, matches, status),
  };
}

/** The filters that lists know. */
export function conditionsOf({ kinds, servers, tenants, exceptTenants = [] }: ItemFilter): CardCondition[] {
  const conditions: CardCondition[] = [];
  if (kinds !== undefined) conditions.push(oneOf("kind", kinds));
  if (servers !== undefined) conditions.push(oneOf("server", servers));
  if (tenants !== undefined) conditions.push(oneOf("tenant", tenants));
  if (exceptTenants.length > 0) {
    const { where, values } = oneOf("tenant", exceptTenants);
    conditions.push({ where: `NOT ${where}`, values });
  }
  return conditions;
}
