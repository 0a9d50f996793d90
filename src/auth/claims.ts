import { tenantKey, tenantPattern } from "../kernel/names.ts";
import { ok, type Result } from "../kernel/result.ts";
import type { Principal } from "./principal.ts";
import { fault, type TokenFault } from "./token-error.ts";

export interface ClaimRules {
  issuer: string;
  audience: string;
  /** URLs that this registry announces as its resources; `aud` may name one of them instead of `audience`. */
  resources?: readonly string[];
  /** Longest time from `iat`, or from now if `iat` is absent, to `exp`. */
  maxLifetimeSeconds: number;
  /** How far the issuer's clock may run ahead, for `nbf` and `iat`. `exp` has no leeway. */
  leewaySeconds: number;
}

const maxSubjectLength = 256;
const maxTenants = 1_000;
/** `scope-token` of RFC 6749, section 3.3. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Checks the claims of a token with a verified signature. A claim of the wrong type is refused, never converted. */
export function readClaims(
  claims: Record<string, unknown>,
  rules: ClaimRules,
  now: number,
): Result<Principal, TokenFault> {
  const { iss, aud, sub, scope, tenants = [], admin = false } = claims;
  if (iss !== rules.issuer) return fault("issuer", "iss is not the issuer this registry trusts");
  const own: unknown[] = [rules.audience, ...(rules.resources ?? [])];
  if (!(Array.isArray(aud) ? aud : [aud]).some((name) => own.includes(name))) {
    return fault("audience", "aud does not name this registry");
  }
  const times = readTimes(claims, rules, now / 1_000);
  if (!times.ok) return times;

  if (typeof sub !== "string" || sub === "" || sub.length > maxSubjectLength || /\p{Cc}/u.test(sub)) {
    return fault("claims", `sub must be 1 to ${maxSubjectLength} characters without control characters`);
  }
  if (!isTenantList(tenants)) {
    return fault("claims", `tenants must be a list of at most ${maxTenants} tenant names`);
  }
  if (typeof admin !== "boolean") return fault("claims", "admin must be true or false");
  const scopes = readScopes(scope);
  if (scopes === undefined) return fault("claims", "scope must be a string of words separated by spaces");
  const held = [...new Set(tenants.map(tenantKey))];
  return ok({ subject: sub, tenants: held, scopes, admin, expiresAt: times.value });
}

function readTimes({ exp, nbf, iat }: Record<string, unknown>, rules: ClaimRules, now: number) {
  if (!isTime(exp)) return fault("claims", "exp is required and must be a number of seconds");
  if (nbf !== undefined && !isTime(nbf)) return fault("claims", "nbf must be a number of seconds");
  if (iat !== undefined && !isTime(iat)) return fault("claims", "iat must be a number of seconds");
  if (exp <= now) {
    const expired = fault("expired", "the token has expired");
    return { ...expired, error: { ...expired.error, expiredAt: exp } };
  }
  const latest = now + rules.leewaySeconds;
  if ((nbf ?? now) > latest) return fault("not-yet-valid", "nbf is in the future");
  if ((iat ?? now) > latest) return fault("not-yet-valid", "iat is in the future");
  if (exp - (iat ?? now) > rules.maxLifetimeSeconds) {
    return fault("lifetime", `the token is valid for longer than ${rules.maxLifetimeSeconds} seconds`);
  }
  return ok(exp);
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isTenantList(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length > maxTenants) return false;
  return value.every((tenant) => typeof tenant === "string" && tenantPattern.test(tenant));
}

function readScopes(scope: unknown): string[] | undefined {
  if (scope === undefined) return [];
  if (typeof scope !== "string") return undefined;
  const words = scope.split(" ").filter((word) => word !== "");
  return words.every((word) => scopeToken.test(word)) ? words : undefined;
}
