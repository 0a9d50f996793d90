import { etagOf, matchesEtag } from "../domain/etag.ts";
import { asCached, resolveHead } from "../reading/manifest.ts";
import { readableHead } from "../reading/permission.ts";
import { isUnread, showView } from "../reading/view.ts";
import type { Services } from "../services.ts";
import type { View } from "../views/view.ts";
import { type AnswerMeta, notModified, send } from "./answer.ts";
import { keepAnswer } from "./answer-again.ts";
import { type RequestContext, unwrap } from "./context.ts";
import { admit, freshnessOf, parameters, serverRef } from "./request.ts";

/**
 * One view of one server: authorise, resolve the head, compare tags, send bytes. What was answered from memory is kept
 * whole, and from then on need not come here.
 */
export async function readView(c: RequestContext, services: Services, view: View): Promise<Response> {
  const ref = serverRef(c);
  const freshness = freshnessOf(c);
  if (c.req.url.includes("?")) parameters(c, []);
  const principal = await admit(c, services, "registry:read");
  const remembered = services.heads.peek(ref, freshness);
  const resolved = remembered ?? unwrap(await resolveHead(services, principal, ref, freshness));
  const head = unwrap(readableHead(principal, ref.tenant, resolved, freshness.minGeneration));

  // What has to be looked at anew, or was not in memory, is not kept.
  const keep = (body: Uint8Array | undefined, meta: AnswerMeta) => {
    if (remembered === undefined || meta.source !== "memory" || isUnread(head)) return;
    const holds = () => services.heads.peek(ref, asCached) === remembered;
    keepAnswer(c, services, { question: c.req.url, body: () => body, contentType: view.contentType, meta, holds });
  };
  const meta = { etag: etagOf(head, view.version), generation: resolved.asOf, source: resolved.source };
  const ifNoneMatch = c.req.header("If-None-Match");
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) {
    keep(services.views.peek(head, view), meta);
    return notModified(c, services, meta);
  }
  const { bytes, ...shown } = unwrap(await showView(services, principal, view, head, resolved));
  keep(bytes, shown);
  return send(c, services, bytes, view.contentType, shown);
}
