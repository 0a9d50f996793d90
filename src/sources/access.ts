import type { Config } from "../config.ts";
import type { TenantKey } from "../kernel/names.ts";
import { type AddressPolicy, checkAddress } from "../outbound/address.ts";
import { createGuardedFetch } from "../outbound/guarded-fetch.ts";
import { toStandardFetch } from "../outbound/standard-fetch.ts";
import type { ReadableSource } from "../registry/sql/source-rows.ts";

/**
 * Time limit for one source. A legacy SSE stream stays open while the whole source is read, so one fetch may take as
 * long.
 */
const sourceMs = 20_000;

function policyOf({ publicUrl, allowLoopbackFetch }: Config): AddressPolicy {
  const ownHosts = publicUrl === undefined ? [] : [new URL(publicUrl).host];
  return { ownHosts, allowLoopback: allowLoopbackFetch };
}

export function isRefusedSource(config: Config, url: string): boolean {
  return !checkAddress(url, policyOf(config)).ok;
}

/** Fetch for reading sources: checks every address and bounds every response. */
export function sourceFetch(config: Config): ReturnType<typeof toStandardFetch> {
  const guarded = createGuardedFetch({ policy: policyOf(config), fetch: (request) => fetch(request) });
  return toStandardFetch(guarded, {
    patience: { deadlineMs: sourceMs },
  });
}

/**
 * Headers that authenticate the registry at a source. The tenant names a secret of the deployment; the secret is sent
 * only to the origin configured for it, so a source with another URL does not receive it.
 */
export function sourceHeaders(
  { sourceCredentials }: Config,
  tenant: TenantKey,
  { url, credential }: ReadableSource,
): Record<string, string> {
  const known = credential && sourceCredentials.get(tenant)?.get(credential.secret);
  if (credential === undefined || known === undefined || URL.parse(url)?.origin !== known.origin) return {};
  return { [credential.header]: known.value };
}
