/**
 * URLs as the official registry reads them: RFC 3986, before browsers' repairs. `URL` would accept more (spaces around it,
 * a broken escape) and less (an unusual port), and the registries would disagree about a document.
 */

interface Uri {
  /** In lower case. */
  scheme: string;
  /** With the port; empty if there is none. */
  authority: string;
  /** Without the port. */
  hostname: string;
}

const parts = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;
const control = /\p{Cc}/u;

/** An absolute URI; undefined if the text is none. */
export function parseUri(text: string): Uri | undefined {
  const match = control.test(text) ? null : parts.exec(text);
  if (match === null) return undefined;
  const [, scheme = "", authority = "", path = "", fragment = ""] = match;
  if (brokenEscape.test(path) || brokenEscape.test(fragment)) return undefined;
  const at = authority.lastIndexOf("@");
  if (at !== -1 && !/^[\w.~!$&'()*+,;=:%@-]*$/.test(authority.slice(0, at))) return undefined;
  const host = authority.slice(at + 1);
  const [, hostname = ""] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host) ?? [];
  if (host !== "" && hostname === "" && !/^:\d*$/.test(host)) return undefined;
  if (/[\s{}^|\\`%/?#@]/.test(hostname)) return undefined;
  return { scheme: scheme.toLowerCase(), authority: host, hostname };
}

const variable = /\{([^{}]+)\}/g;

/** Names in the braces of a template. */
export function templateVariables(template: string): string[] {
  return Array.from(template.matchAll(variable), ([, name = ""]) => name);
}

/** Stands in for variables of these names, so that the rest of the template can be read as a URL. */
const placeholders: Readonly<Record<string, string>> = {
  host: "example.com",
  port: "8080",
  path: "api",
  protocol: "http",
  scheme: "http",
};

/** A template as a URL of http or https with a host; undefined if it cannot become one. */
export function parseTemplate(template: string): Uri | undefined {
  const filled = template
    .replaceAll(variable, (whole, name: string) =>
      Object.hasOwn(placeholders, name) ? (placeholders[name] ?? "") : whole,
    )
    .replaceAll(/:\{[^{}]+\}(\/|$)/g, ":8080$1")
    .replaceAll(variable, "placeholder");
  const uri = parseUri(filled);
  return uri !== undefined && /^https?$/.test(uri.scheme) && uri.authority !== "" ? uri : undefined;
}
