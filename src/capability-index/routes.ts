import { parseBody, readDocument } from "../http/body.ts";
import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import {
  authenticate,
  authenticateOptional,
  freshnessOf,
  readQuery,
  readTenant,
  serverName,
  tenantName,
} from "../http/request.ts";
import { notModified, type ResponseMeta, send, sendConditional, sendData } from "../http/respond.ts";
import { authorizeWrite } from "../registry/write.ts";
import { readAdvertise, shownAdvertise } from "./advertise.ts";
import { fitCapabilityIndex, visibleTenant } from "./budget.ts";
import type { IndexDeps } from "./deps.ts";
import { readIndex } from "./read.ts";
import { AdvertiseSettings, IndexBudgetRequest } from "./schema.ts";

const path = "/api/index/:tenant";

/** Capability indexes for models: full, summary, stats, or fitted to a token budget. */
export function indexRoutes(app: App, services: IndexDeps): void {
  const { bounds } = services.config;
  const limits = { bytes: bounds.configBytes, depth: bounds.depth };

  app.get(`${path}/advertise`, async (c) => {
    const tenant = tenantName(c.req.param("tenant"));
    const { minGeneration } = freshnessOf(c);
    const principal = await authenticate(c, services, "registry:read");
    const { etag, generation, ...data } = unwrap(await readAdvertise(services, principal, tenant, minGeneration));
    readQuery(c, []);
    const meta = { etag, generation, source: "object" as const };
    return sendConditional(c, services, meta, () => sendData(c, services, { ...data, generation }, meta));
  });

  app.put(`${path}/advertise`, async (c) => {
    const writer = await authorizeWrite(c, services, readTenant(c.req.param("tenant")));
    readQuery(c, []);
    const settings = parseBody(AdvertiseSettings, await readDocument(c, limits));
    const written = unwrap(await services.tenant(writer.tenant).setAdvertise(writer, settings));
    const { etag, ...data } = shownAdvertise(written.tenant, settings, written.since, written.generation);
    const meta = { etag, generation: written.generation, source: "object" as const };
    return sendData(c, services, { ...data, changed: written.changed }, meta);
  });

  app.post(`${path}/budget`, async (c) => {
    const tenant = tenantName(c.req.param("tenant"));
    const { minGeneration } = freshnessOf(c);
    const principal = await authenticateOptional(c, services);
    const { shown, generation } = unwrap(await visibleTenant(services, principal, tenant, minGeneration));
    readQuery(c, []);
    const request = parseBody(IndexBudgetRequest, await readDocument(c, limits));
    const fitted = { ...(await fitCapabilityIndex(services, principal, shown, request)), generation };
    const meta: ResponseMeta = { generation, source: "object", headers: { Vary: "Accept, Origin" } };
    if (!wantsYaml(c)) return sendData(c, services, fitted, meta);
    return send(c, services, fitted.index, "text/yaml; charset=utf-8", meta);
  });

  app.get(`${path}/:variant`, (c) => show(c, services, c.req.param("variant")));
  app.get(`${path}/:name/:variant`, (c) => show(c, services, c.req.param("variant"), c.req.param("name")));

  app.all(`${path}/advertise`, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, PUT" });
  });
  app.all(`${path}/budget`, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
  for (const route of [`${path}/:variant`, `${path}/:name/:variant`]) {
    app.all(route, () => {
      throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
    });
  }
}

async function show(c: RequestContext, services: IndexDeps, wanted: string, server?: string): Promise<Response> {
  const ref = {
    tenant: tenantName(c.req.param("tenant")),
    name: server === undefined ? undefined : serverName(server),
  };
  const freshness = freshnessOf(c);
  const principal = await authenticateOptional(c, services);
  const ifNoneMatch = c.req.header("If-None-Match");
  const read = await readIndex(services, principal, ref, wanted, { freshness, ifNoneMatch, onlyAdvertised: true });
  const { etag, generation, mimeType, shown } = unwrap(read);
  // Checked after permission: a caller without permission must not learn what else is wrong with the request.
  readQuery(c, []);
  const meta = { etag, generation, source: "object" as const };
  if (shown === undefined) return notModified(c, services, meta);
  return send(c, services, shown.text, `${mimeType}; charset=utf-8`, meta);
}

function wantsYaml(c: RequestContext): boolean {
  return /\b(?:application|text)\/(?:x-)?yaml\b/i.test(c.req.header("Accept") ?? "");
}
