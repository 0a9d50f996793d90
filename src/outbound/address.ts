import { err, ok, type Result } from "../kernel/result.ts";

/** Which addresses outbound requests may reach. */
export interface AddressPolicy {
  /** The registry's own hosts, as in `URL.host`: a request to itself would bypass its own authorisation. */
  ownHosts: readonly string[];
  /** For development and tests only: also allows http and any port, but only to loopback addresses. */
  allowLoopback?: boolean;
}

/** Why an address is refused. Never shown to callers: the reasons would let them map the internal network. */
export type AddressFault =
  | "malformed"
  | "too-long"
  | "scheme"
  | "port"
  | "credentials"
  | "ip-literal"
  | "inside-name"
  | "own-host";

const maxAddressLength = 2_048;
const maxHostLength = 253;

/**
 * The only accepted syntax: scheme, two slashes, an authority, and no character that some parsers skip or read as
 * another. The authority must be ASCII, which `checkAddress` verifies; internationalised names are written in xn--
 * form.
 */
const addressSyntax = /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?<authority>[^/?#\\]*)(?:[/?#][^\\\s\p{Cc}]*)?$/iu;

const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Last labels that resolve inside the local network: special-use names of RFCs, or customary on private networks. */
const privateDomains = new Set([
  ...["localhost", "localdomain", "local", "internal", "intranet", "private", "lan", "home", "corp", "workgroup"],
  ...["arpa", "onion", "alt", "test", "invalid", "consul", "svc", "cluster"],
]);

/**
 * Public domains that resolve to private addresses. The list cannot be complete. Mandatory TLS stops the domains it
 * misses, and names whose DNS record changes after the check: an internal service has no certificate for a foreign
 * name.
 */
const domainsResolvingToPrivate = [
  "nip.io",
  "sslip.io",
  "xip.io",
  "localtest.me",
  "lvh.me",
  "1u.ms",
  "rbndr.us",
  "metadata.goog",
];

/** Parses an address and checks it against the policy. No DNS, no fetch. */
export function checkAddress(address: string, policy: AddressPolicy): Result<URL, AddressFault> {
  if (address.length > maxAddressLength) return err("too-long");
  const { scheme, authority } = addressSyntax.exec(address)?.groups ?? {};
  if (scheme === undefined || authority === undefined) return err("malformed");
  if (authority.includes("@")) return err("credentials");
  const url = URL.parse(address);
  if (url === null) return err("malformed");
  // If parsing changed the host (to ASCII, or to an IP address), the address is not what it looked like.
  const isPlain = authority.toLowerCase().replace(/:\d{1,5}$/, "") === url.hostname;

  if (policy.ownHosts.some((host) => host.toLowerCase() === url.host)) return err("own-host");
  if (policy.allowLoopback === true && isPlain && isLoopback(url)) return ok(url);
  if (url.protocol !== "https:") return err("scheme");
  // The URL parser normalises every encoding of an IPv4 address to four decimal numbers.
  if (url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname)) return err("ip-literal");
  if (url.port !== "") return err("port");
  if (!isPlain) return err("malformed");
  return checkHostName(url.hostname) ?? ok(url);
}

/** Loopback, in the three spellings that developers use. */
export function isLoopback(url: URL): boolean {
  return /^https?:$/.test(url.protocol) && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
}

function checkHostName(name: string): { ok: false; error: AddressFault } | undefined {
  if (name.length > maxHostLength) return err("too-long");
  const labels = name.split(".");
  // The resolver's search list completes a name without a dot. A name with a trailing dot is refused, too (its last
  // label is empty): it would be a second spelling of the host, which every comparison of hosts would have to handle.
  if (labels.length < 2) return err("inside-name");
  if (!labels.every((part) => dnsLabel.test(part))) return err("malformed");
  const isInside =
    privateDomains.has(labels.at(-1) ?? "") ||
    domainsResolvingToPrivate.some((domain) => name === domain || name.endsWith(`.${domain}`));
  return isInside ? err("inside-name") : undefined;
}

export type AddressPolicyFor = (ownHost: string) => AddressPolicy;
