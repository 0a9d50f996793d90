import { type Scope, tenantObjection } from "../auth/permission.ts";
import { etagOf, preconditionOf } from "../domain/etag.ts";
import type { Head } from "../domain/head.ts";
import type { Writer } from "../objects/tenant/tenant-object.ts";
import type { Services } from "../services.ts";
import { capabilitiesView } from "../views/capabilities.ts";
import type { AnswerMeta } from "./answer.ts";
import { type RequestContext, refuse } from "./context.ts";
import { admit } from "./request.ts";

/** A caller who may write to a tenant, with what their headers require of the server. */
export async function writerTo(c: RequestContext, services: Services, tenant: string): Promise<Writer> {
  const scope: Scope = "registry:publish";
  const principal = await admit(c, services, scope);
  refuse(tenantObjection(principal, tenant, scope));
  const precondition = preconditionOf(c.req.header("If-Match"), c.req.header("If-None-Match"));
  return { tenant, subject: principal.subject, ...(precondition === undefined ? {} : { precondition }) };
}

/** Headers of a write's answer: the tag and generation the server is at now. */
export function written(head: Head, status = 200): AnswerMeta {
  return { status, etag: etagOf(head, capabilitiesView.version), generation: head.asOf, source: "object" };
}
