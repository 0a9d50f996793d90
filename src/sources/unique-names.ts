import type { ListName } from "../formats/mcp/describe-item.ts";
import type { Warnings } from "../formats/text.ts";
import { isObject } from "../kernel/json.ts";
import { sections } from "../manifest/schema/manifest.ts";
import { isPlainName, nameForReaders } from "./source-words.ts";

type Item = Record<string, unknown>;

/** An item and the id of its source. */
export interface SourceItem {
  source: string;
  item: Item;
}

/**
 * Gives the items of several sources unique names. If two sources use the same name, both items are renamed: if the
 * first kept the name, the second could take it over silently once the first source drops it. A URI is an address and
 * is never renamed; the first source wins.
 */
export function withUniqueNames(list: ListName, offers: readonly SourceItem[], warnings: Warnings): SourceItem[] {
  const distinct = withoutRepeats(list, offers, warnings);
  const named = list === "tools" || list === "prompts" ? qualified(list, distinct, warnings) : distinct;
  return firstOfEach(list, named, warnings);
}

const keyOf = (list: ListName, { item }: SourceItem) => sections[list].key(item);

function withoutRepeats(list: ListName, offers: readonly SourceItem[], warnings: Warnings): SourceItem[] {
  const seen = new Set<string>();
  return offers.filter((offer) => {
    const name = JSON.stringify([offer.source, keyOf(list, offer)]);
    if (seen.has(name)) warnings.add(`${offer.source} lists ${quoted(list, offer)} twice; the first is kept`);
    return seen.size < seen.add(name).size;
  });
}

function qualified(list: "tools" | "prompts", offers: SourceItem[], warnings: Warnings): SourceItem[] {
  const names = offers.map((offer) => keyOf(list, offer));
  // A new name can equal a name that was unique so far, which must then be renamed too. Each item is renamed at most
  // once, so the loop ends.
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    const groups = Map.groupBy(offers.keys(), (index) => names[index]);
    for (const [name, group] of groups) {
      const bare = group.filter((index) => names[index] === keyOf(list, offers[index] as SourceItem));
      if (group.length < 2 || bare.length === 0) continue;
      for (const index of bare) names[index] = `${prefixOf((offers[index] as SourceItem).source)}.${name}`;
      hasChanged = true;
      const called = isPlainName(name) ? `called ${bare.map((index) => names[index]).join(" and ")}` : "renamed";
      warnings.add(`${list}: ${nameForReaders(name)} is offered more than once, so it is ${called}`);
    }
  }
  return offers.map((offer, index) => renamed(list, offer, names[index] as string));
}

function renamed(list: "tools" | "prompts", offer: SourceItem, name: string): SourceItem {
  const { item } = offer;
  if (item.name === name) return offer;
  const { metadata } = item;
  // `metadata.mcp.tool_name` already has the original name of a tool.
  if (list === "tools" || !isObject(metadata) || !isObject(metadata.mcp)) return { ...offer, item: { ...item, name } };
  return {
    ...offer,
    item: { ...item, name, metadata: { ...metadata, mcp: { ...metadata.mcp, prompt_name: item.name } } },
  };
}

function firstOfEach(list: ListName, offers: SourceItem[], warnings: Warnings): SourceItem[] {
  const holders = new Map<string, string>();
  return offers.filter((offer) => {
    const key = keyOf(list, offer);
    const holder = holders.get(key);
    if (holder === undefined) return holders.set(key, offer.source);
    warnings.add(`${list}: ${quoted(list, offer)} of ${offer.source} is left out, because ${holder} has it`);
    return false;
  });
}

function quoted(list: ListName, offer: SourceItem): string {
  return nameForReaders(keyOf(list, offer));
}

/** The source's id, reduced to characters allowed in a name. */
function prefixOf(source: string): string {
  return source.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 48);
}
