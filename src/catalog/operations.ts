import { anyone } from "../http/access.ts";
import { unwrap } from "../http/context.ts";
import { operation } from "../http/operation.ts";
import {
  cacheControl,
  freshnessFrom,
  ifNoneMatch,
  minDirectory,
  minGenerationPerTenant,
  refused,
} from "../http/parameters.ts";
import type { CatalogDeps } from "./deps.ts";
import { catalogParameters, catalogQuery } from "./query.ts";
import { readCatalog as readPage } from "./read.ts";
import { CatalogPage } from "./schema.ts";

const readCatalog = operation({
  id: "readCatalog",
  method: "get",
  path: "/api/catalog",
  tag: "Find",
  summary: "List servers across tenants",
  description:
    "Public servers, and those of the caller's own tenants. A filter may be repeated: one of its values is enough.",
  access: anyone,
  parameters: {
    query: catalogParameters,
    headers: {
      "Cache-Control": cacheControl,
      "If-None-Match": ifNoneMatch,
      "Rollcall-Min-Directory-Generation": minDirectory,
      "Rollcall-Min-Generation": refused(minGenerationPerTenant),
    },
  },
  answers: {
    200: { description: "A page.", data: CatalogPage, etag: true, generation: true, directory: true },
  },
  cached: true,
  examples: {
    tools: { summary: "Servers of one tenant that have tools", query: { kind: ["tool"], tenant: ["demo"] } },
  },

  async handle(services: CatalogDeps, { principal, query: { limit, cursor, ...wanted }, headers, answer }) {
    const freshness = { ...freshnessFrom(headers), min: headers["Rollcall-Min-Directory-Generation"] };
    const { body, holds, ...meta } = unwrap(
      await readPage(services, principal, catalogQuery(wanted), { limit, cursor }, freshness),
    );
    return answer.raw(200, body, { ...meta, cache: holds && { holds, variesBy: "tenants" } });
  },
});

export const catalogOperations = [readCatalog];
