import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { plainObject, withLineFeeds, withoutCredentials } from "../text.ts";

/** `capability_type` of the items in each MCP list. */
const capabilityTypes = {
  tools: "mcp_tool",
  prompts: "mcp_prompt",
  resources: "mcp_resource",
  resourceTemplates: "mcp_resource_template",
} as const;

export type ListName = keyof typeof capabilityTypes;
export const listNames = Object.keys(capabilityTypes) as ListName[];

/** The MCP server that a list comes from. */
export interface Provenance {
  server: string;
  /** URL of the server. */
  serverUrl?: string | undefined;
  /** URL of the document that has the list, if that is not the server. */
  sourceUrl?: string | undefined;
  protocol?: string | undefined;
  /** Whether calls need an MCP session; "auto" is published if absent. */
  requiresSession?: "true" | "false";
}

/** Environment variables that a runtime may look at for any MCP server. */
const variableHints = { auth_env_var: "MCP_AUTH_TOKEN", server_url_override_env: "MCP_SERVER_URL" };

/** Adds permissions, effects and metadata about the MCP server to an item. The item's own values take precedence. */
export function withServerMetadata(
  declared: Record<string, unknown>,
  list: ListName,
  { server, serverUrl, sourceUrl, protocol, requiresSession }: Provenance,
): Record<string, unknown> {
  const item = withLineFeedsInDescriptions(declared, maxLevels) as Record<string, unknown>;
  const url = withoutCredentials(serverUrl);
  const { metadata = {} } = item;
  // Validation reports a `metadata` that is not an object.
  if (!isObject(metadata)) return item;
  const { mcp = {}, discovery = {} } = metadata;
  return {
    ...item,
    permissions: item.permissions ?? ["network.http"],
    effects: item.effects ?? ["network_request", "mcp_call"],
    metadata: {
      ...metadata,
      mcp: !isObject(mcp)
        ? mcp
        : withoutUndefined({
            server_url: url,
            server_name: server,
            tool_name: list === "tools" && typeof item.name === "string" ? item.name : undefined,
            protocol_version: protocol,
            requires_session: requiresSession ?? "auto",
            ...variableHints,
            ...mcp,
          }),
      discovery: !isObject(discovery)
        ? discovery
        : withoutUndefined({
            method: "mcp_introspection",
            source_url: withoutCredentials(sourceUrl) ?? url,
            capability_type: capabilityTypes[list],
            introspector_version: "1.0.0",
            ...discovery,
          }),
    },
  };
}

const maxLevels = 64;

/** Replaces CRLF by LF in the descriptions at all levels. Unchanged parts are shared, not copied. */
function withLineFeedsInDescriptions(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null || levels === 0) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withLineFeedsInDescriptions(item, levels - 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, field]): [string, unknown] => {
    const isText = key === "description" && typeof field === "string";
    const plain = isText ? withLineFeeds(field) : withLineFeedsInDescriptions(field, levels - 1);
    changed ||= plain !== field;
    return [key, plain];
  });
  return changed ? plainObject(entries) : value;
}

const secretParameter =
  /(^|[_-])(key|token|secret|sig|signature|auth|password|passwd|pwd|credential|jwt)$|^code$|(apikey|token)$/i;

/**
 * The URL without credentials and secret query parameters, for every reader of the manifest. Some servers accept their
 * key as a query parameter, and that key is meant for the registry alone.
 */
export function withoutSecrets(url: string): string {
  const plain = withoutCredentials(url) ?? url;
  if (!URL.canParse(plain)) return plain;
  const parsed = new URL(plain);
  const secrets = [...parsed.searchParams.keys()].filter((name) => secretParameter.test(name));
  if (secrets.length === 0) return plain;
  for (const name of secrets) parsed.searchParams.delete(name);
  return parsed.href;
}
