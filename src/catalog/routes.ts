import { type App, requestError, unwrap } from "../http/context.ts";
import { readPageRequest } from "../http/page.ts";
import { authenticateOptional, freshnessOf } from "../http/request.ts";
import { send, sendConditional } from "../http/respond.ts";
import { cacheResponse } from "../http/response-cache.ts";
import type { CatalogDeps } from "./deps.ts";
import { parseCatalogQuery } from "./query.ts";
import { readCatalog } from "./read.ts";

const path = "/api/catalog";
const contentType = "application/json; charset=utf-8";
const encoder = new TextEncoder();
const access = { scope: "registry:read", anonymous: true, variesBy: "tenants" } as const;

/** Servers across tenants: public ones, and those of the caller's own tenants. */
export function catalogRoutes(app: App, services: CatalogDeps): void {
  app.get(path, async (c) => {
    const principal = await authenticateOptional(c, services);
    const { limit, cursor, ...query } = unwrap(parseCatalogQuery(c.req.queries()));
    const { strong, minGeneration } = freshnessOf(c);
    if (minGeneration > 0) {
      throw requestError(
        "ErrorBadRequest",
        "Rollcall-Min-Generation is a tenant's, and the catalogue goes across tenants",
      );
    }
    const page = readPageRequest({ limit, cursor });
    const { body, holds, ...meta } = unwrap(await readCatalog(services, principal, query, page, strong));
    if (holds !== undefined) {
      const bytes = () => encoder.encode(body);
      cacheResponse(c, services, { question: c.req.url, access, principal, body: bytes, contentType, meta, holds });
    }
    return sendConditional(c, services, meta, () => send(c, services, body, contentType, meta));
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}
