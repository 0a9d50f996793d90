import { isMember, type Principal } from "../../auth/principal.ts";
import { tenantKey } from "../../kernel/names.ts";
import { isIndexUri } from "../resources/index-resources.ts";
import { parseResourceUri } from "../resources/uri.ts";

interface CacheHint {
  ttlMs: number;
  cacheScope: "public" | "private";
}

/** For data that depends only on code and settings, so it changes only with a deployment. */
export const staticHint: CacheHint = { ttlMs: 300_000, cacheScope: "public" };

/**
 * For data that publishers change. The freshness contract allows clients no time without revalidation; clients that
 * want notifications can subscribe.
 */
const changingHint: CacheHint = { ttlMs: 0, cacheScope: "public" };

/** The list for anonymous callers is the same for everyone and fixed by the deployment. */
export function resourceListHint(principal: Principal): CacheHint {
  return principal.anonymous ? staticHint : { ...changingHint, cacheScope: "private" };
}

/** These views of the registry itself are fixed by the deployment; its other views get a TTL of 0. */
const fixedViews: readonly string[] = ["tools", "resources", "operations"];

/** Hint for a resource that was read. Callers outside the tenant can read only public data, so the scope is public. */
export function resourceHint(principal: Principal, uri: string): CacheHint {
  if (isIndexUri(uri)) return indexHint(principal, uri);
  const parsed = parseResourceUri(uri);
  if (!parsed.ok || parsed.value === undefined) return { ...changingHint, cacheScope: "private" };
  const { server, view } = parsed.value;
  if (server === undefined) return fixedViews.includes(view) ? staticHint : changingHint;
  return { ...changingHint, cacheScope: isMember(principal, server.tenant) ? "private" : "public" };
}

function indexHint(principal: Principal, uri: string): CacheHint {
  const [, tenant] = /^rollcall:\/\/capability-index\/([^/]+)\/./.exec(uri) ?? [];
  if (tenant === undefined) return staticHint;
  return { ...changingHint, cacheScope: isMember(principal, tenantKey(tenant)) ? "private" : "public" };
}
