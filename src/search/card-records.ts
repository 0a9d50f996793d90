import { type Demotion, demotionOf, recordOf, type ServerFacts } from "../registry/record.ts";
import type { CapabilityCard, StoredCard } from "./contract.ts";

/** What a card shows of its server. */
export interface CardServer {
  facts: ServerFacts;
  version?: string;
  /** As shown. */
  tenant: string;
}

/** A card as readers see it. */
export function cardWithServer<T extends Omit<StoredCard, "attributes"> & { attributes?: unknown }>(
  { flags, deprecated, attributes: _, tokens, version, ...card }: T,
  server: CardServer,
): Omit<T, keyof StoredCard> & CapabilityCard {
  const registry = recordOf({ tokens, flags, deprecated }, server.facts);
  return { ...card, tokens, version: version ?? server.version, tenant: server.tenant, registry } as Omit<
    T,
    keyof StoredCard
  > &
    CapabilityCard;
}

/** Score of an item that is deprecated, or left out of choices, relative to its score otherwise. */
const demotedScore = [1, 0.8, 0.5] as const;

/** Lowers the scores of items that an agent should not choose first, and puts them in order again. */
export function demoteCards<T extends CapabilityCard & { score: number }>(cards: readonly T[]): T[] {
  const demotions = cards.map(({ registry }) => demotionOf(registry));
  return inNewOrder(cards, demotions, (card, score) => ({ ...card, score }));
}

/** The same for items whose demotions are known. */
export function inNewOrder<T extends { score: number }>(
  items: readonly T[],
  demotions: readonly Demotion[],
  withScore: (item: T, score: number) => T,
): T[] {
  if (demotions.every((demotion) => demotion === 0)) return [...items];
  return items
    .map((item, index) => withScore(item, item.score * demotedScore[demotions[index] ?? 0]))
    .sort((a, b) => b.score - a.score);
}
