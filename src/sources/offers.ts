import { type ListName, listNames } from "../formats/mcp/describe-item.ts";
import type { SourceCopy, SourceOffer } from "../registry/sources/offer.ts";
import type { SourceReading } from "./contract.ts";
import { ownKey } from "./source-manifest.ts";

/** What a reading found, completed from the copy of the same address where a list could not be read to its end. */
export function offerOf(reading: SourceReading, last: SourceOffer | undefined): SourceOffer {
  const { tools, prompts, resources, resourceTemplates, protocolVersion, session, serverInfo, instructions } = reading;
  const offer = { tools, prompts, resources, resourceTemplates, protocolVersion, session, serverInfo, instructions };
  if (last === undefined) return offer;
  const lists = reading.incomplete.map((list) => {
    const seen = new Set(offer[list].map((item) => ownKey(list, item)));
    return [list, [...offer[list], ...last[list].filter((item) => !seen.has(ownKey(list, item)))]];
  });
  return { ...offer, ...Object.fromEntries(lists) };
}

export function isEmptyOffer(offer: SourceOffer): boolean {
  return listNames.every((list) => offer[list].length === 0);
}

/**
 * The copy of an offer, without the items that were refused: a copy is used while its source cannot be read, and is then
 * to bring what was published and nothing else.
 */
export function copyOf(
  offer: SourceOffer,
  names: SourceCopy["names"],
  isRefused: (list: ListName, own: string) => boolean,
): SourceCopy {
  const lists = listNames.map((list) => [list, offer[list].filter((item) => !isRefused(list, ownKey(list, item)))]);
  return { offer: { ...offer, ...Object.fromEntries(lists) }, names };
}
