import { tenantKey } from "../kernel/names.ts";
import type { CapabilityCard } from "./contract.ts";

/** A capability named by a caller. Without a tenant, it may be in any tenant the caller may see. */
export interface CardName {
  id: string;
  /** In any spelling. */
  tenant?: string | undefined;
}

/** A capability in the version that the caller reviewed; any version if no digest is given. */
export interface Pin extends CardName {
  digest?: string | undefined;
}

interface Unresolved {
  reason: "not-found" | "ambiguous";
  message: string;
}

/** A pin that failed. `card` is set if the capability exists but has another digest than the pinned one. */
export interface FailedPin<P extends Pin, Card extends CapabilityCard> {
  pin: P;
  card?: Card;
  reason: Unresolved["reason"] | "changed-since-pin";
  message: string;
}

/** The card that a name refers to, among the cards the caller may see. */
export function resolveCard<Card extends CapabilityCard>(
  { id, tenant }: CardName,
  named: readonly Card[],
): { card: Card } | Unresolved {
  const owner = tenant === undefined ? undefined : tenantKey(tenant);
  const matches = named.filter((card) => card.id === id && (owner === undefined || tenantKey(card.tenant) === owner));
  const [card] = matches;
  if (card === undefined) return { reason: "not-found", message: "Not found, or not visible to you" };
  if (matches.length === 1) return { card };
  const owners = matches.map((match) => match.tenant).sort();
  return { reason: "ambiguous", message: `Several tenants have this id, add \`tenant\`: ${owners.join(", ")}` };
}

/**
 * Cards of the pins that hold, each once, in pin order. A pin of another digest does not fail if another pin of the
 * same capability holds.
 */
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
      const message = `Changed since you pinned it. Review it, then pin ${resolved.card.digest}`;
      failed.push({ pin, card: resolved.card, reason: "changed-since-pin", message });
    }
  }
  return { held: [...held], failed: failed.filter(({ card }) => card === undefined || !held.has(card)) };
}
