import { type Connection, dataOf } from "./connection.ts";
import { isRollcallError } from "./errors.ts";
import type { components } from "./types.ts";

export type Kind = components["schemas"]["CapabilityKind"];
export type SearchPageData = components["schemas"]["SearchPage"];
export type SearchResult = SearchPageData["items"][number];

/** What choices leave out unless they are told to take it: items with high flags, items of withdrawn servers. */
export type Include = "flagged" | "withdrawn";

export type SearchDimension = keyof NonNullable<SearchPageData["facets"]>;

export interface SearchFilters {
  provider?: readonly string[];
  category?: readonly string[];
  permission?: readonly string[];
  effect?: readonly string[];
  capability_type?: readonly string[];
  status?: readonly SearchResult["status"][];
}

export interface SearchOptions {
  /** Tokens that the definitions of what is found may cost together. */
  budget?: number;
  kinds?: readonly Kind[];
  tenants?: readonly string[];
  /** Only items with one of these values, of each filter that is given. */
  filters?: SearchFilters;
  /** The last word may be unfinished. */
  prefix?: boolean;
  /** Dimensions to count over everything that matches: the answer has them as `facets`. */
  facets?: readonly SearchDimension[];
  limit?: number;
  cursor?: string;
  /** Adds to each result why it was found. */
  explain?: boolean;
  /** Also what a choice would leave out. */
  include?: readonly Include[];
  signal?: AbortSignal;
}

export interface SearchPage extends SearchPageData {
  /** Every result from the first of this page on, page after page. Starts anew once if the cursor expires. */
  all(): AsyncGenerator<SearchResult, void, void>;
}

/** Capabilities for a task in plain words, the best first. */
export async function search(connection: Connection, task: string, options: SearchOptions = {}): Promise<SearchPage> {
  const data = await page(connection, task, options);
  return Object.assign(data, { all: () => everything(connection, task, options, data) });
}

async function page(connection: Connection, task: string, options: SearchOptions): Promise<SearchPageData> {
  const { kinds, tenants, filters, prefix, facets, explain, signal, include, ...rest } = options;
  const query = {
    task,
    kind: kinds,
    tenant: tenants,
    ...filters,
    prefix: prefix || undefined,
    facets: facets?.join(","),
    explain: explain || undefined,
    include: include?.join(","),
    ...rest,
  };
  return dataOf<SearchPageData>(await connection.send("GET", "/api/search", { query, signal }));
}

async function* everything(connection: Connection, task: string, options: SearchOptions, first: SearchPageData) {
  const seen = new Set<string>();
  let data = first;
  let restarted = false;
  for (;;) {
    for (const item of data.items) {
      const key = `${item.tenant} ${item.id}`;
      if (!seen.has(key)) yield item;
      seen.add(key);
    }
    const cursor = data.nextCursor;
    if (cursor === undefined) return;
    try {
      data = await page(connection, task, { ...options, cursor });
    } catch (error) {
      if (restarted || !isRollcallError(error) || error.status !== 410) throw error;
      restarted = true;
      data = await page(connection, task, { ...options, cursor: undefined });
    }
  }
}
