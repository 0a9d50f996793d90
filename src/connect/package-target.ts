import type { JsonObject } from "../kernel/json.ts";
import { type Declaration, declaredText, fill, objects, text } from "./declared-input.ts";
import type { ConnectTarget, LocalTarget, Text } from "./target.ts";

/** How packages of a registry are started, and what their names look like. A name that could be read as a flag is none. */
interface Runner {
  command: string;
  identifier: RegExp;
  publicRegistry: RegExp;
  /** Arguments before the package's own. */
  start(identifier: string, version: string | undefined, registry: string | undefined): string[];
}

const runners: Record<string, Runner> = {
  npm: {
    command: "npx",
    identifier: /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i,
    publicRegistry: /^https:\/\/registry\.npmjs\.(?:org|com)\/?$/,
    start: (identifier, version, registry) => [
      "-y",
      ...(registry === undefined ? [] : [`--registry=${registry}`]),
      version === undefined ? identifier : `${identifier}@${version}`,
    ],
  },
  pypi: {
    command: "uvx",
    identifier: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    publicRegistry: /^https:\/\/pypi\.org(?:\/simple)?\/?$/,
    start: (identifier, version, registry) => [
      ...(registry === undefined ? [] : ["--default-index", registry]),
      version === undefined ? identifier : `${identifier}@${version}`,
    ],
  },
  nuget: {
    command: "dnx",
    identifier: /^[A-Za-z0-9_][A-Za-z0-9._-]*$/,
    publicRegistry: /^https:\/\/api\.nuget\.org(?:\/v3\/index\.json)?\/?$/,
    start: (identifier, version, registry) => [
      version === undefined ? identifier : `${identifier}@${version}`,
      "--yes",
      ...(registry === undefined ? [] : ["--source", registry]),
    ],
  },
  oci: {
    command: "docker",
    identifier: /^[a-z0-9][a-z0-9._:/-]*(?::[\w][\w.-]*)?(?:@sha256:[0-9a-f]{64})?$/,
    publicRegistry: /^https:\/\/(?:docker\.io|index\.docker\.io|registry-1\.docker\.io|ghcr\.io)\/?$/,
    start: (identifier, version) => [
      hasTag(identifier) || version === undefined ? identifier : `${identifier}:${version}`,
    ],
  },
};

function hasTag(image: string): boolean {
  return image.includes("@") || (image.split("/").at(-1) ?? "").includes(":");
}

/** A package of a server.json as a command. Which program starts it follows from the registry, not from `runtimeHint`. */
export function packageTarget(name: string, declared: JsonObject, declaration: Declaration): ConnectTarget | undefined {
  const { inputs, problems } = declaration;
  const type = text(declared.registryType) ?? "";
  const identifier = text(declared.identifier) ?? "";
  const version = text(declared.version);
  const runner = Object.hasOwn(runners, type) ? runners[type] : undefined;
  if (runner === undefined) {
    const how =
      type === "mcpb" ? "An MCPB bundle is opened in the client by hand" : `Packages of "${type}" have no command here`;
    problems.push(`${how}: see the publisher's page`);
    return undefined;
  }
  if (!runner.identifier.test(identifier))
    problems.push(`identifier: "${identifier}" is not the name of a package of ${type}`);
  if (version !== undefined && !/^[A-Za-z0-9][\w.+!-]*$/.test(version))
    problems.push(`version: "${version}" is not a version`);
  const registry = otherRegistry(declared, runner, problems);
  if (problems.length > 0) return undefined;

  const started = runner.start(identifier, version, registry).map((argument): Text => [argument]);
  const runtime = argumentTexts(declaration, objects(declared.runtimeArguments), "runtimeArguments");
  const own = argumentTexts(declaration, objects(declared.packageArguments), "packageArguments");
  const env = objects(declared.environmentVariables).flatMap((variable) => {
    const key = text(variable.name) ?? "";
    if (!/^[A-Za-z_]\w*$/.test(key)) {
      problems.push(`environmentVariables: "${key}" is not the name of a variable`);
      return [];
    }
    return [{ name: key, value: declaredText(declaration, key, variable, `environmentVariables.${key}`) }];
  });
  const isImage = type === "oci";
  const args: Text[] = isImage
    ? [
        ["run"],
        ["-i"],
        ["--rm"],
        ...env.flatMap(({ name: key }): Text[] => [["-e"], [key]]),
        ...runtime,
        ...started,
        ...own,
      ]
    : [...runtime, ...started, ...own];
  const notes = isImage && !hasTag(identifier) && version === undefined ? [unpinned] : [];
  if (!isImage && version === undefined) notes.push(unpinned);
  const local: LocalTarget = { kind: "local", name, command: runner.command, args, env, inputs, notes };
  return listening(declared, local, declaration);
}

const unpinned = "The publisher names no version: every start runs whatever is newest then.";

/** Another registry than the public one must be named: the same name may be somebody else's package there. */
function otherRegistry(
  declared: JsonObject,
  { publicRegistry, command }: Runner,
  problems: string[],
): string | undefined {
  const base = text(declared.registryBaseUrl);
  if (base === undefined || publicRegistry.test(base)) return undefined;
  if (command === "docker") problems.push(`registryBaseUrl: the image must name its registry itself, not ${base}`);
  else if (!/^https:\/\/[^\s"'$%`\\]+$/.test(base)) problems.push(`registryBaseUrl: ${base} is not an https URL`);
  return base;
}

function argumentTexts(declaration: Declaration, declared: readonly JsonObject[], place: string): Text[] {
  return declared.flatMap((argument, index): Text[] => {
    const where = `${place}[${index}]`;
    const name = text(argument.name);
    const id = name?.replace(/^-+/, "") || text(argument.valueHint) || `${place}-${index}`;
    if (argument.type === "named") {
      if (name === undefined) return [];
      const flag = fill(declaration, name, {}, where);
      return isBareFlag(argument) ? [flag] : [flag, declaredText(declaration, id, argument, where)];
    }
    return [declaredText(declaration, id, argument, where)];
  });
}

/** A named argument of which nothing says that it takes a value. */
function isBareFlag(argument: JsonObject): boolean {
  return ["value", "valueHint", "default", "placeholder", "choices", "format", "isRequired", "isSecret"].every(
    (member) => argument[member] === undefined || argument[member] === false,
  );
}

/** A package that listens on an address is started by hand, and then connected to. */
function listening(declared: JsonObject, local: LocalTarget, declaration: Declaration): ConnectTarget | undefined {
  const transport = (declared.transport ?? { type: "stdio" }) as JsonObject;
  if (transport.type === "stdio" || transport.type === undefined) return local;
  const url = text(transport.url);
  if (url === undefined) {
    declaration.problems.push("transport: it has no url");
    return undefined;
  }
  const { name, inputs, command, args, env } = local;
  const set = env.map((variable) => variable.name).join(", ");
  const notes = env.length === 0 ? local.notes : [...local.notes, `The command needs these variables: ${set}`];
  const known = Object.fromEntries(inputs.map((input) => [input.id, input]));
  return {
    kind: "remote",
    name,
    inputs,
    notes,
    transport: transport.type === "sse" ? "sse" : "http",
    url: fill(declaration, url, known, "transport.url"),
    headers: [],
    runFirst: [[command], ...args],
  };
}
