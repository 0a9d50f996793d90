import type { TenantKey } from "../../kernel/names.ts";

/** In the Cache API alone: when a head was last raised in a way that the directory does not know of. */
export const raisedKey = "heads/raised";

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
