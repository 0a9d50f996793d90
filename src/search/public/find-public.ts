import type { Segment } from "../../directory/segment.ts";
import type { DirectoryView, ViewSegment } from "../../directory/view.ts";
import type { ServerRef } from "../../kernel/names.ts";
import type { Steps } from "../../kernel/pace/pace.ts";
import { type Demotion, demotionOf, recordOf, type ServerFacts, statusFlagsIn } from "../../registry/record.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import { type CardServer, cardWithServer, inNewOrder } from "../card-records.ts";
import type { CardQuery, PublicCard, RankedCard, TenantFilter } from "../contract.ts";
import type { Found } from "../found.ts";
import { countFacets, type FacetCounts } from "../index/facets.ts";
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

type PublicFound = Found<PublicCard<RankedCard>>;

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
): Steps<{ cards: PublicFound[]; facets?: FacetCounts } | undefined> {
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
  const demotions: Demotion[] = [];
  const cards = ranked.flatMap(({ part, place: card, score, explanation }) => {
    const segment = view.segments[part]?.segment;
    const place = segment?.placeOfCard(card);
    if (segment === undefined || place === undefined) return [];
    // A found card is live, and with the first part of a place comes its server.
    const known = segment.partOf(place) === 0 ? serverAt(segment, place) : server(segment.placeAt(place));
    if (known === undefined) return [];
    demotions.push(demotionOf(recordOf(segment.cardFacts(card), known.facts)));
    return [{ segment, card, place, known, score, explanation }];
  });
  return {
    cards: inNewOrder(cards, demotions, (card, score) => ({ ...card, score })).map(publicFound),
    facets: query.facets && countFacets(query.facets, parts, matches, statusOf),
  };
}

interface PlacedCard extends Pick<RankedCard, "score" | "explanation"> {
  segment: Segment;
  card: number;
  place: number;
  known: PublicServer;
}

function publicFound({ segment, card, place, known, score, explanation }: PlacedCard): PublicFound {
  return {
    digestStart: segment.digestStart(card),
    whole() {
      const { tenant, name: server } = segment.placeAt(place);
      const generation = segment.cardsAsOf(place);
      return cardWithServer({ ...segment.cardAt(card), tenant, server, score, explanation, generation }, known);
    },
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

const goneCards = new WeakMap<Uint8Array, Uint8Array>();

/** Cards of places that a newer segment replaces. */
function goneIn({ segment, dead }: ViewSegment): Uint8Array | undefined {
  if (dead === undefined) return undefined;
  const known = goneCards.get(dead);
  if (known !== undefined) return known;
  const gone = new Uint8Array(segment.cards);
  for (let place = 0; place < segment.places; place += 1) {
    if (dead[place] === 1) gone.fill(1, ...segment.cardsOf(place));
  }
  goneCards.set(dead, gone);
  return gone;
}

/** Servers of results, for as long as their segment is in memory. */
const servers = new WeakMap<Segment, Map<number, PublicServer | undefined>>();
const maxServers = 512;

function serverAt(segment: Segment, place: number): PublicServer | undefined {
  let known = servers.get(segment);
  if (known === undefined || known.size >= maxServers) {
    known = new Map();
    servers.set(segment, known);
  }
  if (!known.has(place)) known.set(place, publicServer(segment.entry(place)));
  return known.get(place);
}

function serverOf(view: DirectoryView, ref: ServerRef): PublicServer | undefined {
  return publicServer(view.entry(ref));
}

function publicServer(entry: CatalogEntry | undefined): PublicServer | undefined {
  if (entry === undefined) return undefined;
  const { tenant, version, status, statusMessage, stale, pending, flags = [] } = entry;
  const facts: ServerFacts = { status, statusMessage, stale, pending, statusFlags: statusFlagsIn(flags) };
  return { tenant, version, facts, status };
}
