import { withoutSecrets } from "../formats/mcp/describe-item.ts";
import { type NamedTenant, namedTenant, type ServerRef, serverPattern, tenantPattern } from "../kernel/names.ts";
import type { Source } from "../registry/schema.ts";
import type { Remote, ServerJson } from "./schema.ts";

/** Splits an official name: the part before the slash is the tenant, in any spelling. */
export function parseOfficialName(name: string): ServerRef & NamedTenant {
  const slash = name.indexOf("/");
  return { ...namedTenant(name.slice(0, slash)), name: name.slice(slash + 1) };
}

/** Why a valid official name cannot be used in this registry; undefined if it can. */
export function checkName(name: string): string | undefined {
  const place = parseOfficialName(name);
  if (!tenantPattern.test(place.spelling)) {
    return `the part before the slash is a tenant here: 1 to 100 of A-Z, a-z, 0-9, '.' and '-', starting with a letter or digit; ${JSON.stringify(place.spelling)} is not one`;
  }
  if (!serverPattern.test(place.name)) {
    return `the part after the slash must be 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', starting with a letter or digit; ${JSON.stringify(place.name)} is not`;
  }
  return undefined;
}

/** The fields of a server.json that go into the manifest's header. */
export function manifestFields(document: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, name: __, ...fields } = document;
  return fields;
}

/** Header fields that a server.json replaces; a field that the document lacks is removed. */
export const serverJsonFields: readonly string[] = [
  ...["title", "description", "version", "websiteUrl", "repository", "icons", "remotes", "packages", "_meta"],
];

const sourcePrefix = "remote-";

/** True for a source created from a server.json, by its id and missing credential; false for one set by the owner. */
export function isRemoteSource({ id, credential }: Source): boolean {
  return id?.startsWith(sourcePrefix) === true && credential === undefined;
}

/**
 * The remotes that the registry reads as sources: no variables or headers to fill in, an allowed address, and no secret
 * in the URL, which is only for the client to use.
 */
export function remoteSources(
  remotes: readonly Remote[] | undefined,
  isAllowedUrl: (url: string) => boolean,
): Source[] {
  return (remotes ?? []).flatMap((remote, index) => {
    const { type, url } = remote;
    if (needsInput(remote) || !isAllowedUrl(url) || withoutSecrets(url) !== url) return [];
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
 * Remote URLs that no other server may use. Loopback addresses are not claimed, as they differ per machine. Templates
 * are compared as text.
 */
export function claimedUrls(document: Pick<ServerJson, "remotes">): string[] {
  const urls = (document.remotes ?? []).map(({ url }) => (url.includes("{") ? url : address(url)));
  return [...new Set(urls)].filter((url) => !isLocal(url));
}

/** Normalizes a URL, so that equivalent spellings compare equal. */
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
