import { itemDimensions } from "../manifest/attributes.ts";
import type { CatalogEntry } from "../registry/summary.ts";

/** What the catalogue is filtered by, and counts. */
export const catalogDimensions = ["tenant", "kind", ...itemDimensions, "status", "probe"] as const;
export type CatalogDimension = (typeof catalogDimensions)[number];

/** Servers that have one of the values in every dimension that is named. */
export interface CatalogFilter {
  values: Partial<Record<CatalogDimension, readonly string[]>>;
  /** Changed at this time or later; epoch milliseconds. */
  updatedSince?: number;
}

/** Whose servers may be seen besides the public ones. */
export type CatalogCaller = "admin" | readonly string[];

/** One question to the directory. */
export interface DirectoryCatalogQuery extends CatalogFilter {
  caller: CatalogCaller;
  after: { tenant: string; name: string };
  limit: number;
  /** Dimensions to count. */
  facets: readonly CatalogDimension[];
  /** The generation of an answer that is known already: nothing is looked up while it still is the present one. */
  known?: number;
}

/** A number of servers; at least that many where counting stopped. */
export interface Counted {
  count: number;
  atLeast?: true;
}

export interface Facet {
  /** The most frequent first. */
  values: ({ value: string } & Counted)[];
  /** There are others. */
  more?: true;
}

export interface CatalogAnswer {
  generation: number;
  items: CatalogEntry[];
  /** Where looking stopped before the page was full: there may be more after it. */
  stoppedAt?: { tenant: string; name: string };
  counted?: { total: Counted; facets: Partial<Record<CatalogDimension, Facet>> };
}

/** What the catalogue asks the directory. */
export interface CatalogDirectory {
  /** A page of the catalogue; no more than its generation where the caller has the answer of that one already. */
  catalog(question: DirectoryCatalogQuery): Promise<CatalogAnswer | { generation: number; known: true }>;
}
