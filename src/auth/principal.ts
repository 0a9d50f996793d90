import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";

export type Scope = "registry:read" | "registry:publish";

export function checkScope(principal: Principal, scope: Scope): Failure | undefined {
  if (principal.scopes.includes(scope)) return undefined;
  return failure("ErrorInsufficientScope", `This needs the scope ${scope}`, { scope });
}

/** True for members of the tenant and for admins; any other principal is outside the tenant. */
export function isMember(principal: Principal, tenant: TenantKey): boolean {
  return principal.admin || principal.tenants.includes(tenant);
}

/** The caller and the rights that the token grants. Tenants are granted by name only: there is no wildcard. */
export interface Principal {
  subject: string;
  tenants: readonly TenantKey[];
  scopes: readonly string[];
  admin: boolean;
  /** No token was sent: only public data may be read. */
  anonymous?: true;
  /** Epoch seconds. Nothing derived from the token may outlive it. */
  expiresAt: number;
}
