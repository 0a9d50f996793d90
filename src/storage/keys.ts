/** Every KV key, in one place. docs/storage.md describes their values and lifetimes. */

export function headKey(tenant: string, name: string): string {
  return `head/${tenant}/${name}`;
}

export function bodyKey(tenant: string, digest: string): string {
  return `manifest/${tenant}/${digest}`;
}
