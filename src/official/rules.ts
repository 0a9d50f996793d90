import type { Issue } from "../kernel/issue.ts";
import {
  type Argument,
  type Package,
  type Remote,
  type Repository,
  type ServerJson,
  serverJsonSchemaUri,
} from "./schema.ts";
import { parseTemplate, parseUri, templateVariables } from "./uri.ts";

/**
 * What the official registry 1.8.7 checks of a server.json beyond its shape, and answers without asking anyone. Rules have
 * its names, which `mcp-publisher` knows.
 */

type Rule = Issue;

/** A document whose shape is valid. */
export function semanticIssues(document: ServerJson): Rule[] {
  const { name, version, title, websiteUrl, repository, icons = [], packages = [], remotes = [] } = document;
  return [
    ...nameIssues(name),
    ...versionIssues("/version", version),
    ...(title !== undefined && title.trim() === ""
      ? [issue("/title", "title-whitespace-only", "must not be only spaces")]
      : []),
    ...(websiteUrl === undefined ? [] : websiteIssues(websiteUrl)),
    ...(repository === undefined ? [] : repositoryIssues(repository)),
    ...icons.flatMap(({ src }, at) =>
      parseUri(src)?.scheme === "https" ? [] : [issue(`/icons/${at}/src`, "icon-src-invalid-scheme", "must use https")],
    ),
    ...packages.flatMap((item, at) => packageIssues(`/packages/${at}`, item)),
    ...remotes.flatMap((remote, at) => remoteIssues(`/remotes/${at}`, remote)),
  ];
}

function issue(path: string, rule: string, message: string): Rule {
  return { path, rule, message };
}

function nameIssues(name: string): Rule[] {
  const [namespace = "", part = ""] = name.split("/");
  const edges = "must have 2 characters or more, and a letter or digit at its start and end";
  if (!/^[a-zA-Z0-9].*[a-zA-Z0-9]$/.test(namespace))
    return [issue("/name", "invalid-server-name", `is not a server name: the part before the slash ${edges}`)];
  if (!/^[a-zA-Z0-9].*[a-zA-Z0-9]$/.test(part))
    return [issue("/name", "invalid-server-name", `is not a server name: the part after the slash ${edges}`)];
  return [];
}

const number = String.raw`v?\d+(?:\.\d+){0,3}(?:-[0-9A-Za-z.-]+)?`;
const ranges = [
  new RegExp(String.raw`^(?:\^|~|>=|<=|>|<|=)\s*${number}$`),
  new RegExp(String.raw`^${number}\s-\s*${number}$`),
  new RegExp(String.raw`^${number}\s*(?:\|\|\s*${number}\s*)+$`),
  /^(?=.*[xX*])(?:v?\d+|[xX*])(?:\.(?:\d+|[xX*])){1,2}(?:-[0-9A-Za-z.-]+)?$/,
];

/** True if the text is a range of versions: it cannot be published or compared. */
export function isVersionRange(version: string): boolean {
  const trimmed = version.trim();
  return ranges.some((range) => range.test(trimmed));
}

function versionIssues(path: string, version: string | undefined): Rule[] {
  if (version === undefined) return [];
  const quoted = JSON.stringify(version.slice(0, 64));
  if (version === "latest")
    return [issue(path, "reserved-version-string", `${quoted} must be one version: "latest" is reserved`)];
  if (isVersionRange(version))
    return [
      issue(
        path,
        "version-looks-like-range",
        `${quoted} must be one version, not a range such as ^1.2.3, >=1.2.3, 1.x or 1.2.3 || 2.0.0`,
      ),
    ];
  // The official registry's database refuses the first, and nobody could read the others: clients remove them from URLs.
  if (version.trim() === "" || version === "." || version === "..")
    return [issue(path, "version-unreadable", `${quoted} must be a version: it could not be read by its URL`)];
  return [];
}

function websiteIssues(url: string): Rule[] {
  const path = "/websiteUrl";
  const found = parseUri(url)?.scheme === "https" ? [] : [issue(path, "website-url-invalid-scheme", "must use https")];
  if (/["'<> \t\n\r]/.test(url))
    found.push(
      issue(path, "website-url-invalid-characters", "must not have quotes, < or > or spaces: percent-encode them"),
    );
  return found;
}

const hosts: Readonly<Record<string, RegExp>> = {
  github: /^https?:\/\/(www\.)?github\.com\/[\w.-]+\/[\w.-]+\/?$/,
  gitlab: /^https?:\/\/(www\.)?gitlab\.com\/[\w.-]+(\/[\w.-]+)+\/?$/,
};

function repositoryIssues({ url, source, subfolder }: Repository): Rule[] {
  const found: Rule[] = [];
  const host = Object.hasOwn(hosts, source) ? hosts[source] : undefined;
  // GitLab has its own pages below "/-/".
  if (host?.test(url) !== true || (source === "gitlab" && `${url}/`.includes("/-/"))) {
    const wanted = "must be the URL of a repository at github.com or gitlab.com, and source github or gitlab";
    found.push(issue("/repository/url", "invalid-repository-url", wanted));
  }
  const isPlain = (part: string) => /^[\w.-]+$/.test(part) && part !== "." && part !== "..";
  if (subfolder && !subfolder.split("/").every(isPlain))
    found.push(issue("/repository/subfolder", "invalid-subfolder-path", "must be a plain relative path"));
  return found;
}

function packageIssues(path: string, item: Package): Rule[] {
  const {
    identifier,
    version,
    transport,
    runtimeArguments = [],
    packageArguments = [],
    environmentVariables = [],
  } = item;
  const found = versionIssues(`${path}/version`, version);
  if (identifier.includes(" "))
    found.push(issue(`${path}/identifier`, "package-name-has-spaces", "must not have spaces"));
  found.push(
    ...runtimeArguments.flatMap((argument, at) => argumentIssues(`${path}/runtimeArguments/${at}`, argument)),
    ...packageArguments.flatMap((argument, at) => argumentIssues(`${path}/packageArguments/${at}`, argument)),
  );
  const inputs = [...runtimeArguments, ...packageArguments].flatMap(({ name, valueHint }) => [name, valueHint]);
  const variables = [...environmentVariables.map(({ name }) => name), ...inputs.filter((name) => name)];
  const at = `${path}/transport/url`;
  if (transport.type === "stdio") {
    if (transport.url) found.push(issue(at, "stdio-transport-url-not-empty", "must be absent: the transport is stdio"));
  } else if (!transport.url) {
    found.push(issue(at, "streamable-transport-url-required", `is missing: the transport is ${transport.type}`));
  } else found.push(...templateIssues(at, transport.url, variables, "the package's inputs"));
  return found;
}

function argumentIssues(path: string, { type, name = "", value, valueHint, ...rest }: Argument): Rule[] {
  if (type === "positional") {
    if (value !== undefined || valueHint !== undefined) return [];
    const rule = "positional-argument-value-or-hint-required";
    return [issue(path, rule, "a positional argument needs value or valueHint")];
  }
  if (name === "") return [issue(`${path}/name`, "named-argument-name-required", "is missing: the argument is named")];
  const found = /[<> $]/.test(name)
    ? [
        issue(
          `${path}/name`,
          "invalid-named-argument-name",
          "must be the name alone, without a value, spaces, <, > or $",
        ),
      ]
    : [];
  if (value?.startsWith(name)) found.push(issue(`${path}/value`, "argument-value-starts-with-name", startsWithName));
  if (rest.default?.startsWith(name))
    found.push(issue(`${path}/default`, "argument-default-starts-with-name", startsWithName));
  return found;
}

const startsWithName = "must not start with the name of the argument";

function remoteIssues(path: string, { url, variables = {} }: Remote): Rule[] {
  const at = `${path}/url`;
  if (url === "") return [issue(at, "remote-transport-url-required", "is missing")];
  const uri = parseTemplate(url);
  const host = uri?.hostname ?? "";
  const isLocal = host === "localhost" || host === "127.0.0.1" || host.endsWith(".localhost");
  if (uri === undefined || uri.scheme !== "https" || isLocal)
    return [issue(at, "invalid-remote-url", "must be an https URL that others can reach, not one of this machine")];
  return templateIssues(at, url, Object.keys(variables), "variables");
}

function templateIssues(path: string, template: string, known: readonly (string | undefined)[], where: string): Rule[] {
  if (parseTemplate(template) === undefined)
    return [issue(path, "invalid-templated-url", "must be an http or https URL")];
  const undefinedOnes = templateVariables(template).filter((name) => !known.includes(name));
  if (undefinedOnes.length === 0) return [];
  const names = undefinedOnes.map((name) => `{${name}}`).join(", ");
  return [issue(path, "invalid-templated-url", `uses ${names}, which ${where} do not define`)];
}

/** Versions of the schema that the official registry has. */
const schemaVersions = ["2025-07-09", "2025-09-16", "2025-09-29", "2025-10-11", "2025-10-17", "2025-12-11"];

/** The version that `$schema` names: unknown ones are issues, old ones are warnings. */
export function schemaVersionIssues(uri: string): (Rule & { severity: "error" | "warning" })[] {
  const version = schemaVersionOf(uri);
  const found: (Rule & { severity: "error" | "warning" })[] = [];
  if (version === undefined) {
    const message = `names no version of the schema: expected ${serverJsonSchemaUri}`;
    return [{ ...issue("/$schema", "schema-version-extraction-error", message), severity: "error" }];
  }
  if (uri !== serverJsonSchemaUri) {
    const message = `names schema version ${version} and is not ${serverJsonSchemaUri}, the current one`;
    found.push({ ...issue("/$schema", "schema-version-deprecated", message), severity: "warning" });
  }
  if (!schemaVersions.includes(version)) {
    const message = `names schema version ${version}, which is unknown; known: ${schemaVersions.join(", ")}`;
    found.push({ ...issue("/$schema", "schema-version-not-available", message), severity: "error" });
  }
  return found;
}

function schemaVersionOf(uri: string): string | undefined {
  return /\/schemas\/([A-Za-z0-9_~.-]+)\/server\.schema\.json/.exec(uri)?.[1];
}

/**
 * What only the JSON Schema that the document names asks for. The official registry checks it when a document is
 * validated, and not when it is published.
 */
export function jsonSchemaIssues({ $schema, icons = [], packages = [], remotes = [] }: ServerJson): Rule[] {
  const version = schemaVersionOf($schema) ?? "";
  if (!schemaVersions.includes(version)) return [];
  const found: Rule[] = [];
  if (version >= "2025-10-11") {
    for (const [at, { sizes = [] }] of icons.entries())
      for (const [index, size] of sizes.entries())
        if (!/^(\d+x\d+|any)$/.test(size))
          found.push(issue(`/icons/${at}/sizes/${index}`, "schema", 'must be WxH or "any"'));
  }
  for (const [at, item] of packages.entries()) {
    if (version === "2025-07-09")
      found.push(
        issue(`/packages/${at}`, "schema", `has keys that schema ${version} spells otherwise: name a newer one`),
      );
    else if (version <= "2025-09-29" && item.version === undefined)
      found.push(issue(`/packages/${at}/version`, "schema", `is missing: schema ${version} requires it`));
    const { type, url } = item.transport;
    if (type !== "stdio" && url) found.push(...urlIssues(`/packages/${at}/transport/url`, type, url, version));
  }
  for (const [at, { type, url }] of remotes.entries())
    found.push(...urlIssues(`/remotes/${at}/url`, type, url, version));
  return found;
}

/** Before 2025-12-11, a URL of `sse` had to be one without variables in its host, and any other could be anything. */
function urlIssues(path: string, type: string, url: string, version: string): Rule[] {
  if (version >= "2025-12-11")
    return /^https?:\/\/\S+$/.test(url)
      ? []
      : [issue(path, "schema", "must start with http:// or https://, without spaces")];
  if (type !== "sse" || parseUri(url) !== undefined) return [];
  return [issue(path, "schema", `must be a URL: schema ${version} has no templates for sse`)];
}
