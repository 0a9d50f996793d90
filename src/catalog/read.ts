import type { Principal } from "../auth/principal.ts";
import { type PageRequest, pageOf, readCursor, serverKey } from "../http/page.ts";
import { digestOfText } from "../kernel/digest.ts";
import type { Failure } from "../kernel/failure.ts";
import { refOf } from "../kernel/names.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import { ok, type Result } from "../kernel/result.ts";
import { type CatalogEntry, listedServer } from "../registry/summary.ts";
import { type CatalogCaller, type CatalogField, catalogDimensions, type DirectoryCatalogQuery } from "./contract.ts";
import type { CatalogDeps } from "./deps.ts";
import type { CatalogPage } from "./page-cache.ts";
import type { CatalogQuery } from "./query.ts";

interface ShownCatalog extends CatalogPage {
  source: AnswerSource;
  /** For a cached page: true while it is still cached and fresh. */
  holds?: () => boolean;
}

/** Part of the ETag: change it whenever the response format changes. */
const version = "c2";

/**
 * A page of the servers a caller may see, across tenants. Cached for two seconds, and then reused while the directory's
 * generation is unchanged; `strong` asks the directory at once.
 */
export async function readCatalog(
  services: CatalogDeps,
  principal: Principal,
  { filter, facets, fields }: CatalogQuery,
  page: PageRequest,
  strong: boolean,
): Promise<Result<ShownCatalog, Failure>> {
  const caller: CatalogCaller = principal.admin ? "admin" : [...new Set(principal.tenants)].sort();
  // The cursor does not depend on fields and facets: they may differ from page to page.
  const scope = { list: "catalog", caller, filter };
  const key = JSON.stringify({
    ...scope,
    fields,
    facets: facets ?? null,
    limit: page.limit,
    cursor: page.cursor ?? null,
  });
  const kept = services.catalogPages.find(key);
  if (kept?.fresh && !strong) {
    services.usage.memory += 1;
    const { page: same } = kept;
    const holds = () => {
      const found = services.catalogPages.find(key);
      return found?.page === same && found.fresh;
    };
    return ok({ ...same, source: "memory", holds });
  }
  const start = await readCursor(services, page.cursor, scope);
  if (!start.ok) return start;
  const [tenant = "", name = ""] = start.value?.after ?? [];
  const question: DirectoryCatalogQuery = {
    ...filter,
    caller,
    after: refOf({ tenant, name }),
    limit: page.limit + 1,
    facets: facets ?? (page.cursor === undefined ? catalogDimensions : []),
    known: kept?.page.generation,
  };
  const writeVersion = services.catalogPages.writeVersion();
  const answer = await services.directory().catalog(question);
  if ("known" in answer) {
    if (kept === undefined) throw new Error("the directory knows of a page that was not mentioned");
    services.catalogPages.keep(key, kept.page, writeVersion);
    return ok({ ...kept.page, source: "object" });
  }
  const built = await pageOf(services, page.limit, scope, start.value, answer, serverKey);
  if (!built.ok) return built;
  const { items, generation, nextCursor, changed } = built.value;
  const content = JSON.stringify({
    items: items.map((entry) => shown(entry, fields)),
    ...answer.counted,
    changed: changed || undefined,
  });
  const rest = JSON.stringify({ generation, nextCursor });
  const shownPage: CatalogPage = {
    body: `{"success":true,"data":${content.slice(0, -1)},${rest.slice(1)}}`,
    // Weak: it does not cover the generation and the cursor that contains it, which change with every write of any
    // tenant.
    etag: `W/"${(await digestOfText(`${content} ${nextCursor !== undefined}`)).slice(7, 39)}.${version}"`,
    generation,
  };
  services.catalogPages.keep(key, shownPage, writeVersion);
  return ok({ ...shownPage, source: "object" });
}

/** The requested fields of an entry. */
function shown({ attributes, ...entry }: CatalogEntry, fields: readonly CatalogField[]): Record<string, unknown> {
  const grouped = Map.groupBy(attributes, ([dimension]) => dimension);
  const values = [...grouped].map(([dimension, found]) => [dimension, found.map(([, value]) => value)]);
  const all: Record<CatalogField, unknown> = {
    ...{ title: undefined, description: undefined, version: undefined, digest: undefined },
    ...{ counts: undefined, tokens: undefined },
    ...listedServer(entry),
    probe: entry.probe,
    attributes: Object.fromEntries(values),
  };
  return Object.fromEntries(fields.map((field) => [field, all[field]]));
}
