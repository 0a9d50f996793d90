import type { ServerRef, TenantKey } from "../kernel/names.ts";
import { itemDimensions } from "../manifest/attributes.ts";
import type { CatalogEntry } from "../registry/summary.ts";

/** Dimensions that the catalogue is filtered and counted by. */
export const catalogDimensions = ["tenant", "kind", ...itemDimensions, "status", "probe"] as const;
export type CatalogDimension = (typeof catalogDimensions)[number];

/** Fields of a catalogue item, in response order. */
export const catalogFields = [
  ...(["tenant", "name", "title", "description", "version", "visibility", "status", "probe"] as const),
  ...(["counts", "tokens", "flags", "attributes", "digest", "generation", "updatedAt", "registry"] as const),
] as const;
export type CatalogField = (typeof catalogFields)[number];

/** Matches servers that have one of the values in every given dimension. */
export interface CatalogFilter {
  values: Partial<Record<Exclude<CatalogDimension, "tenant">, readonly string[]>> & { tenant?: readonly TenantKey[] };
  /** Only servers changed at this time or later; epoch milliseconds. */
  updatedSince?: number;
}

/** Tenants whose private servers the caller may see besides public ones; `admin` sees all servers. */
export type CatalogCaller = "admin" | readonly TenantKey[];

/** A catalogue query to the directory. */
export interface DirectoryCatalogQuery extends CatalogFilter {
  caller: CatalogCaller;
  after: ServerRef;
  limit: number;
  /** Dimensions to count. */
  facets: readonly CatalogDimension[];
  /** Generation of the caller's cached page. While it is current, the directory reads nothing. */
  known?: number;
}

/** A number of servers; a lower bound if counting stopped early. */
export interface Counted {
  count: number;
  atLeast?: true;
}

export interface Facet {
  /** Most frequent first. */
  values: ({ value: string } & Counted)[];
  /** True if there are more values. */
  more?: true;
}

export interface CatalogAnswer {
  generation: number;
  items: CatalogEntry[];
  /** Where the scan stopped before the page was full: more servers may follow. */
  stoppedAt?: ServerRef;
  counted?: { total: Counted; facets: Partial<Record<CatalogDimension, Facet>> };
}

/** Catalogue methods of the directory. */
export interface CatalogDirectory {
  /** A page of the catalogue, or only its generation if the caller's cached page is still current. */
  catalog(question: DirectoryCatalogQuery): Promise<CatalogAnswer | { generation: number; known: true }>;
}
