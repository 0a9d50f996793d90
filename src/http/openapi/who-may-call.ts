import { type Access, memberWhereNamed } from "../access.ts";

/** Who may call an operation, in words: OpenAPI's own `security` knows scopes, but no tenants and no admins. */
export function whoMayCall(access: Access): string {
  const { token, scope, tenant, verify, fails = [] } = access;
  if (verify !== undefined) return "whoever signs the request with the key of the hook";
  if (token === "none") return "anyone";
  if (token === "optional" && scope === undefined) return "anyone, with a token or without";
  if (token === "optional") return `anyone; a token with \`${scope}\` shows what its tenants have as well`;
  if (tenant === memberWhereNamed.tenant) return `a token with \`${scope}\`; of a tenant in the query, its members`;
  if (tenant !== undefined) return `a member of the tenant in the ${tenant.in}, with \`${scope}\``;
  if (fails.includes("ErrorTenantPermissionError")) return "an admin";
  return `a token with \`${scope}\``;
}
