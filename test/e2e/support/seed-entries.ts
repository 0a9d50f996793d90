import { serverJsonSchemaUri } from "../../../src/official/schema.ts";

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
    $schema: serverJsonSchemaUri,
    name: spelled(name, repository.url),
    description: clipped(description.trim() || name),
    version: version_detail.version,
    repository,
    ...(packages === undefined ? {} : { packages: packages.map(toPackage) }),
    ...(remotes === undefined ? {} : { remotes: remotes.map((remote) => toRemote(remote, name)) }),
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

/** A named argument that has its value in its name is a positional one today. */
function toArgument({ is_required, value_hint, ...written }: SeedArgument): Record<string, unknown> {
  const { name = "", value = name } = written;
  const isNamed = name !== "" && !/[<> $]/.test(name) && !value.startsWith(name) && !written.default?.startsWith(name);
  const argument = written.type !== "named" || isNamed ? written : { ...written, type: "positional", value };
  return {
    ...argument,
    ...(is_required === undefined ? {} : { isRequired: is_required }),
    ...(value_hint === undefined ? {} : { valueHint: value_hint }),
  };
}

/** Under a name that leads nowhere: a test asks nobody. */
function toRemote({ transport_type, url }: { transport_type: string; url: string }, name: string) {
  const path = url.replace(/^https?:\/\/[^/]+/, "");
  // A remote belongs to one server, and is not on the reader's own machine.
  const host = new URL(url).hostname.replace("localhost", name.replaceAll(/\W/g, "-"));
  return { type: transport_type || "sse", url: `https://${host}.test${path}` };
}

function clipped(text: string): string {
  const characters = Array.from(text);
  return characters.length <= 100 ? text : characters.slice(0, 100).join("");
}
