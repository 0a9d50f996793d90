import { isMember, type Principal } from "../auth/principal.ts";
import { type Failure, type FailureCode, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Resolved } from "./cache/heads.ts";
import type { Head } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";

/**
 * Why a principal may not read a server; undefined when it may. To someone outside the tenant, a private server and no
 * server look the same.
 */
export function checkReadable(principal: Principal, tenant: string, head: Head | undefined): Failure | undefined {
  const gone = head === undefined || head.deleted === true;
  if (isMember(principal, tenant)) return gone ? failure("ErrorMCPServerNotFound") : undefined;
  if (!gone && head.visibility === "public") return undefined;
  return failure(principal.anonymous ? "ErrorUnauthorized" : "ErrorTenantPermissionError");
}

/** How long an isolate remembers that a tenant exists, or does not. */
const knownMs = 60_000;
const unknownMs = 2_000;

/**
 * Turns an outsider away from a tenant that no one has ever published to, before anything is woken or made for it. To
 * them it looks like any tenant that is not theirs.
 */
export async function checkTenantExists(
  services: RegistryDeps,
  principal: Principal,
  tenant: string,
): Promise<Failure | undefined> {
  if (isMember(principal, tenant) || (await tenantExists(services, tenant))) return undefined;
  return checkMember(principal, tenant);
}

/** Whether a tenant has, or ever had, a server. */
export async function tenantExists(services: RegistryDeps, tenant: string): Promise<boolean> {
  const now = services.now();
  let known = services.knownTenants.get(tenant);
  if (known === undefined || known.until <= now) {
    const exists = await services.directory().knows(tenant);
    known = { exists, until: now + (exists ? knownMs : unknownMs) };
    services.knownTenants.set(tenant, known);
  }
  return known.exists;
}

/** Why a principal may not see what is the tenant's alone, however public its servers are: its log and its past. */
export function checkMember(principal: Principal, tenant: string): Failure | undefined {
  if (isMember(principal, tenant)) return undefined;
  return failure(principal.anonymous ? "ErrorUnauthorized" : "ErrorTenantPermissionError");
}

/** The head, if the principal may read the server it belongs to. */
export function requireReadable(
  principal: Principal,
  tenant: string,
  resolved: Pick<Resolved, "head" | "asOf">,
  minGeneration: number,
  absent: FailureCode = "ErrorMCPServerNotFound",
): Result<Head, Failure> {
  const error = checkReadable(principal, tenant, resolved.head);
  // Permission first: someone outside the tenant learns nothing of its generation.
  if (error !== undefined && error.code !== "ErrorMCPServerNotFound") return err(error);
  const behind = checkMinGeneration(minGeneration, resolved.asOf);
  if (behind !== undefined) return err(behind);
  if (error !== undefined || resolved.head === undefined) return err(failure(absent));
  return ok(resolved.head);
}

/** The tenant is behind what the caller asked to see: it names a generation that does not exist yet. */
export function checkMinGeneration(wanted: number, generation: number): Failure | undefined {
  if (generation >= wanted) return undefined;
  const message = `The tenant is at generation ${generation}, not yet at ${wanted}`;
  return failure("ErrorGenerationAhead", message, { generation });
}
