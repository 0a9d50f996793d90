import type { Config } from "../config.ts";
import { type AddressPolicy, checkAddress } from "../outbound/address.ts";
import { createGuardedFetch } from "../outbound/guarded-fetch.ts";
import { toStandardFetch } from "../outbound/standard-fetch.ts";
import type { ReadableSource } from "../registry/sql/source-rows.ts";

/** As long as reading one source may take; a legacy event stream is open for all of it. */
const sourceMs = 20_000;

function policyOf({ publicUrl, allowLoopbackFetch }: Config): AddressPolicy {
  const ownHosts = publicUrl === undefined ? [] : [new URL(publicUrl).host];
  return { ownHosts, allowLoopback: allowLoopbackFetch };
}

export function isRefusedSource(config: Config, url: string): boolean {
  return !checkAddress(url, policyOf(config)).ok;
}

/** The way out to sources: every address is judged, every answer bounded. */
export function sourceFetch(config: Config): ReturnType<typeof toStandardFetch> {
  const guarded = createGuardedFetch({ policy: policyOf(config), fetch: (request) => fetch(request) });
  return toStandardFetch(guarded, {
    patience: { deadlineMs: sourceMs },
  });
}

/**
 * The headers that let the registry in. A credential is a secret of the deployment that its tenant names and that goes
 * to the origin it was set for: naming another address sends it nowhere.
 */
export function sourceHeaders(
  { sourceCredentials }: Config,
  tenant: string,
  { url, credential }: ReadableSource,
): Record<string, string> {
  const known = credential && sourceCredentials.get(tenant)?.get(credential.secret);
  if (credential === undefined || known === undefined || URL.parse(url)?.origin !== known.origin) return {};
  return { [credential.header]: known.value };
}
