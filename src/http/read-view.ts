import { readObjection } from "../auth/permission.ts";
import type { Principal } from "../auth/principal.ts";
import { etagOf, matchesEtag } from "../domain/etag.ts";
import type { Head } from "../domain/head.ts";
import type { Services } from "../services.ts";
import type { Resolved, ServerRef } from "../storage/heads.ts";
import { farther } from "../storage/operations.ts";
import type { View } from "../views/view.ts";
import { notModified, send } from "./answer.ts";
import { bad, type RequestContext, refuse } from "./context.ts";
import { admit, freshnessOf, generationAhead, permit, serverRef } from "./request.ts";

/**
 * One view of one server: authorise, resolve the head, compare tags, send bytes. When caller, head and view are all in
 * memory nothing is awaited and nothing else is touched.
 */
export async function readView(c: RequestContext, services: Services, view: View): Promise<Response> {
  const ref = serverRef(c);
  const freshness = freshnessOf(c);
  const known = services.authenticator.peek(c.req.header("Authorization"));
  const principal = known ? permit(c, services, known, "registry:read") : await admit(c, services, "registry:read");
  const resolved = services.heads.peek(ref, freshness) ?? (await services.heads.resolve(ref, freshness));
  const head = readableHead(principal, ref, resolved, freshness.minGeneration);

  const meta = { etag: etagOf(head, view.version), generation: resolved.asOf, source: resolved.source };
  const ifNoneMatch = c.req.header("If-None-Match");
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) return notModified(c, services, meta);

  const bytes = services.views.peek(head, view);
  if (bytes !== undefined) return send(c, services, bytes, view.contentType, meta);
  return renderAndSend(c, services, view, ref, head, resolved);
}

/** A request about a server that its object answers itself. */
export interface ObjectRead {
  ref: ServerRef;
  /** The head that came with the object's answer, if the caller may read the server at that very moment. */
  permit(answer: { head?: Head; generation: number }): Head;
}

/** Permission is decided on the object's own head: a cached one may still be public when what is read no longer is. */
export async function readObject(c: RequestContext, services: Services): Promise<ObjectRead> {
  const ref = serverRef(c);
  const { minGeneration } = freshnessOf(c);
  const principal = await admit(c, services, "registry:read");
  services.operations.objectCalls += 1;
  return {
    ref,
    permit: ({ head, generation }) => readableHead(principal, ref, { head, asOf: generation }, minGeneration),
  };
}

function readableHead(
  principal: Principal,
  ref: ServerRef,
  resolved: Pick<Resolved, "head" | "asOf">,
  minGeneration: number,
): Head {
  const objection = readObjection(principal, ref.tenant, resolved.head);
  // Permission first: someone outside the tenant learns nothing of its generation.
  if (objection?.code === "ErrorTenantPermissionError") refuse(objection);
  if (resolved.asOf < minGeneration) throw generationAhead(minGeneration, resolved.asOf);
  refuse(objection);
  if (resolved.head === undefined) throw bad("ErrorMCPServerNotFound");
  return resolved.head;
}

async function renderAndSend(
  c: RequestContext,
  services: Services,
  view: View,
  ref: ServerRef,
  head: Head,
  resolved: Resolved,
): Promise<Response> {
  const rendered = await services.views.render(head, view);
  if (rendered !== undefined) {
    const source = farther(resolved.source, rendered.source);
    const meta = { etag: etagOf(head, view.version), generation: resolved.asOf, source };
    return send(c, services, rendered.bytes, view.contentType, meta);
  }
  // The revision was pruned between head and body: the object knows the present one.
  const current = await services.heads.resolve(ref, { strong: true, minGeneration: 0 });
  const again = current.head && !current.head.deleted ? await services.views.render(current.head, view) : undefined;
  if (current.head === undefined || again === undefined) {
    throw bad("ErrorInternalServer", "Failed to fetch capabilities: the manifest is missing");
  }
  const meta = { etag: etagOf(current.head, view.version), generation: current.asOf, source: current.source };
  return send(c, services, again.bytes, view.contentType, meta);
}
