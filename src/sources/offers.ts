import { type ListName, listNames } from "../formats/mcp/describe-item.ts";
import type { AcceptedManifest } from "../manifest/prepare.ts";
import type { PublishRequest } from "../registry/contract.ts";
import type { SourceCopy, SourceOffer } from "../registry/sources/offer.ts";
import type { StoredCopy } from "../registry/sql/source-copies.ts";
import type { SourceReading } from "./contract.ts";
import type { Notes, SourceRead } from "./refresh-outcome.ts";
import { ownKey, type ReadSource } from "./source-manifest.ts";

/** How many items may still be taken from copies. Each that is taken leaves less for the next. */
interface Room {
  items: number;
}

/** What is known of a source: the reading, the copy of the address that counts, or both. */
interface Known extends Omit<ReadSource, "offer"> {
  reading?: SourceReading;
  last?: SourceOffer;
}

/**
 * The offers to publish: what was read, and from copies what could not be read. `most` items are published together.
 * What is only remembered gets the place that is left beside what was read, and items that readers see come first: a
 * reading never fails because of a copy.
 */
export function offersOf(
  reads: readonly SourceRead[],
  copies: ReadonlyMap<string, StoredCopy | undefined>,
  most: number,
): ReadSource[] {
  const known = reads.flatMap(({ source: { id, url }, read }): Known[] => {
    const copy = copies.get(id);
    const isFormer = copy !== undefined && copy.address !== url;
    if (read.ok) return [{ id, url, copy, reading: read.value, last: isFormer ? undefined : copy?.offer }];
    return copy === undefined ? [] : [{ id, url: copy.address, copy, last: copy.offer, isFormer }];
  });
  const read = known.flatMap(({ reading }) => (reading === undefined ? [] : sizeOf(reading)));
  const room: Room = { items: most - read.reduce((sum, size) => sum + size, 0) };
  const rank = ({ reading, isFormer }: Known) => (reading !== undefined ? 1 : isFormer ? 2 : 0);
  const offers = new Map<string, SourceOffer>();
  for (const { id, reading, last } of known.toSorted((a, b) => rank(a) - rank(b))) {
    const offer = reading === undefined ? last && remembered(last, room) : offerOf(reading, last, room);
    if (offer !== undefined) offers.set(id, offer);
  }
  return known.flatMap(({ id, url, copy, isFormer }) => {
    const offer = offers.get(id);
    return offer === undefined ? [] : [{ id, url, copy, offer, isFormer }];
  });
}

/** What a reading found, completed from the copy of the same address where a list could not be read to its end. */
export function offerOf(reading: SourceReading, last: SourceOffer | undefined, room: Room): SourceOffer {
  const { tools, prompts, resources, resourceTemplates, protocolVersion, session, serverInfo, instructions } = reading;
  const offer = { tools, prompts, resources, resourceTemplates, protocolVersion, session, serverInfo, instructions };
  if (last === undefined) return offer;
  const lists = reading.incomplete.map((list) => {
    const seen = new Set(offer[list].map((item) => ownKey(list, item)));
    const unseen = last[list].filter((item) => !seen.has(ownKey(list, item)));
    return [list, [...offer[list], ...taken(unseen, room)]];
  });
  return { ...offer, ...Object.fromEntries(lists) };
}

function remembered(offer: SourceOffer, room: Room): SourceOffer {
  return { ...offer, ...Object.fromEntries(listNames.map((list) => [list, taken(offer[list], room)])) };
}

function taken<Item>(items: readonly Item[], room: Room): readonly Item[] {
  const first = items.slice(0, Math.max(0, room.items));
  room.items -= first.length;
  return first;
}

function sizeOf(offer: Pick<SourceOffer, ListName>): number {
  return listNames.reduce((sum, list) => sum + offer[list].length, 0);
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

/** What sources offer: a manifest, and for each of its items the id of its source. */
export interface Offer {
  manifest: AcceptedManifest;
  sources: string[];
  /** The copies of the sources that were read. */
  copies: { source: string; address: string; copy: SourceCopy }[];
}

export interface PreparedOffer {
  reads: SourceRead[];
  offer: Offer;
  /** Ids of sources that offer something, all of which was refused, and why. */
  refused: string[];
  why: string | undefined;
  notes: Notes;
}

/** The publish of what the sources of a server offer. */
export function publishOf(name: string, { manifest, sources }: Offer): Omit<PublishRequest, "at"> {
  return {
    ...{ name, subject: "introspection", partial: true, isFirstIntrospection: true },
    ...{ manifest, placement: { by: "sources", offers: sources } },
  };
}
