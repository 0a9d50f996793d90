import { checkScope, type Principal, type Scope } from "../auth/principal.ts";
import {
  type NamedTenant,
  namedTenant,
  ServerName,
  serverPattern,
  type TenantKey,
  TenantName,
  tenantPattern,
} from "../kernel/names.ts";
import { networkOf } from "../kernel/network.ts";
import type { RateLimiter } from "../kernel/rate-limit.ts";
import { type RequestContext, requestError, throwIf, unwrap } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { clientAddress } from "./limits/client-address.ts";

/**
 * Requests that the Worker makes of itself for somebody whom it knows already: a page of the console for its viewer. Who it
 * is for is kept beside the request, where nothing that arrives from outside can be.
 */
const actingFor = new WeakMap<Request, Principal>();

export function actFor(request: Request, principal: Principal): Request {
  if (!principal.anonymous) actingFor.set(request, principal);
  return request;
}

/**
 * Authenticates the caller, applies the read rate limit and checks the scope. Writes are limited again, exactly, by the
 * tenant's object.
 */
export async function authenticate(c: RequestContext, services: HttpDeps, scope: Scope): Promise<Principal> {
  const acting = actingFor.get(c.req.raw);
  if (acting !== undefined) return authorize(c, services, acting, scope);
  const authorization = c.req.header("Authorization");
  const known = services.authenticator.peek(authorization);
  const principal = known ?? unwrap(await services.authenticator.authenticate(authorization));
  return authorize(c, services, principal, scope);
}

/** Like `authenticate`, but a caller without a token becomes an anonymous principal, which may read public data. */
export async function authenticateOptional(c: RequestContext, services: HttpDeps): Promise<Principal> {
  if (c.req.header("Authorization") !== undefined || actingFor.has(c.req.raw))
    return authenticate(c, services, "registry:read");
  const subject = anonymousSubject(c.req.raw, services);
  return authorize(c, services, { ...anonymousPrincipal, subject }, "registry:read");
}

const acceptableId = /^[A-Za-z0-9._-]{8,64}$/;

/** The id that the request came with, if it is safe to return and to log. */
export function validRequestId(offered: string | null | undefined): string | undefined {
  return typeof offered === "string" && acceptableId.test(offered) ? offered : undefined;
}

/** Callers without a token are distinguished by IP address. */
export function anonymousSubject(request: Request, { config }: Pick<HttpDeps, "config">): string {
  return `anonymous ${networkOf(clientAddress(request, config))}`;
}

/** A caller without a token. `anonymousSubject` tells such callers apart. */
export const anonymousPrincipal: Principal = {
  anonymous: true,
  subject: "anonymous",
  tenants: [],
  scopes: ["registry:read"],
  admin: false,
  expiresAt: Number.MAX_SAFE_INTEGER,
};

/** Applies the rate limit and checks the scope of a known principal. */
function authorize(c: RequestContext, services: HttpDeps, principal: Principal, scope: Scope): Principal {
  c.set("subject", principal.subject);
  consumeRateLimit(services, services.readLimiter, principal.subject);
  throwIf(checkScope(principal, scope));
  return principal;
}

/** Counts the request; throws ErrorTooManyRequests above the limit. */
export function consumeRateLimit(services: HttpDeps, buckets: RateLimiter, caller: string): void {
  const allowed = buckets.consume(caller, services.now());
  if (allowed.ok) return;
  throw requestError("ErrorTooManyRequests", undefined, { retryAfterSeconds: allowed.retryAfterSeconds });
}

/** The key of a tenant that the request names. */
export function tenantName(value: unknown): TenantKey {
  return readTenant(value).tenant;
}

/** Like `tenantName`, with the spelling: for writes. */
export function readTenant(value: unknown): NamedTenant {
  if (value === undefined || value === null || value === "") throw requestError("ErrorTenantRequired");
  // Fast path for hot reads: zod runs only for invalid names, to produce the message.
  if (typeof value === "string" && tenantPattern.test(value)) return namedTenant(value);
  const parsed = TenantName.safeParse(value);
  if (!parsed.success) throw requestError("ErrorTenantInvalid", `Tenant name ${parsed.error.issues[0]?.message}`);
  return namedTenant(parsed.data);
}

export function serverName(value: unknown): string {
  if (value === undefined || value === null || value === "") throw requestError("ErrorMCPServerNameRequired");
  if (typeof value === "string" && serverPattern.test(value)) return value;
  const parsed = ServerName.safeParse(value);
  if (!parsed.success)
    throw requestError("ErrorMCPServerNameInvalid", `MCP server name ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

/** How fresh a response must be. */
export interface Freshness {
  /** Read the tenant's object, bypassing all caches. */
  strong: boolean;
  /** At least this generation of the tenant. */
  minGeneration: number;
}
