import type { z } from "zod";
import type { Principal } from "../auth/principal.ts";
import { type CatalogQuery, catalogQuery } from "../catalog/query.ts";
import { readCatalog } from "../catalog/read.ts";
import type { CatalogPage } from "../catalog/schema.ts";
import { unwrap } from "../http/context.ts";
import type { PageRequest } from "../http/page.ts";
import { anonymousPrincipal } from "../http/request.ts";
import { tenantKey, tenantPattern } from "../kernel/names.ts";
import { editDistance } from "../kernel/nearest.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import { readJson } from "../kernel/read-json.ts";
import type { ConsoleDeps } from "./deps.ts";

export type Catalogue = z.infer<typeof CatalogPage>;
export type CatalogueItem = Catalogue["items"][number];

/** A page of the catalogue as the API has it, from the same cache. */
export async function readCatalogue(
  services: ConsoleDeps,
  principal: Principal,
  query: CatalogQuery,
  page: PageRequest,
): Promise<{ catalogue: Catalogue; source: AnswerSource; holds?: () => boolean }> {
  const { body, source, holds } = unwrap(await readCatalog(services, principal, query, page, { strong: false }));
  const { data } = readJson(body) as { data: Catalogue };
  return { catalogue: data, source, holds };
}

const suggestions = 3;

/** Public servers of a tenant whose names are like this one: the same for everybody who asks. */
export async function nearServers(services: ConsoleDeps, tenant: string, name: string) {
  if (!tenantPattern.test(tenant) || name.length > 128) return [];
  const query = catalogQuery({ ...noFilter, tenant: [tenantKey(tenant)], facets: ["false"], fields: ["name"] });
  const found = await readCatalogue(services, anonymousPrincipal, query, { limit: 100, cursor: undefined }).catch(
    () => undefined,
  );
  const wanted = name.toLowerCase();
  return (found?.catalogue.items ?? [])
    .map((item) => ({ item, edits: distance(wanted, item.name.toLowerCase()) }))
    .filter(({ edits }) => edits <= 3)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, suggestions)
    .map(({ item }) => item);
}

function distance(wanted: string, name: string): number {
  return name.includes(wanted) || wanted.includes(name) ? 1 : editDistance(wanted, name, 3);
}

/** A catalogue query without any filter. */
export const noFilter = {
  tenant: undefined,
  kind: undefined,
  provider: undefined,
  category: undefined,
  permission: undefined,
  effect: undefined,
  capability_type: undefined,
  flag: undefined,
  order: "name" as const,
  status: undefined,
  probe: undefined,
  updated_since: undefined,
};
