/** An entry of the official registry's first seed, in the older shape. */
export interface SeedEntry {
  name: string;
  description: string;
  repository: { url: string; source: string; id: string };
  version_detail: { version: string };
  packages?: {
    registry_name: string;
    name: string;
    version: string;
    environment_variables?: { name: string; description: string }[];
    package_arguments?: SeedArgument[];
  }[];
  remotes?: { transport_type: string; url: string }[];
}

interface SeedArgument {
  type: string;
  name?: string;
  description?: string;
  is_required?: boolean;
  format?: string;
  value?: string;
  default?: string;
  value_hint?: string;
}

/**
 * The entry as server.json. What had no text where one is needed gets the plainest there is. A namespace is spelled as
 * its owner at GitHub is, with the capitals that the seed has lost.
 */
export function toServerJson(entry: SeedEntry): Record<string, unknown> & { name: string; version: string } {
  const { name, description, repository, version_detail, packages, remotes } = entry;
  return {
    name: spelled(name, repository.url),
    description: clipped(description.trim() || name),
    version: version_detail.version,
    repository,
    ...(packages === undefined ? {} : { packages: packages.map(toPackage) }),
    ...(remotes === undefined ? {} : { remotes: remotes.map(toRemote) }),
  };
}

function spelled(name: string, repository: string): string {
  const owner = /^https:\/\/github\.com\/([^/]+)\//.exec(repository)?.[1] ?? "";
  const namespace = `io.github.${owner}`;
  return name.startsWith(`${namespace.toLowerCase()}/`) ? namespace + name.slice(namespace.length) : name;
}

function toPackage(old: NonNullable<SeedEntry["packages"]>[number]): Record<string, unknown> {
  return {
    registryType: old.registry_name,
    identifier: old.name || "unknown",
    ...(old.version === "" ? {} : { version: old.version }),
    transport: { type: "stdio" },
    ...(old.package_arguments === undefined ? {} : { packageArguments: old.package_arguments.map(toArgument) }),
    ...(old.environment_variables === undefined ? {} : { environmentVariables: old.environment_variables }),
  };
}

function toArgument({ is_required, value_hint, ...argument }: SeedArgument): Record<string, unknown> {
  return {
    ...argument,
    ...(is_required === undefined ? {} : { isRequired: is_required }),
    ...(value_hint === undefined ? {} : { valueHint: value_hint }),
  };
}

/** Under a name that leads nowhere: a test asks nobody. */
function toRemote({ transport_type, url }: { transport_type: string; url: string }, index: number) {
  const path = url.replace(/^https?:\/\/[^/]+/, "");
  const host = new URL(url).hostname;
  // What listens on the reader's own machine is nobody's; two entries have the same.
  return {
    type: transport_type || "sse",
    url: host === "localhost" ? `http://127.0.0.${index + 2}:9${path}` : `https://${host}.test${path}`,
  };
}

function clipped(text: string): string {
  const characters = Array.from(text);
  return characters.length <= 100 ? text : characters.slice(0, 100).join("");
}
