import type { CapabilityCard } from "./contract.ts";

/** A capability that a caller names; of any tenant that the caller may see where none is given. */
export interface CardName {
  id: string;
  tenant?: string | undefined;
}

/** A capability as the caller reviewed it; at any version where no digest is given. */
export interface Pin extends CardName {
  digest?: string | undefined;
}

export interface Unresolved {
  reason: "not-found" | "ambiguous";
  message: string;
}

/** A pin that does not hold. The card is there where the capability exists and is not the pinned version. */
export interface FailedPin<P extends Pin, Card extends CapabilityCard> {
  pin: P;
  card?: Card;
  reason: Unresolved["reason"] | "changed-since-pin";
  message: string;
}

/** The one card that a name means, among all that it may mean to this caller. */
export function resolveCard<Card extends CapabilityCard>(
  { id, tenant }: CardName,
  named: readonly Card[],
): { card: Card } | Unresolved {
  const matches = named.filter((card) => card.id === id && (tenant === undefined || card.tenant === tenant));
  const [card] = matches;
  if (card === undefined) return { reason: "not-found", message: "There is no such capability that you may see" };
  if (matches.length === 1) return { card };
  const owners = matches.map((match) => match.tenant).sort();
  return { reason: "ambiguous", message: `Several tenants have it; say which: ${owners.join(", ")}` };
}

/** Pins that hold, each capability once, in their order. A pin fails only where no other pin of its capability holds. */
export function checkPins<P extends Pin, Card extends CapabilityCard>(
  pins: readonly P[],
  named: readonly Card[],
): { held: Card[]; failed: FailedPin<P, Card>[] } {
  const held = new Set<Card>();
  const failed: FailedPin<P, Card>[] = [];
  for (const pin of pins) {
    const resolved = resolveCard(pin, named);
    if (!("card" in resolved)) failed.push({ pin, ...resolved });
    else if (pin.digest === undefined || pin.digest === resolved.card.digest) held.add(resolved.card);
    else {
      const message = `It is ${resolved.card.digest} now; pin that digest to take it`;
      failed.push({ pin, card: resolved.card, reason: "changed-since-pin", message });
    }
  }
  return { held: [...held], failed: failed.filter(({ card }) => card === undefined || !held.has(card)) };
}
