import { z } from "zod";

/** Loopback hosts, as `URL.hostname` spells them. */
export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

export const tenantPattern = /^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/;
export const serverPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Owner namespace as someone spells it. Dots are allowed, so `io.github.acme` is one tenant. */
export const TenantName = z
  .string()
  .regex(tenantPattern, "must be 1 to 100 of A-Z, a-z, 0-9, '.' and '-', starting with a letter or digit")
  .describe("Owner namespace of servers, in any case.");
export type TenantName = z.infer<typeof TenantName>;

/**
 * The identity of a tenant: its name in lower case. Claims, object names, KV and cache keys, filters and cursors have
 * keys; `tenant: string` is a spelling to show. A spelling is no key to the compiler, so that `Acme` and `acme` cannot
 * become two tenants.
 */
export const TenantKey = TenantName.overwrite(lowerCase).brand<"TenantKey">();
export type TenantKey = z.infer<typeof TenantKey>;

/** The key of a valid tenant name, however it is spelled. */
export function tenantKey(name: string): TenantKey {
  return lowerCase(name) as TenantKey;
}

/** Only A to Z: `toLowerCase` alone would turn a character outside ASCII, such as the Kelvin sign, into a letter. */
function lowerCase(name: string): string {
  return /[A-Z]/.test(name) ? name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name;
}

/** A tenant as a request names it. The spelling matters to the tenant's first write, which decides how it is shown. */
export interface NamedTenant {
  tenant: TenantKey;
  spelling: string;
}

export function namedTenant(spelling: string): NamedTenant {
  return { tenant: tenantKey(spelling), spelling };
}

export const ServerName = z
  .string()
  .regex(serverPattern, "must be 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', starting with a letter or digit")
  .describe("Name of a server inside its tenant.");
export type ServerName = z.infer<typeof ServerName>;

/** Name of a tool, prompt or operation. ASCII only: no look-alike characters and no second Unicode normal form. */
export const ItemName = z
  .string()
  .regex(/^[A-Za-z0-9_.\-/]{1,128}$/, "must be 1 to 128 of A-Z, a-z, 0-9, '_', '.', '-' and '/'");

/** A generator's type, which is also its key. */
export const GeneratorType = z
  .string()
  .max(128)
  .regex(/^[a-z][a-z0-9_-]*$/, "must match ^[a-z][a-z0-9_-]*$");

/**
 * Id that a publisher declares for a capability; unique within the tenant. In a path, `/` is written `%2F`. No part is
 * empty or starts with a dot: proxies remove such parts from paths, escaped or not.
 */
export const CapabilityId = z
  .string()
  .max(512)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._~:-]*(?:\/[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*)*$/,
    "must be A-Z, a-z, 0-9, '.', '_', '~', ':' and '-', starting with a letter or digit; a '/' only between parts that do not start with '.'",
  );

export const digestPattern = /^sha256-[0-9a-f]{64}$/;

export const Digest = z
  .string()
  .regex(digestPattern, "must be sha256- followed by 64 hex digits")
  .describe("SHA-256 of the RFC 8785 canonical JSON, as sha256- and 64 hex digits.");

/** The identity of a server. Names of servers keep their case: `Weather` and `weather` are two servers. */
export interface ServerRef {
  tenant: TenantKey;
  name: string;
}

/** The identity of a server that is known by the shown spelling of its tenant. */
export function refOf({ tenant, name }: { tenant: string; name: string }): ServerRef {
  return { tenant: tenantKey(tenant), name };
}

/** Orders by tenant, then name, like SQLite: by code point, which for these ASCII names equals code unit order. */
export function compareServers(a: ServerRef, b: ServerRef): number {
  if (a.tenant !== b.tenant) return a.tenant < b.tenant ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
