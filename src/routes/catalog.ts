import { parseCatalogQuery } from "../domain/catalog-query.ts";
import { matchesEtag } from "../domain/etag.ts";
import { notModified, send } from "../http/answer.ts";
import { type App, bad, unwrap } from "../http/context.ts";
import { pageOf } from "../http/paged.ts";
import { admitAnyone, freshnessOf } from "../http/request.ts";
import { readCatalog } from "../reading/catalog.ts";
import type { Services } from "../services.ts";

const path = "/api/catalog";

/** Servers across tenants: what is public, and what is the caller's own. */
export function catalogRoutes(app: App, services: Services): void {
  app.get(path, async (c) => {
    const principal = await admitAnyone(c, services);
    const { limit, cursor, ...query } = unwrap(parseCatalogQuery(c.req.queries()));
    const { strong, minGeneration } = freshnessOf(c);
    if (minGeneration > 0) {
      throw bad("ErrorBadRequest", "Rollcall-Min-Generation is a tenant's, and the catalogue goes across tenants");
    }
    const page = pageOf({ ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) });
    const { body, ...meta } = unwrap(await readCatalog(services, principal, query, page, strong));
    const ifNoneMatch = c.req.header("If-None-Match");
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) return notModified(c, services, meta);
    return send(c, services, body, "application/json; charset=utf-8", meta);
  });

  app.all(path, () => {
    throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}
