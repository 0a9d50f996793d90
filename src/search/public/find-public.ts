import type { DirectoryView, ViewSegment } from "../../directory/view.ts";
import type { ServerRef } from "../../kernel/names.ts";
import type { Steps } from "../../kernel/pace/pace.ts";
import { type ServerFacts, statusFlagsIn } from "../../registry/record.ts";
import { type CardServer, cardWithServer, demoteCards } from "../card-records.ts";
import type { CardQuery, FoundCards, PublicCard, RankedCard, TenantFilter } from "../contract.ts";
import { countFacets } from "../index/facets.ts";
import { wantedItems } from "../index/filter.ts";
import type { SearchedPart } from "../index/frequencies.ts";
import type { RankTools } from "../index/weigh.ts";
import { parseQuery } from "../query.ts";
import { rankInSteps } from "../rank.ts";
import { rankingForm } from "./ranking-form.ts";

/** What is known of a card's server; absent if it is not public. */
interface PublicServer extends CardServer {
  status: ServerFacts["status"];
}

/** What was worked out of a view: for as long as the view is used. */
interface ViewIndex {
  parts: SearchedPart[];
  server(ref: ServerRef): PublicServer | undefined;
}

const indexes = new WeakMap<DirectoryView, ViewIndex>();

/**
 * Public cards for a query, best match first, from the segments in memory. undefined if the text has no search terms: lists
 * are the object's.
 */
export function* findInView(
  view: DirectoryView,
  query: CardQuery & TenantFilter,
  tools: RankTools,
): Steps<FoundCards<PublicCard<RankedCard>> | undefined> {
  const question = parseQuery(query.text, { prefix: query.prefix });
  if (question === undefined) return undefined;
  const { parts: all, server } = indexOf(view);
  const needsStatus = query.status !== undefined || query.facets?.includes("status");
  const statusOf = needsStatus ? (ref: ServerRef) => server(ref)?.status : undefined;
  const parts = all.map((searched) => ({
    ...searched,
    wanted: wantedItems(searched.part, query, query.status && statusOf),
  }));
  const { ranked, matches } = yield* rankInSteps(question, parts, tools, query.limit);
  const cards = ranked.flatMap(({ part, place: card, score, explanation }) => {
    const segment = view.segments[part]?.segment;
    const place = segment?.placeOfCard(card);
    if (segment === undefined || place === undefined) return [];
    const ref = segment.placeAt(place);
    const known = server(ref);
    if (known === undefined) return [];
    const { terms: _, ...stored } = { ...segment.cardAt(card), terms: undefined };
    const shown = cardWithServer({ ...stored, tenant: ref.tenant, server: ref.name, score, explanation }, known);
    return [{ ...shown, generation: segment.cardsAsOf(place) }];
  });
  return {
    cards: demoteCards(cards),
    facets: query.facets && countFacets(query.facets, parts, matches, statusOf),
  };
}

function indexOf(view: DirectoryView): ViewIndex {
  const known = indexes.get(view);
  if (known !== undefined) return known;
  const servers = new Map<string, PublicServer | undefined>();
  const index: ViewIndex = {
    parts: view.segments.map((segment) => ({ part: segment.form(rankingForm), gone: goneIn(segment) })),
    server(ref) {
      const key = `${ref.tenant}/${ref.name}`;
      if (!servers.has(key)) servers.set(key, serverOf(view, ref));
      return servers.get(key);
    },
  };
  indexes.set(view, index);
  return index;
}

/** Cards of places that a newer segment replaces. */
function goneIn({ segment, isWhole, isLive }: ViewSegment): Uint8Array | undefined {
  if (isWhole) return undefined;
  const gone = new Uint8Array(segment.cards);
  for (let place = 0; place < segment.places; place += 1) {
    if (!isLive(place)) gone.fill(1, ...segment.cardsOf(place));
  }
  return gone;
}

function serverOf(view: DirectoryView, ref: ServerRef): PublicServer | undefined {
  const entry = view.entry(ref);
  if (entry === undefined) return undefined;
  const { tenant, version, status, statusMessage, stale, pending, flags = [] } = entry;
  const facts: ServerFacts = { status, statusMessage, stale, pending, statusFlags: statusFlagsIn(flags) };
  return { tenant, version, facts, status };
}
