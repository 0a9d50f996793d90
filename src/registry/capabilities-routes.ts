import { parseBody, readDocument } from "../http/body.ts";
import { type App, type RequestContext, RequestFailed, requestError, throwIf, unwrap } from "../http/context.ts";
import { authenticate, freshnessOf, readQuery, serverRef } from "../http/request.ts";
import { notModified, type ResponseMeta, send, sendData } from "../http/respond.ts";
import { cacheResponse } from "../http/response-cache.ts";
import { etagOf, matchesEtag } from "../kernel/etag.ts";
import { failure } from "../kernel/failure.ts";
import { checkManager, requireReadable } from "./access.ts";
import type { RegistryDeps } from "./deps.ts";
import { publishDocument } from "./publish.ts";
import { includesDisabled, pushOptions, sendPublished } from "./publish-answer.ts";
import { allowCached, findView, neverIntrospected, renderView, resolveHead } from "./read.ts";
import { ItemSwitch } from "./schema.ts";
import { capabilitiesView, managedView } from "./views/capabilities.ts";
import type { View } from "./views/view.ts";
import { authorizeWrite, effectiveBy, writeMeta } from "./write.ts";

/**
 * Sends one view of one server: authenticate, resolve the head, compare ETags, send bytes. A response served from
 * memory is stored in the response cache, which answers the next requests without this function.
 */
async function readView(c: RequestContext, services: RegistryDeps, view: View): Promise<Response> {
  const ref = serverRef(c);
  const freshness = freshnessOf(c);
  if (c.req.url.includes("?") && view !== managedView) readQuery(c, []);
  const principal = await authenticate(c, services, "registry:read");
  if (view === managedView) throwIf(checkManager(principal, ref.tenant));
  const remembered = services.heads.peek(ref, freshness);
  const resolved = remembered ?? unwrap(await resolveHead(services, principal, ref, freshness));
  const head = unwrap(requireReadable(principal, ref.tenant, resolved, freshness.minGeneration));

  // Store only responses served from memory, and none of a server that was never introspected: each read of it may
  // trigger a refresh.
  const keep = (body: Uint8Array | undefined, meta: ResponseMeta) => {
    if (remembered === undefined || meta.source !== "memory" || neverIntrospected(head) || view === managedView) return;
    const holds = () => services.heads.peek(ref, allowCached) === remembered;
    cacheResponse(c, services, { question: c.req.url, body: () => body, contentType: view.contentType, meta, holds });
  };
  const meta = { etag: etagOf(head, view.version), generation: resolved.asOf, source: resolved.source };
  const ifNoneMatch = c.req.header("If-None-Match");
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) {
    keep(services.views.peek(head, view), meta);
    return notModified(c, services, meta);
  }
  const { bytes, ...shown } = unwrap(await renderView(services, principal, view, head, resolved));
  keep(bytes, shown);
  return send(c, services, bytes, view.contentType, shown);
}

const path = "/api/mcp/capabilities/:tenant/:name";

/** Read and publish the capabilities of a server, and switch items on and off. */
export function capabilitiesRoutes(app: App, services: RegistryDeps): void {
  const { bounds } = services.config;

  app.get(path, (c) => {
    const isManaged = c.req.url.includes("?") && includesDisabled(readQuery(c, ["include"]).include);
    return readView(c, services, isManaged ? managedView : capabilitiesView);
  });

  app.put(path, async (c) => {
    const ref = serverRef(c);
    const writer = await authorizeWrite(c, services, ref.tenant);
    const options = pushOptions(readQuery(c, ["partial", "dryRun", "sections", "include"]));
    const document = await readDocument(c, { bytes: bounds.manifestBytes, depth: bounds.depth });
    const published = unwrap(await publishDocument(services, ref, writer, document, options));
    return sendPublished(c, services, published, options);
  });

  app.patch(path, async (c) => {
    const ref = serverRef(c);
    const writer = await authorizeWrite(c, services, ref.tenant);
    readQuery(c, []);
    const document = await readDocument(c, { bytes: bounds.configBytes, depth: bounds.depth });
    const { items } = parseBody(ItemSwitch, document);
    const switches = items.map(({ kind, name, enabled }) => ({ kind, key: name, enabled }));
    const { head, generation, changed, narrowed } = unwrap(
      await services.tenant(ref.tenant).switchItems(writer, ref.name, switches),
    );
    await services.heads.confirm(head);
    const data = { generation, changed, effectiveBy: narrowed ? effectiveBy(services.now()) : undefined };
    return sendData(c, services, data, writeMeta(head));
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, PUT, PATCH" });
  });
}

/** The `capabilities://` views of a server. */
export function viewsRoutes(app: App, services: RegistryDeps): void {
  app.get("/api/mcp/capabilities/:tenant/:name/:view", async (c) => {
    const view = unwrap(findView(c.req.param("view")));
    try {
      return await readView(c, services, view);
    } catch (error) {
      // An internal error while rendering a view is reported as `server_error`.
      if (error instanceof RequestFailed && error.failure.code !== "ErrorInternalServer") throw error;
      if (error instanceof RequestFailed) throw new RequestFailed(failure("server_error", error.failure.message));
      throw error;
    }
  });

  app.all("/api/mcp/capabilities/:tenant/:name/:view", () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}
