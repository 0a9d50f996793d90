import type { Principal } from "../auth/principal.ts";
import type { ResponseMeta } from "../http/respond.ts";
import { etagOf, preconditionOf } from "../kernel/etag.ts";
import type { NamedTenant } from "../kernel/names.ts";
import type { WriteReceipt, Writer } from "./contract.ts";
import { capabilitiesView } from "./views/capabilities.ts";

/**
 * The longest time for which any data centre may show the state before a write. docs/explanation/freshness.md derives the value.
 */
const propagationMs = 80_000;

/** The time by which no data centre shows removed data any more. */
export function effectiveBy(now: number): string {
  return new Date(now + propagationMs).toISOString();
}

/** The author of a write to a tenant that the caller may write to, and the precondition of the request's headers. */
export function writerFrom(
  { subject }: Principal,
  { tenant, spelling }: NamedTenant,
  headers: { "If-Match"?: string | undefined; "If-None-Match"?: string | undefined } = {},
): Writer {
  return { tenant, spelling, subject, precondition: preconditionOf(headers["If-Match"], headers["If-None-Match"]) };
}

/** Response metadata of a write: the new ETag and generation, and the state of the directory that has it. */
export function writeMeta({ head, directory }: WriteReceipt): ResponseMeta {
  const etag = etagOf(head, capabilitiesView.version);
  return { status: 200, etag, generation: head.asOf, source: "object", directory };
}
