import { isObject, type JsonObject } from "../kernel/json.ts";
import { type Declaration, declaredText, fill, objects, text } from "./declared-input.ts";
import { packageTarget } from "./package-target.ts";
import { type ConnectTarget, clientName, type RemoteTarget } from "./target.ts";

/** One way to connect to a server: an address or a package that its publisher declares. */
export interface Way {
  /** `remote-0`, `package-1`: for links and forms. */
  id: string;
  /** The address, or the package with its version. */
  label: string;
  target?: ConnectTarget;
  /** Why there is no target. */
  problems: string[];
}

/** Every way to connect to a server, in the publisher's order: addresses, then packages. `name` is `tenant/name`. */
export function waysToConnect(server: {
  name: string;
  remotes?: readonly unknown[];
  packages?: readonly unknown[];
}): Way[] {
  const name = clientName(server.name.split("/").at(-1) ?? server.name);
  const ways = (kind: string, list: readonly unknown[] = [], read: Read) =>
    list.map((declared, index) => wayOf(`${kind}-${index}`, name, declared, read));
  return [...ways("remote", server.remotes, remoteTarget), ...ways("package", server.packages, packageTarget)];
}

/** Headers, arguments or variables that one way may declare: each is compared with the others. */
const maxDeclared = 200;

type Read = (name: string, declared: JsonObject, declaration: Declaration) => ConnectTarget | undefined;

function wayOf(id: string, name: string, given: unknown, read: Read): Way {
  const declared = isObject(given) ? given : {};
  const declaration: Declaration = { inputs: [], problems: [] };
  const [crowded] = Object.entries(declared).find(([, list]) => Array.isArray(list) && list.length > maxDeclared) ?? [];
  if (crowded !== undefined)
    return { id, label: labelOf(declared), problems: [`${crowded}: more than ${maxDeclared} entries`] };
  const target = read(name, declared, declaration);
  const { problems } = declaration;
  return { id, label: labelOf(declared), target: problems.length === 0 ? target : undefined, problems };
}

function labelOf({ url, identifier, version, registryType }: JsonObject): string {
  const address = text(url);
  if (address !== undefined) return address;
  const name = text(identifier) ?? "a package without a name";
  return `${text(registryType) ?? "package"} ${name}${text(version) === undefined ? "" : ` ${version}`}`;
}

function remoteTarget(name: string, declared: JsonObject, declaration: Declaration): RemoteTarget | undefined {
  const { inputs, problems } = declaration;
  const address = text(declared.url);
  if (address === undefined || !/^(?:https?:\/\/|\{)/.test(address)) {
    problems.push("url: it is not an http or https URL");
    return undefined;
  }
  const variables = isObject(declared.variables) ? declared.variables : {};
  const url = fill(declaration, address, variables, "url");
  const headers = objects(declared.headers).flatMap((header) => {
    const key = text(header.name) ?? "";
    if (!/^[A-Za-z0-9!#&'*+.^_|~-]{1,100}$/.test(key)) {
      problems.push(`headers: "${key}" is not the name of a header`);
      return [];
    }
    return [{ name: key, value: declaredText(declaration, key, header, `headers.${key}`) }];
  });
  return {
    kind: "remote",
    name,
    transport: declared.type === "sse" ? "sse" : "http",
    url,
    headers,
    inputs,
    notes: [],
  };
}
