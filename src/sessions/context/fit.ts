import satisfies from "semver/functions/satisfies.js";
import valid from "semver/functions/valid.js";
import { type ChoiceOption, obstacleTo } from "../../registry/record.ts";
import type { CapabilityCard } from "../../search/contract.ts";
import { type CardName, checkPins, resolveCard } from "../../search/pins.ts";
import type { LeftOut, Why } from "../answer-schema.ts";

/** A capability that the caller requires by id, with an optional version range. */
interface MustHave extends CardName {
  version?: string | undefined;
}

/** A capability at the digest that the caller reviewed. */
interface ReviewedPin extends CardName {
  digest: string;
}

export interface ContextQuery<Card extends CapabilityCard = CapabilityCard> {
  budget: number;
  mustHave: readonly MustHave[];
  pins: readonly ReviewedPin[];
  /** Every card visible to the caller that an id of a must-have or pin matches. */
  named: readonly Card[];
  /** Best first. */
  ranked: readonly Card[];
  maxItems: number;
  maxTenants: number;
  /** Asked for although choices leave it out. */
  include?: readonly ChoiceOption[];
}

interface Chosen<Card extends CapabilityCard = CapabilityCard> {
  card: Card;
  why: Why;
  /** Place in the ranking; set if the ranking is the reason for the choice. */
  rank?: number;
}

export interface Fit<Card extends CapabilityCard = CapabilityCard> {
  chosen: Chosen<Card>[];
  leftOut: LeftOut[];
  /** Pins whose capability has changed. */
  changed: { pin: ReviewedPin; card: Card }[];
  usedTokens: number;
  /** True if every must-have was chosen. */
  satisfied: boolean;
}

/**
 * Chooses capabilities for a token budget: must-haves first, then unchanged pins, then the best for the task as far as
 * they fit. Items with a high flag and withdrawn ones are left out, however they are asked for, unless the query includes
 * them. A capability that changed since it was pinned, or whose version does not match the must-have, is left out
 * however well it ranks: the caller means another version.
 */
export function fitBudget<Card extends CapabilityCard>(query: ContextQuery<Card>): Fit<Card> {
  const fit: Fit<Card> = { chosen: [], leftOut: [], changed: [], usedTokens: 0, satisfied: true };
  const taken = new Set<string>();
  const refused = new Set<string>();
  const tenants = new Set<string>();

  const tryAdd = (card: Card, why: Why, rank?: number): boolean => {
    const where = keyOf(card);
    if (taken.has(where)) return true;
    if (refused.has(where)) return false;
    const obstacle = whyNotAdded(card, fit, query, tenants);
    if (obstacle !== undefined) {
      // What is not to be chosen is named once, whichever way it was asked for.
      if (obstacle.reason === "flagged" || obstacle.reason === "withdrawn") refused.add(where);
      fit.leftOut.push({ ...costOf(card), why, ...obstacle });
      return false;
    }
    taken.add(where);
    tenants.add(card.tenant);
    fit.usedTokens += card.tokens;
    fit.chosen.push({ card, why, rank });
    return true;
  };

  const { held, failed } = checkPins(query.pins, query.named);
  for (const { pin, card, ...problem } of failed) {
    if (card !== undefined) {
      refused.add(keyOf(card));
      fit.changed.push({ pin, card });
    }
    fit.leftOut.push({ ...(card === undefined ? nameOf(pin) : costOf(card)), why: "pinned", ...problem });
  }
  for (const wanted of query.mustHave) {
    const found = resolveCard(wanted, query.named);
    if (!("card" in found)) fit.leftOut.push({ ...nameOf(wanted), why: "must-have", ...found });
    const fits = "card" in found && versionFits(found.card, wanted);
    if ("card" in found && !fits) {
      refused.add(keyOf(found.card));
      const message = `Its version is ${found.card.version ?? "not given"}, not in ${wanted.version}`;
      fit.leftOut.push({ ...costOf(found.card), why: "must-have", reason: "version", message });
    }
    if (!("card" in found && fits && tryAdd(found.card, "must-have"))) fit.satisfied = false;
  }
  for (const card of held) tryAdd(card, "pinned");
  for (const [index, card] of query.ranked.entries()) tryAdd(card, "task", index + 1);
  // Only the first few are shown, so must-haves come first, then pins.
  fit.leftOut.sort((a, b) => order.indexOf(a.why) - order.indexOf(b.why));
  return fit;
}

const order: readonly Why[] = ["must-have", "pinned", "task"];

/** Chosen items are stored in the session record, which must stay small. */
const maxNameLength = 4_096;

function whyNotAdded(
  card: CapabilityCard,
  { chosen, usedTokens }: Fit,
  { budget, maxItems, maxTenants, include }: ContextQuery,
  tenants: ReadonlySet<string>,
): Pick<LeftOut, "reason" | "message"> | undefined {
  const obstacle = obstacleTo(card.registry, include);
  if (obstacle !== undefined) return obstacle;
  if (usedTokens + card.tokens > budget) {
    const message = `It costs ${card.tokens} tokens; ${budget - usedTokens} are left`;
    return { reason: "over-budget", message };
  }
  if (card.id.length + card.key.length > maxNameLength) {
    return { reason: "name-too-long", message: `Its id and name are longer than ${maxNameLength} characters together` };
  }
  if (chosen.length >= maxItems)
    return { reason: "too-many-items", message: `The limit of ${maxItems} items is reached` };
  if (tenants.size >= maxTenants && !tenants.has(card.tenant)) {
    return { reason: "too-many-tenants", message: `The limit of ${maxTenants} tenants is reached` };
  }
  return undefined;
}

function versionFits({ version }: CapabilityCard, { version: range }: MustHave): boolean {
  if (range === undefined) return true;
  return version !== undefined && valid(version) !== null && satisfies(version, range);
}

function nameOf({ id, tenant }: CardName): { id: string; tenant?: string } {
  return tenant === undefined ? { id } : { id, tenant };
}

function costOf({ id, tenant, tokens }: CapabilityCard): Pick<LeftOut, "id" | "tenant" | "tokens"> {
  return { id, tenant, tokens };
}

function keyOf({ tenant, id }: CapabilityCard): string {
  return `${tenant} ${id}`;
}
