import { checkTenantScope, type Principal } from "../auth/principal.ts";
import { type RequestContext, throwIf } from "../http/context.ts";
import { authenticate } from "../http/request.ts";
import type { ResponseMeta } from "../http/respond.ts";
import { etagOf, preconditionOf } from "../kernel/etag.ts";
import type { Head, Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { capabilitiesView } from "./views/capabilities.ts";

/** The longest any data centre may show what was true before a write. docs/freshness.md says how it adds up. */
export const propagationMs = 80_000;

/** By when something taken away is gone everywhere. */
export function effectiveBy(now: number): string {
  return new Date(now + propagationMs).toISOString();
}

/** A caller who may write to a tenant, with what their headers require of the server. */
export async function authorizeWrite(c: RequestContext, services: RegistryDeps, tenant: string): Promise<Writer> {
  return writerOf(c, await authenticate(c, services, "registry:publish"), tenant);
}

/** The same for a caller who is admitted already, because the tenant was only known from the body. */
export function writerOf(c: RequestContext, principal: Principal, tenant: string): Writer {
  throwIf(checkTenantScope(principal, tenant, "registry:publish"));
  const precondition = preconditionOf(c.req.header("If-Match"), c.req.header("If-None-Match"));
  return { tenant, subject: principal.subject, precondition };
}

/** Headers of a write's answer: the tag and generation the server is at now. */
export function writeMeta(head: Head, status = 200): ResponseMeta {
  return { status, etag: etagOf(head, capabilitiesView.version), generation: head.asOf, source: "object" };
}
