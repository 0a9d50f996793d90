import { holds, readObjection } from "../auth/permission.ts";
import type { Principal } from "../auth/principal.ts";
import { etagOf, matchesEtag } from "../domain/etag.ts";
import type { FailureCode } from "../domain/failure.ts";
import type { Head } from "../domain/head.ts";
import type { Services } from "../services.ts";
import type { Freshness, Resolved, ServerRef } from "../storage/heads.ts";
import { farther, type Source } from "../storage/operations.ts";
import type { Rendered } from "../storage/rendered-views.ts";
import type { View } from "../views/view.ts";
import { notModified, send } from "./answer.ts";
import { bad, type RequestContext, refuse } from "./context.ts";
import { admit, freshnessOf, generationAhead, guardTenant, parameters, permit, serverRef } from "./request.ts";

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
  const resolved = services.heads.peek(ref, freshness) ?? (await resolve(services, principal, ref, freshness));
  const head = readableHead(principal, ref, resolved, freshness.minGeneration);

  const meta = { etag: etagOf(head, view.version), generation: resolved.asOf, source: resolved.source };
  const ifNoneMatch = c.req.header("If-None-Match");
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) return notModified(c, services, meta);

  const bytes = services.views.peek(head, view);
  if (bytes !== undefined) return send(c, services, bytes, view.contentType, meta);
  return renderAndSend(c, services, view, { principal, ref, head, resolved });
}

async function resolve(
  services: Services,
  principal: Principal,
  ref: ServerRef,
  freshness: Freshness,
): Promise<Resolved> {
  await guardTenant(services, principal, ref.tenant);
  return services.heads.resolve(ref, freshness);
}

/** A request about a server that its object answers itself. */
export interface ObjectRead {
  ref: ServerRef;
  /** The caller reads a public server of a tenant that is not theirs. */
  outsider: boolean;
  /** The head that came with the object's answer, if the caller may read the server at that very moment. */
  permit(answer: { head?: Head; generation: number }): Head;
}

/** Permission is decided on the object's own head: a cached one may still be public when what is read no longer is. */
export async function readObject(c: RequestContext, services: Services): Promise<ObjectRead> {
  const ref = serverRef(c);
  const { minGeneration } = freshnessOf(c);
  const principal = await admit(c, services, "registry:read");
  await guardTenant(services, principal, ref.tenant);
  services.operations.objectCalls += 1;
  return {
    ref,
    outsider: !holds(principal, ref.tenant),
    permit: ({ head, generation }) => readableHead(principal, ref, { head, asOf: generation }, minGeneration),
  };
}

/** The head, if the principal may read the server it belongs to. */
export function readableHead(
  principal: Principal,
  ref: ServerRef,
  resolved: Pick<Resolved, "head" | "asOf">,
  minGeneration: number,
  absent: FailureCode = "ErrorMCPServerNotFound",
): Head {
  const objection = readObjection(principal, ref.tenant, resolved.head);
  // Permission first: someone outside the tenant learns nothing of its generation.
  if (objection !== undefined && objection.code !== "ErrorMCPServerNotFound") refuse(objection);
  if (resolved.asOf < minGeneration) throw generationAhead(minGeneration, resolved.asOf);
  if (objection !== undefined || resolved.head === undefined) throw bad(absent);
  return resolved.head;
}

interface Render {
  principal: Principal;
  ref: ServerRef;
  head: Head;
  resolved: Resolved;
}

async function renderAndSend(
  c: RequestContext,
  services: Services,
  view: View,
  { principal, ref, head, resolved }: Render,
): Promise<Response> {
  const rendered = await services.views.render(head, view);
  if (rendered !== undefined) {
    const source = farther(resolved.source, rendered.source);
    return sendRendered(c, services, view, rendered, { head, asOf: resolved.asOf, source });
  }
  // The revision was pruned between head and body. The object knows the present one, which may be another's by now.
  const current = await services.heads.resolve(ref, { strong: true, minGeneration: 0 });
  const present = readableHead(principal, ref, current, 0);
  const again = await services.views.render(present, view);
  if (again === undefined) throw bad("ErrorInternalServer", "Failed to fetch capabilities: the manifest is missing");
  return sendRendered(c, services, view, again, { head: present, asOf: current.asOf, source: current.source });
}

function sendRendered(
  c: RequestContext,
  services: Services,
  view: View,
  { bytes }: Rendered,
  { head, asOf, source }: { head: Head; asOf: number; source: Source },
): Response {
  if (bytes === undefined) throw bad("resource_not_found");
  return send(c, services, bytes, view.contentType, { etag: etagOf(head, view.version), generation: asOf, source });
}
