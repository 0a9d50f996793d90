import { isMember, outsideTenant, type Principal, type Scope } from "../auth/principal.ts";
import type { Failure, FailureCode } from "../kernel/failure.ts";
import type { NamedTenant, TenantKey } from "../kernel/names.ts";
import { type RequestContext, requestError } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import { authenticate, authenticateOptional, readTenant } from "./request.ts";

/** Where a request names the tenant it acts on, and how the name is read; undefined if no tenant is named. */
export type TenantPlace = {
  fails: readonly FailureCode[];
} & (
  | { in: "path"; read(parameters: Readonly<Record<string, string>>): NamedTenant | undefined }
  | { in: "query"; read(query: URLSearchParams): NamedTenant | undefined }
  | { in: "body"; read(document: unknown): NamedTenant | undefined }
);

/**
 * Who may call an operation. `Caller` is what its handler is told of the caller, `Proof` the part of it that `verify`
 * finds. `Deps` is inferred where an access needs more than every room has, as the one of a session does.
 */
export interface Access<Caller extends object = object, Deps extends HttpDeps = HttpDeps, Proof = void> {
  /** Whether the operation takes a bearer token. */
  token: "none" | "optional" | "required";
  /** Named in the challenge of a 401, and checked if there is a token. */
  scope?: Scope;
  /** The caller must be a member of this tenant. */
  tenant?: TenantPlace;
  /** Request headers that `identify` reads beside `Authorization`: pages on other origins may send them. */
  headers?: readonly string[];
  /** Failures of `identify` and `verify` beside those that follow from the members above. */
  fails?: readonly FailureCode[];
  /**
   * Finds the caller: who (401), limits (429), scope (403). Runs before any part of the request is validated; the tenant
   * is read and checked next.
   */
  identify(c: RequestContext, services: Deps): Promise<Identity<Caller, Proof>> | Identity<Caller, Proof>;
  /** For a proof that covers the body: runs on its bytes, before parameters are validated. */
  verify?(c: RequestContext, services: Deps, caller: Identity<Caller, Proof>, body: Uint8Array): Promise<Proof>;
}

/** What is known of a caller before the body is read. */
type Identity<Caller, Proof> = Omit<Caller, NamedBy | keyof Proof>;

/** Members of a caller that come from the tenant which the request names. */
type NamedBy = keyof NamedTenant;

interface TokenHolder {
  principal: Principal;
}

/** A caller who is a member of the tenant that the request names. */
interface Member extends TokenHolder, NamedTenant {}

const tenantFails = ["ErrorTenantRequired", "ErrorTenantInvalid"] as const;

/** Names of tenants are read here and nowhere else, wherever a request has them. */
const places: Record<"path" | "query" | "body", TenantPlace> = {
  path: { in: "path", fails: tenantFails, read: ({ tenant }) => readTenant(tenant) },
  query: { in: "query", fails: tenantFails, read: (query) => readTenant(query.get("tenant")) },
  body: { in: "body", fails: tenantFails, read: (document) => readTenant((document as { tenant?: unknown })?.tenant) },
};

/** Nobody is looked at, and no limit applies: health, descriptions, discovery. */
export const everyone: Access<object> = { token: "none", identify: () => ({}) };

/** A token is not needed; one that is sent must be valid and have the scope `registry:read`. */
export const anyone: Access<TokenHolder> = {
  token: "optional",
  scope: "registry:read",
  identify: async (c, services) => ({ principal: await authenticateOptional(c, services) }),
};

/** Every caller with a token that may read. What callers outside a tenant see is for the handler to decide. */
export const reader: Access<TokenHolder> = {
  token: "required",
  scope: "registry:read",
  identify: async (c, services) => ({ principal: await authenticate(c, services, "registry:read") }),
};

/** A member of the tenant that the request names, who may read. */
export function member(place: keyof typeof places | TenantPlace): Access<Member> {
  return ofTenant("registry:read", place);
}

/** As `reader`; where the query names a tenant, the caller must be a member of it. */
export const memberWhereNamed: Access<TokenHolder & { tenant: TenantKey | undefined }> = {
  ...reader,
  tenant: {
    in: "query",
    fails: tenantFails,
    read: (query) => (query.has("tenant") ? readTenant(query.get("tenant")) : undefined),
  },
};

/** A member of the tenant that the request names, who may publish. */
export function manager(place: keyof typeof places | TenantPlace): Access<Member> {
  return ofTenant("registry:publish", place);
}

function ofTenant(scope: Scope, place: keyof typeof places | TenantPlace): Access<Member> {
  return {
    token: "required",
    scope,
    tenant: typeof place === "string" ? places[place] : place,
    identify: async (c, services) => ({ principal: await authenticate(c, services, scope) }),
  };
}

/** Admins alone; `refusal` tells others so. */
export function admin(refusal: string): Access<TokenHolder> {
  return {
    token: "required",
    scope: "registry:read",
    fails: ["ErrorTenantPermissionError"],
    async identify(c, services) {
      const principal = await authenticate(c, services, "registry:read");
      if (!principal.admin)
        throw requestError("ErrorTenantPermissionError", refusal, {
          hint: "Make an admin token: npm run token -- --admin",
        });
      return { principal };
    },
  };
}

/** Why the principal may not act on the tenant: the same for every tenant that it is no member of. */
export function checkHeld(principal: Principal, tenant: TenantKey): Failure | undefined {
  if (isMember(principal, tenant)) return undefined;
  return outsideTenant(principal);
}
