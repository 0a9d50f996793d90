import type { ListName } from "../formats/mcp/describe-item.ts";
import type { Warnings } from "../formats/text.ts";
import { isObject } from "../kernel/json.ts";
import { isPlainName, nameForReaders } from "./source-words.ts";

type Item = Record<string, unknown>;

/** An item and the id of its source. */
export interface SourceItem {
  source: string;
  item: Item;
  /** Its name or URI at the source. */
  own: string;
  /** True if the source offered this at an address that it has no longer: the item is hidden. */
  isFormer?: boolean;
}

/** The name under which an item of a source was published before; undefined if it is new. */
export type NameBefore = (source: string, own: string) => string | undefined;

interface NamedItems {
  items: SourceItem[];
  /** Items that have another name now than at their source, or, with an empty name, are left out. */
  names: { source: string; own: string; name: string }[];
}

/**
 * Gives the items of several sources unique names. First come, first served: an item keeps the name that it was
 * published under, in whatever order the sources are configured, so that nobody's ids and pins change because another
 * source offers the same name later. A newcomer gets the id of its source as a prefix, and keeps that name although the
 * other item may go: a name never passes to another source silently. A URI is an address and is never renamed; the item
 * of the newcomer is left out, but for a hidden item, which gives way to one that readers can see.
 */
export function withUniqueNames(
  list: ListName,
  offers: readonly SourceItem[],
  before: NameBefore,
  warnings: Warnings,
): NamedItems {
  const isRenamable = list === "tools" || list === "prompts";
  const distinct = withoutRepeats(isRenamable ? offers : withoutHiddenTwins(offers), warnings);
  const holders = new Map<string, SourceItem>();
  const given = new Map<SourceItem, string>();
  const take = (offer: SourceItem, name: string) => {
    holders.set(name, offer);
    given.set(offer, name);
  };
  for (const offer of distinct) {
    const name = before(offer.source, offer.own);
    if (name !== undefined && !holders.has(name)) take(offer, name);
  }
  for (const offer of distinct) {
    if (given.has(offer)) continue;
    if (!holders.has(offer.own)) take(offer, offer.own);
    else if (isRenamable) take(offer, freeName(offer, holders));
  }
  for (const offer of distinct) tell(list, offer, given.get(offer), holders.get(offer.own), warnings);
  return {
    items: distinct.flatMap((offer) => {
      const name = given.get(offer);
      return name === undefined ? [] : [renamed(list, offer, name)];
    }),
    names: distinct.flatMap((offer) => {
      const { source, own } = offer;
      const name = given.get(offer) ?? "";
      return name === own ? [] : [{ source, own, name }];
    }),
  };
}

function withoutHiddenTwins(offers: readonly SourceItem[]): SourceItem[] {
  const visible = new Set(offers.filter(({ isFormer }) => isFormer !== true).map(({ own }) => own));
  return offers.filter(({ isFormer, own }) => isFormer !== true || !visible.has(own));
}

function withoutRepeats(offers: readonly SourceItem[], warnings: Warnings): SourceItem[] {
  const seen = new Set<string>();
  return offers.filter(({ source, own }) => {
    const name = JSON.stringify([source, own]);
    if (seen.has(name)) warnings.add(`${source} lists ${nameForReaders(own)} twice; the first is kept`);
    return seen.size < seen.add(name).size;
  });
}

function freeName({ source, own }: SourceItem, taken: ReadonlyMap<string, unknown>): string {
  const prefix = prefixOf(source);
  let name = `${prefix}.${own}`;
  for (let number = 2; taken.has(name); number += 1) name = `${prefix}_${number}.${own}`;
  return name;
}

function tell(
  list: ListName,
  { source, own, isFormer }: SourceItem,
  name: string | undefined,
  holder: SourceItem | undefined,
  warnings: Warnings,
): void {
  if (name === own || holder === undefined) return;
  // Readers see nothing of a hidden item, so there is nothing to tell them.
  if (isFormer === true || holder.isFormer === true) return;
  const what = nameForReaders(own);
  if (name === undefined) {
    warnings.add(`${list}: ${what} of ${source} is left out, because ${holder.source} has it`);
    return;
  }
  const called = isPlainName(own) ? `called ${name}` : "renamed";
  warnings.add(`${list}: ${what} is the name of an item of ${holder.source}, so that of ${source} is ${called}`);
}

function renamed(list: ListName, offer: SourceItem, name: string): SourceItem {
  const { item, own } = offer;
  if (own === name) return offer;
  const { metadata } = item;
  // `metadata.mcp.tool_name` already has the original name of a tool.
  if (list === "tools" || !isObject(metadata) || !isObject(metadata.mcp)) return { ...offer, item: { ...item, name } };
  return {
    ...offer,
    item: { ...item, name, metadata: { ...metadata, mcp: { ...metadata.mcp, prompt_name: item.name } } },
  };
}

/** The source's id, reduced to characters allowed in a name. */
function prefixOf(source: string): string {
  return source.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 48);
}
