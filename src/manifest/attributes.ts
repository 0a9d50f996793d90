import { isObject } from "../kernel/json.ts";

/** Dimensions by which servers are filtered, besides the kinds of their items. Derived from the declared items. */
export const itemDimensions = ["provider", "category", "permission", "effect", "capability_type"] as const;
type ItemDimension = (typeof itemDimensions)[number];

/** One value of an item in one dimension. */
export type Attribute = [dimension: ItemDimension, value: string];

/** Number of a server's items per attribute. */
export interface AttributeCounts {
  values: [...attribute: Attribute, items: number][];
  /** Dimensions with more than `maxValues` values, of which only the most frequent are listed. */
  cut?: ItemDimension[];
}

/** Per dimension, for an item and for a server: every list of servers contains these values. */
export const maxValues = 32;
/** Longer values are omitted: a truncated value would be a different value. */
export const maxValueLength = 128;

/** The attributes of one item, without duplicates. */
export function attributesOf(declared: Record<string, unknown>): Attribute[] {
  const metadata = isObject(declared.metadata) ? declared.metadata : {};
  const discovery = isObject(metadata.discovery) ? metadata.discovery : {};
  const found: Record<ItemDimension, unknown[]> = {
    provider: providersOf(declared.provider, metadata),
    category: [declared.category],
    permission: listOf(declared.permissions),
    effect: listOf(declared.effects),
    capability_type: [discovery.capability_type],
  };
  return itemDimensions.flatMap((dimension) =>
    [...new Set(found[dimension].filter(isValue))].slice(0, maxValues).map((value): Attribute => [dimension, value]),
  );
}

/** The default provider is `mcp`, as in default capability ids. */
function providersOf(provider: unknown, metadata: Record<string, unknown>): string[] {
  if (typeof provider === "string" && provider !== "") return [provider.toLowerCase()];
  const named = ["mcp", "openapi", "graphql"].filter((name) => isObject(metadata[name]));
  return named.length === 0 ? ["mcp"] : named;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isValue(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxValueLength;
}

/** The attribute counts of a server, from the attributes of its items. */
export function countAttributes(items: Iterable<readonly Attribute[]>): AttributeCounts {
  const tally = new Tally();
  for (const attributes of items) tally.add(attributes, 1);
  return tally.counts();
}

/**
 * The counts after items were added or removed. undefined if values were cut from the counts: then all items must be
 * counted again.
 */
export function adjustAttributes(
  { values, cut }: AttributeCounts,
  changes: Iterable<{ attributes: readonly Attribute[]; by: 1 | -1 }>,
): AttributeCounts | undefined {
  if (cut !== undefined) return undefined;
  const tally = new Tally();
  for (const [dimension, value, items] of values) tally.add([[dimension, value]], items);
  for (const { attributes, by } of changes) tally.add(attributes, by);
  return tally.counts();
}

class Tally {
  readonly #items = new Map<ItemDimension, Map<string, number>>(
    itemDimensions.map((dimension) => [dimension, new Map()]),
  );

  add(attributes: readonly Attribute[], by: number): void {
    for (const [dimension, value] of attributes) {
      const counts = this.#items.get(dimension);
      counts?.set(value, (counts.get(value) ?? 0) + by);
    }
  }

  counts(): AttributeCounts {
    const values: AttributeCounts["values"] = [];
    const cut: ItemDimension[] = [];
    for (const [dimension, counts] of this.#items) {
      const present = [...counts].filter(([, items]) => items > 0).sort(moreFirst);
      if (present.length > maxValues) cut.push(dimension);
      for (const [value, items] of present.slice(0, maxValues)) values.push([dimension, value, items]);
    }
    return cut.length === 0 ? { values } : { values, cut };
  }
}

/** Most frequent first, ties by code unit order, so that the same items always give the same counts. */
function moreFirst([a, inA]: [string, number], [b, inB]: [string, number]): number {
  return inB - inA || (a < b ? -1 : 1);
}
