import { SignJWT } from "jose";

/** The longest lifetime the Worker accepts, in seconds. */
export const maxTokenLifetime = 86_400;

export const defaultScope = "registry:read registry:publish";

export interface TokenClaims {
  subject: string;
  tenants: string[];
  /** Separated by spaces. */
  scope: string;
  admin: boolean;
  /** Seconds. */
  lifetime: number;
}

/** Signs a token that a Worker with this secret and these vars accepts. */
export function mintToken(secret: string, vars: Record<string, string>, claims: TokenClaims): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({
    tenants: claims.tenants,
    scope: claims.scope,
    // Absent rather than false: most tokens have no such power and need not mention it.
    ...(claims.admin ? { admin: true } : {}),
  })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(vars["JWT_ISSUER"] ?? "rollcall")
    .setAudience(vars["JWT_AUDIENCE"] ?? "rollcall")
    .setSubject(claims.subject)
    .setIssuedAt(now)
    .setExpirationTime(now + claims.lifetime)
    .sign(new TextEncoder().encode(secret));
}
