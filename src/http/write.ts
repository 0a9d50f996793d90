import { tenantObjection } from "../auth/permission.ts";
import type { Principal } from "../auth/principal.ts";
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
  return asWriter(c, await admit(c, services, "registry:publish"), tenant);
}

/** The same for a caller who is admitted already, because the tenant was only known from the body. */
export function asWriter(c: RequestContext, principal: Principal, tenant: string): Writer {
  refuse(tenantObjection(principal, tenant, "registry:publish"));
  const precondition = preconditionOf(c.req.header("If-Match"), c.req.header("If-None-Match"));
  return { tenant, subject: principal.subject, ...(precondition === undefined ? {} : { precondition }) };
}

/** Headers of a write's answer: the tag and generation the server is at now. */
export function written(head: Head, status = 200): AnswerMeta {
  return { status, etag: etagOf(head, capabilitiesView.version), generation: head.asOf, source: "object" };
}
