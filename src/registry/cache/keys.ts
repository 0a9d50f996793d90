import type { TenantKey } from "../../kernel/names.ts";

/** All KV keys. docs/reference/storage.md describes their values and lifetimes. */

export function headKey(tenant: TenantKey, name: string): string {
  return `head/${tenant}/${name}`;
}

/**
 * Per server, even if two servers publish the same manifest: ids and creation times differ, and one of them may be
 * private.
 */
export function bodyKey(tenant: TenantKey, name: string, digest: string): string {
  return `manifest/${tenant}/${name}/${digest}`;
}
