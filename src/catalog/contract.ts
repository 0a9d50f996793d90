import type { DirectoryState } from "../http/directory-state.ts";
import type { ServerRef, TenantKey } from "../kernel/names.ts";
import { itemDimensions } from "../manifest/attributes.ts";
import type { CatalogEntry } from "../registry/summary.ts";

/** Dimensions that the catalogue is filtered and counted by. */
export const catalogDimensions = ["tenant", "kind", ...itemDimensions, "status", "probe", "flag"] as const;
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

/** By tenant and name, or the last changed first. */
export const catalogOrders = ["name", "updated"] as const;
export type CatalogOrder = (typeof catalogOrders)[number];

/** What a page is selected by. */
export interface CatalogQuestion extends CatalogFilter {
  order: CatalogOrder;
  /** The last server of the page before; with its time in the order `updated`. */
  after: ServerRef & { updatedAt?: number };
  limit: number;
  /** Dimensions to count. */
  facets: readonly CatalogDimension[];
}

/** A catalogue query to the directory. */
export interface DirectoryCatalogQuery extends CatalogQuestion {
  caller: CatalogCaller;
  /** Generation of the caller's cached page. While it is current, the directory reads nothing. */
  known?: number;
}

export interface Facet {
  /** Most frequent first. */
  values: { value: string; count: number }[];
  /** True if there are more values. */
  more?: true;
}

/** Servers that match, and how many of them have each value. */
export interface CatalogCounts {
  total: { count: number };
  totals: { servers: number; capabilities: number; tokens: number };
  facets: Partial<Record<CatalogDimension, Facet>>;
}

export interface CatalogAnswer extends DirectoryAsOf {
  items: CatalogEntry[];
  counted?: CatalogCounts;
}

/** Servers of a caller's tenants that are not public. */
export interface PrivateServers extends DirectoryAsOf {
  /** undefined if there are too many to send: the directory then answers the whole question. */
  entries?: CatalogEntry[];
}

/**
 * The state that an answer is as of. `generation` moves with everything that the caller may see: for someone without
 * tenants it is the public generation.
 */
export interface DirectoryAsOf {
  generation: number;
  directory: DirectoryState;
}

/** Catalogue methods of the directory. */
export interface CatalogDirectory {
  /** A page of the catalogue, or only its generation if the caller's cached page is still current. */
  catalog(question: DirectoryCatalogQuery): Promise<CatalogAnswer | (DirectoryAsOf & { known: true })>;
  /** For callers whose public part is in memory. */
  privateServers(tenants: readonly TenantKey[]): Promise<PrivateServers>;
}
