import { etagOf, matchesEtag } from "../domain/etag.ts";
import { resolveHead } from "../reading/manifest.ts";
import { readableHead } from "../reading/permission.ts";
import { isUnread, showView } from "../reading/view.ts";
import type { Services } from "../services.ts";
import type { View } from "../views/view.ts";
import { notModified, send } from "./answer.ts";
import { type RequestContext, unwrap } from "./context.ts";
import { admit, freshnessOf, parameters, permit, serverRef } from "./request.ts";

/**
 * One view of one server: authorise, resolve the head, compare tags, send bytes. When caller, head and view are all in
 * memory nothing is awaited and nothing else is touched.
 */
export async function readView(c: RequestContext, services: Services, view: View): Promise<Response> {
  const ref = serverRef(c);
  const freshness = freshnessOf(c);
  if (c.req.url.includes("?")) parameters(c, []);
  const known = services.authenticator.peek(c.req.header("Authorization"));
  const principal = known ? permit(c, services, known, "registry:read") : await admit(c, services, "registry:read");
  const remembered = services.heads.peek(ref, freshness);
  const resolved = remembered ?? unwrap(await resolveHead(services, principal, ref, freshness));
  const head = unwrap(readableHead(principal, ref.tenant, resolved, freshness.minGeneration));

  const meta = { etag: etagOf(head, view.version), generation: resolved.asOf, source: resolved.source };
  const ifNoneMatch = c.req.header("If-None-Match");
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) return notModified(c, services, meta);

  const bytes = isUnread(head) ? undefined : services.views.peek(head, view);
  if (bytes !== undefined) return send(c, services, bytes, view.contentType, meta);
  const { bytes: rendered, ...shown } = unwrap(await showView(services, principal, view, head, resolved));
  return send(c, services, rendered, view.contentType, shown);
}
