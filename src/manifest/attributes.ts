import { isObject } from "../kernel/json.ts";

/** What servers are told apart by, beyond their kinds of items: worked out from what each item declares. */
export const itemDimensions = ["provider", "category", "permission", "effect", "capability_type"] as const;
export type ItemDimension = (typeof itemDimensions)[number];

/** One value of one dimension that an item has. */
export type Attribute = [dimension: ItemDimension, value: string];

/** How many of a server's items have each value. */
export interface AttributeCounts {
  values: [...attribute: Attribute, items: number][];
  /** Dimensions of which only the most frequent values are here. */
  cut?: ItemDimension[];
}

/** Of one dimension, in one server: every list of servers carries them. */
export const maxValues = 32;
/** A longer value is left out: cut short it would be another one. */
export const maxValueLength = 128;

/** The attributes of one item, each once. */
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

/** An id says `mcp` for an item that names no provider, and so does this. */
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

/** The attributes of a server, from those of each of its items. */
export function countAttributes(items: Iterable<readonly Attribute[]>): AttributeCounts {
  const tally = new Tally();
  for (const attributes of items) tally.add(attributes, 1);
  return tally.counts();
}

/**
 * The counts once some items came or went. Undefined where they cannot be told from the counts alone, because some
 * values were left out of them: then they have to be counted anew.
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

/** Equal ones in the order of their letters, so that the same items always give the same counts. */
function moreFirst([a, inA]: [string, number], [b, inB]: [string, number]): number {
  return inB - inA || (a < b ? -1 : 1);
}
