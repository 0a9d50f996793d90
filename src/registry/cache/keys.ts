/** Every KV key, in one place. docs/storage.md describes their values and lifetimes. */

export function headKey(tenant: string, name: string): string {
  return `head/${tenant}/${name}`;
}

/** Not shared between servers that publish the same: ids and first sights differ, and one may be private. */
export function bodyKey(tenant: string, name: string, digest: string): string {
  return `manifest/${tenant}/${name}/${digest}`;
}
