import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";

export const scopes = ["registry:read", "registry:publish"] as const;

export type Scope = (typeof scopes)[number];

export function checkScope(principal: Principal, scope: Scope): Failure | undefined {
  if (principal.scopes.includes(scope)) return undefined;
  const message = `The token lacks the scope ${scope}. Make a token with \`--scope "registry:read registry:publish"\``;
  return failure("ErrorInsufficientScope", message, { scope });
}

/**
 * Why a caller outside a tenant is refused. The same for every tenant, whether or not there is one, to the byte: only
 * what the caller's own token says is told.
 */
export function outsideTenant(principal: Principal): Failure {
  if (principal.anonymous) {
    const hint = "Nothing public has this name in this tenant; a token of the tenant shows the rest";
    return failure("ErrorUnauthorized", undefined, { hint });
  }
  const [first, ...more] = principal.tenants;
  const held = first === undefined ? "no tenant" : [first, ...more.slice(0, 4)].join(", ");
  const others = more.length > 4 ? ` and ${more.length - 4} more` : "";
  const hint = `This token acts for: ${held}${others}. GET /api/whoami shows it`;
  return failure("ErrorTenantPermissionError", undefined, { hint });
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
