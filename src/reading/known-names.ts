import { holds } from "../auth/permission.ts";
import type { Principal } from "../auth/principal.ts";
import type { Services } from "../services.ts";
import { summaryOf } from "./server.ts";

/** Servers looked at to find names: their tenants may be few. */
const lookedAt = 200;

const nameCharacters = /^[A-Za-z0-9._-]*$/;

/** Tenants that a caller may know of and whose names start so, in order: its own, and those with something public. */
export async function tenantsLike(services: Services, principal: Principal, start: string): Promise<string[]> {
  if (!nameCharacters.test(start)) return [];
  const { entries } = await services.directory().list({
    tenants: "all",
    onlyPublic: true,
    after: { tenant: before(start), name: "" },
    limit: lookedAt,
  });
  const known = new Set([...principal.tenants, ...entries.map(({ tenant }) => tenant)]);
  return [...known].filter((tenant) => tenant.startsWith(start)).sort();
}

/** The same for the servers of a tenant. */
export async function serversLike(
  services: Services,
  principal: Principal,
  tenant: string,
  start: string,
): Promise<string[]> {
  if (!nameCharacters.test(start)) return [];
  const after = before(start);
  const entries = holds(principal, tenant)
    ? (await services.tenant(tenant).servers(after, lookedAt)).entries.map(summaryOf)
    : (
        await services
          .directory()
          .list({ tenants: [tenant], onlyPublic: true, after: { tenant, name: after }, limit: lookedAt })
      ).entries;
  return entries.map(({ name }) => name).filter((name) => name.startsWith(start));
}

/** A text that comes right before all that start so, among names. */
function before(start: string): string {
  if (start === "") return "";
  const last = start.charCodeAt(start.length - 1);
  return `${start.slice(0, -1)}${String.fromCharCode(last - 1)}~`;
}
