import { type Failure, failure } from "../kernel/failure.ts";

export type Scope = "registry:read" | "registry:publish";

/** Why a principal may not act on a tenant; undefined when it may. Asked before anything is looked up. */
export function checkTenantScope(principal: Principal, tenant: string, scope: Scope): Failure | undefined {
  return (
    checkScope(principal, scope) ?? (isMember(principal, tenant) ? undefined : failure("ErrorTenantPermissionError"))
  );
}

export function checkScope(principal: Principal, scope: Scope): Failure | undefined {
  if (principal.scopes.includes(scope)) return undefined;
  return failure("ErrorInsufficientScope", `This needs the scope ${scope}`, { scope });
}

/** Whether a principal acts for a tenant; anyone else is an outsider there. */
export function isMember(principal: Principal, tenant: string): boolean {
  return principal.admin || principal.tenants.includes(tenant);
}

/** Who is calling and what the token lets them do. A tenant is granted only by name: there is no wildcard. */
export interface Principal {
  subject: string;
  tenants: readonly string[];
  scopes: readonly string[];
  admin: boolean;
  /** No token was given: only what is public may be read. */
  anonymous?: true;
  /** Epoch seconds; nothing derived from the token may outlive it. */
  expiresAt: number;
}
