import { err, ok, type Result } from "../kernel/result.ts";

/** What a deployment lets its own requests reach. */
export interface AddressPolicy {
  /** The registry's own hosts, as `URL.host` spells them: asking itself would go round its own authorisation. */
  ownHosts: readonly string[];
  /** For development and tests only: also lets http and any port through to this machine, and to nothing else. */
  allowLoopback?: boolean;
}

/** Why an address is refused. Not for the outside: who can tell these apart has a map of what is inside. */
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
 * The one way an address is written: scheme, two slashes, an authority in ASCII, and no character that some parser
 * skips or reads as another. An internationalised name comes in its xn-- form.
 */
const written = /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?<authority>[^/?#\\]*)(?:[/?#][^\\\s\p{Cc}]*)?$/iu;

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Last labels that lead inside whoever asks: special use by RFC, or customary on private networks. */
const insideDomains = new Set([
  ...["localhost", "localdomain", "local", "internal", "intranet", "private", "lan", "home", "corp", "workgroup"],
  ...["arpa", "onion", "alt", "test", "invalid", "consul", "svc", "cluster"],
]);

/**
 * Public names that stand for addresses inside. A list cannot be complete. What holds against the ones it misses, and
 * against a name that changes its mind after it was judged, is that TLS is always on: a service inside has no
 * certificate for a stranger's name.
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

/** The URL that an address stands for, if the policy lets the registry ask it. Asks nobody: no DNS, no fetch. */
export function checkAddress(address: string, policy: AddressPolicy): Result<URL, AddressFault> {
  if (address.length > maxAddressLength) return err("too-long");
  const { scheme, authority } = written.exec(address)?.groups ?? {};
  if (scheme === undefined || authority === undefined) return err("malformed");
  if (authority.includes("@")) return err("credentials");
  const url = URL.parse(address);
  if (url === null) return err("malformed");
  // A host that only became ASCII, an address or a name by parsing is not what it looked like.
  const isPlain = authority.toLowerCase().replace(/:\d{1,5}$/, "") === url.hostname;

  if (policy.ownHosts.some((host) => host.toLowerCase() === url.host)) return err("own-host");
  if (policy.allowLoopback === true && isPlain && isLoopback(url)) return ok(url);
  if (url.protocol !== "https:") return err("scheme");
  // The parser has turned every encoding of an IPv4 address into four decimal numbers.
  if (url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname)) return err("ip-literal");
  if (url.port !== "") return err("port");
  if (!isPlain) return err("malformed");
  return judgeName(url.hostname) ?? ok(url);
}

/** This machine, in the three spellings that developers use. */
export function isLoopback(url: URL): boolean {
  return /^https?:$/.test(url.protocol) && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
}

function judgeName(name: string): { ok: false; error: AddressFault } | undefined {
  if (name.length > maxHostLength) return err("too-long");
  const labels = name.split(".");
  // A name without a dot is completed by the resolver's search list. The final dot of an absolute name is refused with
  // it: a second spelling of every host would have to be thought of wherever hosts are compared.
  if (labels.length < 2) return err("inside-name");
  if (!labels.every((part) => label.test(part))) return err("malformed");
  const isInside =
    insideDomains.has(labels.at(-1) ?? "") ||
    domainsResolvingToPrivate.some((domain) => name === domain || name.endsWith(`.${domain}`));
  return isInside ? err("inside-name") : undefined;
}

export type AddressPolicyFor = (ownHost: string) => AddressPolicy;
