import { isMember, type Principal } from "../../auth/principal.ts";
import { tenantKey } from "../../kernel/names.ts";
import { ok } from "../../kernel/result.ts";
import { CapabilityKind } from "../../manifest/schema/capability.ts";
import { definitionsOf } from "../../registry/definitions/definitions.ts";
import { shownCard } from "../../search/visible-cards.ts";
import type { Agreed, ContextAnswer, PinChange } from "../answer-schema.ts";
import type { SessionsDeps } from "../deps.ts";
import { defineSessionExtension } from "../extension.ts";
import { ContextRequest } from "../schema.ts";
import { type ChosenContext, chooseContext } from "./choose.ts";
import type { Fit } from "./fit.ts";

const name = "dev.rollcall/context";

/** Left-out capabilities that are listed; the others are only counted. */
const maxLeftOutShown = 20;

export const contextParameters = { kinds: [...CapabilityKind.options], max_items: 200 };

/** Budgeted negotiation: of the capabilities the caller may see, those that fit its task and token budget. */
export const contextCapability = defineSessionExtension({
  name,
  description: "Chooses, of all that the caller may see, the capabilities that fit a task and a token budget.",
  versions: [{ version: "1.0.0", parameters: contextParameters }],
  wish: ContextRequest,
  async answer(wish, { services, principal, agreed: agreementOn }) {
    const chosen = await chooseContext(services, principal, wish, boundsOf(agreementOn));
    const answer = await contextAnswer(services, principal, wish, chosen);
    return ok({ answer: { ...answer }, subset: chosen.subset });
  },
});

function boundsOf({ parameters = contextParameters }: Agreed) {
  const { kinds, max_items } = parameters as typeof contextParameters;
  return { kinds, maxItems: Math.max(0, Math.floor(max_items)) };
}

/** The subset as the client sees it. */
export async function contextAnswer(
  services: SessionsDeps,
  principal: Principal,
  wish: ContextRequest,
  { fit, skippedTenants }: ChosenContext,
): Promise<ContextAnswer> {
  const shown = fit.leftOut.slice(0, maxLeftOutShown);
  const cards = fit.chosen.map(({ card }) => ({ ...card, name: card.key }));
  return {
    budget: wish.budget,
    used_tokens: fit.usedTokens,
    satisfied: fit.satisfied,
    items: fit.chosen.map(({ card, why, rank }) => ({
      ...shownCard(card),
      why,
      rank,
    })),
    left_out: shown,
    more_left_out: fit.leftOut.length > shown.length ? fit.leftOut.length - shown.length : undefined,
    changed: await pinChanges(services, principal, fit),
    skipped_tenants: skippedTenants.length > 0 ? skippedTenants : undefined,
    ...(wish.definitions && (await definitionsOf(services, principal, cards, wish.definitions, wish.include))),
  };
}

/** How each changed pin differs from its reviewed version, if the tenant still stores that version. */
async function pinChanges(services: SessionsDeps, principal: Principal, { changed }: Fit): Promise<PinChange[]> {
  const tenants = [...Map.groupBy(changed, ({ card }) => card.tenant)];
  const compared = await Promise.all(
    tenants.map(async ([tenant, pins]) => {
      const wanted = pins.map(({ pin, card }) => ({ id: card.id, digest: pin.digest }));
      const owner = tenantKey(tenant);
      const { verdicts } = await services.tenant(owner).compare(wanted, { onlyPublic: !isMember(principal, owner) });
      return pins.map(({ pin, card }, index) => {
        const verdict = verdicts[index] ?? { classification: "unknown" as const };
        return { id: card.id, tenant, from: pin.digest, to: card.digest, ...verdict };
      });
    }),
  );
  return compared.flat();
}
