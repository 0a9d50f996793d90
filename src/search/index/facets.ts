import { itemDimensions } from "../../manifest/attributes.ts";
import type { Matches } from "../rank.ts";
import { itemStatus, kindOf, type StatusOf } from "./filter.ts";
import type { SearchedPart } from "./frequencies.ts";

/** What results can be filtered and counted by. */
export const searchDimensions = ["tenant", "kind", ...itemDimensions, "status"] as const;
export type SearchDimension = (typeof searchDimensions)[number];

/** Number of matching items by value, of each dimension. */
export type FacetCounts = Partial<Record<SearchDimension, [value: string, count: number][]>>;

/** Counts all items that match, not only the best. */
export function countFacets(
  dimensions: readonly SearchDimension[],
  parts: readonly SearchedPart[],
  { isMatch }: Matches,
  statusOf: StatusOf = () => "active",
): FacetCounts {
  const counts = new Counts(dimensions);
  parts.forEach(({ part }, number) => {
    part.servers.forEach((server, at) => {
      const state = statusOf(server) ?? "active";
      const end = part.serverStarts[at + 1] as number;
      for (let place = part.serverStarts[at] as number; place < end; place += 1) {
        if (!isMatch(number, place)) continue;
        const kind = part.kinds[place] as number;
        counts.add("tenant", server.tenant);
        counts.add("kind", kindOf(kind));
        counts.add("status", itemStatus(kind, state));
        for (
          let slot = part.attributeStarts[place] as number;
          slot < (part.attributeStarts[place + 1] as number);
          slot += 1
        ) {
          const [dimension, value] = part.values[part.attributes[slot] as number] ?? ["provider", ""];
          counts.add(dimension, value);
        }
      }
    });
  });
  return counts.found();
}

class Counts {
  readonly #counts: Map<SearchDimension, Map<string, number>>;

  constructor(dimensions: readonly SearchDimension[]) {
    this.#counts = new Map(dimensions.map((dimension) => [dimension, new Map()]));
  }

  add(dimension: SearchDimension, value: string, by = 1): void {
    const values = this.#counts.get(dimension);
    values?.set(value, (values.get(value) ?? 0) + by);
  }

  /** Most frequent first, ties in code unit order. */
  found(): FacetCounts {
    const sorted = Array.from(this.#counts, ([dimension, values]) => {
      const all = [...values].sort(([a, inA], [b, inB]) => inB - inA || (a < b ? -1 : 1));
      return [dimension, all] as const;
    });
    return Object.fromEntries(sorted);
  }
}

/** Facets of several indexes that have no item in common. */
export function addFacets(dimensions: readonly SearchDimension[], all: readonly FacetCounts[]): FacetCounts {
  const counts = new Counts(dimensions);
  for (const facets of all) {
    for (const dimension of dimensions) {
      for (const [value, count] of facets[dimension] ?? []) counts.add(dimension, value, count);
    }
  }
  return counts.found();
}
