import { pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { ProviderMetadata } from "../../manifest/schema/parts.ts";
import { quoted } from "./form.ts";

export interface Flattened {
  flat: Record<string, string | number | boolean>;
  /** Flat keys that several paths produce, with the JSON pointers of those paths. The first path's value is kept. */
  collisions: { key: string; paths: string[] }[];
}

/** Flattens metadata, keys joined with `_`: `{mcp: {server_url}}` → `mcp_server_url`. Lists and nil are dropped. */
export function flatten(metadata: Record<string, unknown>): Flattened {
  const values = new Map<string, string | number | boolean>();
  const paths = new Map<string, string[]>();
  const waiting: { key: string; path: string; value: unknown }[] = [{ key: "", path: "", value: metadata }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { key, path, value } = next;
    if (isObject(value)) {
      // The stack is last in, first out; pushing in reverse preserves the original order.
      for (const [name, child] of Object.entries(value).reverse()) {
        waiting.push({ key: path === "" ? name : `${key}_${name}`, path: pointer(path, name), value: child });
      }
      continue;
    }
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") continue;
    if (!values.has(key)) values.set(key, value);
    const known = paths.get(key);
    if (known === undefined) paths.set(key, [path]);
    else known.push(path);
  }
  const collisions = Array.from(paths, ([key, found]) => ({ key, paths: found })).filter(
    (entry) => entry.paths.length > 1,
  );
  return { flat: Object.fromEntries(values), collisions };
}

/** URL and method of an API operation. */
interface Endpoint {
  base_url?: string;
  endpoint_method?: string;
  endpoint_path?: string;
}

/**
 * The flat layout has no field for an operation's endpoint. Apart from code, only the comments above the capability
 * contain it (`Base URL: https://…`, `Endpoint: GET /path`).
 */
export function endpointIn(comments: readonly string[]): Endpoint {
  const endpoint: Endpoint = {};
  for (const comment of comments) {
    const [, base] = /^Base URL: (\S+)$/.exec(comment) ?? [];
    const [, method, path] = /^Endpoint: ([A-Z]+) (\S+)$/.exec(comment) ?? [];
    if (base !== undefined) endpoint.base_url = base;
    if (method !== undefined && path !== undefined) {
      endpoint.endpoint_method = method;
      endpoint.endpoint_path = path;
    }
  }
  return endpoint;
}

type Fields = Record<string, unknown>;

export interface Migrated {
  fields: Fields;
  /** Warnings about flat fields that contradict the hierarchical metadata or do not fit into it. The metadata wins. */
  conflicts: string[];
}

const { mcp, openapi, graphql, discovery } = ProviderMetadata.shape;

/** Known fields of each metadata part, in output order. */
const knownFields = new Map([
  ["mcp", Object.keys(mcp.unwrap().shape)],
  ["openapi", Object.keys(openapi.unwrap().shape)],
  ["graphql", Object.keys(graphql.unwrap().shape)],
  ["discovery", Object.keys(discovery.unwrap().shape)],
]);

/**
 * Metadata part of each field that may appear at the top level under its own name. `method` is excluded: the name is
 * too common.
 */
const partOfField = new Map(
  Array.from(knownFields).flatMap(([part, names]) =>
    names.filter((name) => name !== "method").map((name) => [name, part] as const),
  ),
);

/** Values that writers of the hierarchical layout set for every MCP tool and writers of the flat layout omit. */
export const mcpDefaults = {
  requires_session: "auto",
  auth_env_var: "MCP_AUTH_TOKEN",
  server_url_override_env: "MCP_SERVER_URL",
};

/** Metadata parts as Maps, so that adding a field is cheap. A part that is not an object is left unchanged. */
type Parts = Map<string, unknown>;

/** A field to be moved into a metadata part. */
interface Move {
  part: string;
  name: string;
  value: unknown;
}

/**
 * Moves the metadata fields of flat layouts, at the top level or inside `metadata`, into the part of their provider.
 * Leaves hierarchical capabilities unchanged.
 */
export function migrate(given: Fields, endpoint: Endpoint = {}): Migrated {
  const { metadata, ...top } = given;
  const provider = isObject(top.provider) ? splitProvider(top.provider) : undefined;
  const flat: Move[] = [];
  const kept: [string, unknown][] = [];
  const prefixes = new Set([
    ...knownFields.keys(),
    ...Object.entries(top).flatMap(([key, value]) => metadataPrefix(key, value)),
  ]);
  for (const [key, value] of Object.entries(top)) {
    const moves = movesOf(key, value, prefixes);
    if (key === "provider" && provider !== undefined) {
      if (provider.name !== undefined) kept.push([key, provider.name]);
    } else if (moves === undefined) kept.push([key, value]);
    else flat.push(...moves);
  }
  const parts: Parts = new Map();
  for (const [key, value] of Object.entries(isObject(metadata) ? metadata : {})) {
    const moves = flatInMetadata(key, value);
    if (moves === undefined) parts.set(key, isObject(value) ? new Map(Object.entries(value)) : value);
    else flat.push(...moves);
  }
  if (flat.length === 0 && provider === undefined) return { fields: given, conflicts: [] };

  const conflicts = [...(provider?.moves ?? []), ...flat].flatMap((move) => apply(move, parts));
  for (const move of [...impliedByProvider(provider, parts), ...impliedByLayout(flat, parts, endpoint)]) {
    if (fieldOf(parts, move.part, move.name) === undefined) apply(move, parts);
  }
  return { fields: { ...Object.fromEntries(kept), metadata: arrange(parts) }, conflicts };
}

/** Longer keys are not split: every `_` may end a provider's name, so a key of many `_` would be slow to check. */
const maxFlatKeyLength = 256;

/** Returns `mcp` for `:mcp_metadata {…}`. */
function metadataPrefix(key: string, value: unknown): string[] {
  return isObject(value) && /._metadata$/.test(key) ? [key.slice(0, -"_metadata".length)] : [];
}

function movesOf(key: string, value: unknown, prefixes: ReadonlySet<string>): Move[] | undefined {
  const [whole] = metadataPrefix(key, value);
  if (whole !== undefined && isObject(value)) {
    return Object.entries(value).map(([name, detail]) => ({ part: whole, name, value: detail }));
  }
  const own = partOfField.get(key);
  if (own !== undefined) return [{ part: own, name: key, value }];
  if (key.length > maxFlatKeyLength) return undefined;
  for (let at = key.indexOf("_"); at !== -1; at = key.indexOf("_", at + 1)) {
    const [prefix, name] = [key.slice(0, at), key.slice(at + 1)];
    if (prefixes.has(prefix) && name !== "") return [{ part: prefix, name, value }];
  }
  return undefined;
}

const providers: ReadonlySet<string> = new Set(knownFields.keys());

/**
 * Moves of a flat key inside `metadata`, such as `mcp_server_url`. Only keys of the known providers: another publisher's
 * `soap_port` beside `soap` may be no detail of it.
 */
function flatInMetadata(key: string, value: unknown): Move[] | undefined {
  const [whole] = metadataPrefix(key, value);
  if (isObject(value) && (whole === undefined || !providers.has(whole))) return undefined;
  return movesOf(key, value, providers);
}

interface ProviderMap {
  name: string | undefined;
  part: string;
  moves: Move[];
}

/** `:provider {:type "mcp" …}`: `type` is the provider's name, the other fields are its details. */
function splitProvider({ type, ...details }: Fields): ProviderMap {
  const typed = typeof type === "string" && type !== "";
  const part = typed ? type.toLowerCase() : "provider";
  const name = typed ? type : typeof details.name === "string" ? details.name : undefined;
  return { name, part, moves: Object.entries(details).map(([key, value]) => ({ part, name: key, value })) };
}

function fieldOf(parts: Parts, part: string, name: string): unknown {
  const fields = parts.get(part);
  return fields instanceof Map ? fields.get(name) : undefined;
}

/** Sets an absent field. Returns a conflict if the field exists with another value. */
function apply({ part, name, value }: Move, parts: Parts): string[] {
  const fields = parts.get(part) ?? new Map();
  if (!(fields instanceof Map)) return [`${quoted(name)} has no place: metadata.${quoted(part)} is not a map`];
  parts.set(part, fields);
  const present: unknown = fields.get(name);
  if (present === undefined) fields.set(name, value);
  else if (JSON.stringify(present) !== JSON.stringify(value)) {
    return [`${quoted(name)} is given twice, and differs: the one in metadata.${quoted(part)} is kept`];
  }
  return [];
}

/** An MCP provider map names the server's URL `server_endpoint`; `server_url` is derived from it. */
function impliedByProvider(provider: ProviderMap | undefined, parts: Parts): Move[] {
  const value = fieldOf(parts, "mcp", "server_endpoint");
  return provider?.part === "mcp" && value !== undefined ? [{ part: "mcp", name: "server_url", value }] : [];
}

function impliedByLayout(flat: readonly Move[], parts: Parts, endpoint: Endpoint): Move[] {
  const defaults = flat.some(({ part }) => part === "mcp") ? Object.entries(mcpDefaults) : [];
  const isApi = flat.length > 0 && fieldOf(parts, "discovery", "method") === "api_introspection";
  return [
    ...defaults.map(([name, value]) => ({ part: "mcp", name, value })),
    ...(isApi ? Object.entries(endpoint) : []).map(([name, value]) => ({ part: "openapi", name, value })),
  ];
}

/** Providers first, provenance last. Within a part, known fields come first, in the order of `knownFields`. */
function arrange(parts: Parts): Fields {
  const ordered = Array.from(parts).sort(([a], [b]) => Number(a === "discovery") - Number(b === "discovery"));
  return Object.fromEntries(
    ordered.map(([part, fields]) => {
      if (!(fields instanceof Map)) return [part, fields];
      const known = knownFields.get(part) ?? [];
      const rank = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
      return [part, Object.fromEntries(Array.from(fields).sort(([a], [b]) => rank(a) - rank(b)))];
    }),
  );
}
