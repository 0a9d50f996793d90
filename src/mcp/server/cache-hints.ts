import { isMember, type Principal } from "../../auth/principal.ts";
import { isIndexUri } from "../resources/index-resources.ts";
import { parseResourceUri } from "../resources/uri.ts";

export interface CacheHint {
  ttlMs: number;
  cacheScope: "public" | "private";
}

/** What changes with the code or the settings and nothing else: the next deployment is the only thing to wait for. */
export const staticHint: CacheHint = { ttlMs: 300_000, cacheScope: "public" };

/**
 * What publishers change. The freshness contract gives clients no time in which they need not ask again, and whoever
 * wants to be told can listen.
 */
const changingHint: CacheHint = { ttlMs: 0, cacheScope: "public" };

/** Without a token a list holds only what everyone sees. */
export function resourceListHint(principal: Principal): CacheHint {
  return principal.anonymous ? staticHint : { ...changingHint, cacheScope: "private" };
}

/** A registry's own tools and resource families are code; its own server and generators are always looked at anew. */
const fixedViews: readonly string[] = ["tools", "resources"];

/** Of a resource that was read. To whoever is outside its tenant, what can be read at all is what everyone can read. */
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
  return { ...changingHint, cacheScope: isMember(principal, tenant) ? "private" : "public" };
}
