import { checkScope, isMember, outsideTenant, type Principal } from "../auth/principal.ts";
import { type Failure, type FailureCode, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Resolved } from "./cache/heads.ts";
import type { Head } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";

/**
 * The reason why a principal may not read a server, or undefined if it may. A caller outside the tenant gets the same
 * failure for a private server as for one that does not exist.
 */
function checkReadable(principal: Principal, tenant: TenantKey, head: Head | undefined): Failure | undefined {
  const gone = head === undefined || head.deleted === true;
  if (isMember(principal, tenant)) return gone ? failure("ErrorMCPServerNotFound") : undefined;
  if (!gone && head.visibility === "public") return undefined;
  return outsideTenant(principal);
}

/** How long an isolate caches that a tenant exists, or that it does not. */
const knownMs = 60_000;
const unknownMs = 2_000;

/**
 * Rejects a caller outside the tenant if nothing was ever published to the tenant, before an object is woken or created
 * for it. The failure is the same as for an existing tenant that the caller is no member of.
 */
export async function checkTenantExists(
  services: RegistryDeps,
  principal: Principal,
  tenant: TenantKey,
): Promise<Failure | undefined> {
  if (isMember(principal, tenant) || (await tenantExists(services, tenant))) return undefined;
  return checkMember(principal, tenant);
}

/** True if the tenant has or ever had a server. */
export async function tenantExists(services: RegistryDeps, tenant: TenantKey): Promise<boolean> {
  const now = services.now();
  let known = services.knownTenants.get(tenant);
  if (known === undefined || known.until <= now) {
    const exists = await services.directory().knows(tenant);
    known = { exists, until: now + (exists ? knownMs : unknownMs) };
    services.knownTenants.set(tenant, known, 0);
  }
  return known.exists;
}

/**
 * The reason why a principal may not read data reserved to members, even of public servers: the change log and the
 * revisions.
 */
export function checkMember(principal: Principal, tenant: TenantKey): Failure | undefined {
  if (isMember(principal, tenant)) return undefined;
  return outsideTenant(principal);
}

/** The reason why a principal does not manage the servers of a tenant; undefined if it does. */
export function checkManager(principal: Principal, tenant: TenantKey): Failure | undefined {
  if (principal.admin) return undefined;
  return checkMember(principal, tenant) ?? checkScope(principal, "registry:publish");
}

/** The head, if the principal may read its server. `absent` is the failure code for a server that does not exist. */
export function requireReadable(
  principal: Principal,
  tenant: TenantKey,
  resolved: Pick<Resolved, "head" | "asOf">,
  minGeneration: number,
  absent: FailureCode = "ErrorMCPServerNotFound",
): Result<Head, Failure> {
  const error = checkReadable(principal, tenant, resolved.head);
  // Permission first: a caller outside the tenant must not learn the tenant's generation.
  if (error !== undefined && error.code !== "ErrorMCPServerNotFound") return err(error);
  const behind = checkMinGeneration(minGeneration, resolved.asOf);
  if (behind !== undefined) return err(behind);
  if (error !== undefined || resolved.head === undefined) return err(failure(absent));
  return ok(resolved.head);
}

/** ErrorGenerationAhead if the tenant has not reached the generation that the caller requires. */
export function checkMinGeneration(wanted: number, generation: number): Failure | undefined {
  if (generation >= wanted) return undefined;
  const message = `Rollcall-Min-Generation is ${wanted}, but the tenant is at generation ${generation}. Use the generation of a write's answer`;
  return failure("ErrorGenerationAhead", message, { generation });
}
