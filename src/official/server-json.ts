import { withoutSecrets } from "../formats/mcp/describe-item.ts";
import { serverPattern, tenantPattern } from "../kernel/names.ts";
import type { Source } from "../registry/schema.ts";
import { publisherProvided, type Remote, type ServerJson } from "./schema.ts";

/** Where a server of that name lives here: the part before the slash is the tenant. */
export function placeOf(name: string): { tenant: string; name: string } {
  const slash = name.indexOf("/");
  return { tenant: name.slice(0, slash), name: name.slice(slash + 1) };
}

/** Why a name that the official registry allows has no place here; undefined where it has. */
export function checkName(name: string): string | undefined {
  const place = placeOf(name);
  if (!tenantPattern.test(place.tenant)) {
    return `the part before the slash is a tenant here: 1 to 100 of a-z, 0-9, '.' and '-', starting with a letter or digit; ${JSON.stringify(place.tenant)} is not one`;
  }
  if (!serverPattern.test(place.name)) {
    return `the part after the slash must be 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', starting with a letter or digit; ${JSON.stringify(place.name)} is not`;
  }
  return undefined;
}

/** The document as it is kept: all of it but what registries, not publishers, say under `_meta`. */
export function withoutForeignMeta(document: ServerJson): ServerJson {
  const kept = Object.entries(document).flatMap(([key, value]): [string, unknown][] => {
    if (key !== "_meta") return [[key, value]];
    const said = document._meta?.[publisherProvided];
    return said === undefined ? [] : [[key, { [publisherProvided]: said }]];
  });
  return Object.fromEntries(kept) as ServerJson;
}

/** What of a server.json is the manifest's own: all of it but its name, which is the server's. */
export function manifestFields(document: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, name: __, ...fields } = document;
  return fields;
}

/** Fields of a manifest that a server.json speaks for, whether it has them or not. */
export const serverJsonFields: readonly string[] = [
  ...["title", "description", "version", "websiteUrl", "repository", "icons", "remotes", "packages", "_meta"],
];

const sourcePrefix = "remote-";

/** Tells sources that came with a server.json from those that were set by hand. */
export function isRemoteSource({ id, credential }: Source): boolean {
  return id?.startsWith(sourcePrefix) === true && credential === undefined;
}

/**
 * The remotes that the registry can read by itself: those that need nothing filled in, at an address that it may ask.
 * A key in the address is not the registry's to use, only the client's.
 */
export function remoteSources(remotes: readonly Remote[] | undefined, mayAsk: (url: string) => boolean): Source[] {
  return (remotes ?? []).flatMap((remote, index) => {
    const { type, url } = remote;
    if (needsInput(remote) || !mayAsk(url) || withoutSecrets(url) !== url) return [];
    return [{ id: `${sourcePrefix}${index + 1}`, type, url }];
  });
}

function needsInput({ url, headers = [] }: Remote): boolean {
  const isAsked = headers.some(
    ({ isRequired, isSecret, value }) => isRequired === true || isSecret || value !== undefined,
  );
  return url.includes("{") || isAsked;
}

/**
 * Addresses that a server.json takes as its own: no other name may have them. One on the reader's own machine is
 * nobody's. A template is compared as it is written.
 */
export function claimedUrls(document: Pick<ServerJson, "remotes">): string[] {
  const urls = (document.remotes ?? []).map(({ url }) => (url.includes("{") ? url : address(url)));
  return [...new Set(urls)].filter((url) => !isLocal(url));
}

/** One spelling for what leads to the same place. */
function address(written: string): string {
  const url = URL.parse(written);
  if (url === null) return written;
  url.hash = "";
  url.username = "";
  url.password = "";
  url.hostname = url.hostname.replace(/\.$/, "");
  url.pathname = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
  });
  return url.href.replace(/\?$/, "");
}

function isLocal(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}
