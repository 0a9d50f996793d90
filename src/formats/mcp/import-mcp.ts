import { isObject } from "../../domain/manifest-parts.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { type CapabilityKind, sections } from "../../schemas/index.ts";
import type { Imported, ImportFault } from "../imported.ts";
import { createWarnings, fault, plainObject, publicUrl, withLineFeeds } from "../openapi/wording.ts";

export interface McpOptions {
  server: string;
  /** Where the server answers. */
  serverUrl?: string;
}

/** What a list says a capability is, by section. */
const TYPES = {
  tools: "mcp_tool",
  prompts: "mcp_prompt",
  resources: "mcp_resource",
  resourceTemplates: "mcp_resource_template",
} as const;

type ListName = keyof typeof TYPES;
const listNames = Object.keys(TYPES) as ListName[];

/**
 * What an MCP server answers to its list requests, as a manifest: one result or several in one object, with or without
 * the JSON-RPC message around it, or the bare array of tools. What an item says of itself is kept as it is.
 */
export function importMcp(document: unknown, options: McpOptions): Result<Imported, ImportFault> {
  const found = listsOf(document);
  if (!found.ok) return found;
  const { lists, path } = found.value;
  const { nextCursor, ...fields } = lists;
  const warnings = createWarnings();
  if (nextCursor !== undefined && nextCursor !== null) {
    warnings.add("the list has more pages (nextCursor), and only this one was imported");
  }

  const protocol = typeof lists.protocolVersion === "string" ? lists.protocolVersion : undefined;
  const manifest: Record<string, unknown> = { ...fields };
  const counts: Partial<Record<CapabilityKind, number>> = {};
  for (const name of listNames) {
    const list = lists[name];
    if (list === undefined || list === null) continue;
    if (!Array.isArray(list)) return err(fault("must be an array", `${path}/${name}`));
    const wrong = list.findIndex((item) => !isObject(item));
    if (wrong !== -1)
      return err(fault("must be an object", `${path}${Array.isArray(document) ? "" : `/${name}`}/${wrong}`));
    manifest[name] = list.map((item) => described(item, name, options, protocol));
    counts[sections[name].kind] = list.length;
  }
  return ok({ manifest, counts, warnings: warnings.all() });
}

/** The object that holds the lists, and the pointer to it. */
function listsOf(document: unknown): Result<{ lists: Record<string, unknown>; path: string }, ImportFault> {
  if (Array.isArray(document)) return ok({ lists: { tools: document }, path: "" });
  if (!isObject(document)) return err(fault("this is neither an MCP list result nor an array of tools", ""));
  const isMessage = document.jsonrpc !== undefined || isObject(document.result);
  if (isMessage && isObject(document.error)) {
    return err(fault("the server answered with an error, not with a list", "/error"));
  }
  const lists = isMessage ? document.result : document;
  const path = isMessage ? "/result" : "";
  if (!isObject(lists) || !listNames.some((name) => lists[name] !== undefined && lists[name] !== null)) {
    return err(fault(`there are no ${listNames.join(", ")} in it`, path));
  }
  return ok({ lists, path });
}

function described(
  declared: Record<string, unknown>,
  list: ListName,
  { server, serverUrl }: McpOptions,
  protocol: string | undefined,
): Record<string, unknown> {
  const item = withPlainLines(declared, MAX_LEVELS) as Record<string, unknown>;
  const url = publicUrl(serverUrl);
  const { metadata = {} } = item;
  // Something else under that name is for the rules to report.
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
        : {
            ...(url === undefined ? {} : { server_url: url }),
            server_name: server,
            ...(list === "tools" && typeof item.name === "string" ? { tool_name: item.name } : {}),
            ...(protocol === undefined ? {} : { protocol_version: protocol }),
            requires_session: "auto",
            ...mcp,
          },
      discovery: !isObject(discovery)
        ? discovery
        : {
            method: "mcp_introspection",
            ...(url === undefined ? {} : { source_url: url }),
            capability_type: TYPES[list],
            introspector_version: "1.0.0",
            ...discovery,
          },
    },
  };
}

const MAX_LEVELS = 64;

/** The same value, but for Windows line ends in descriptions, wherever they stand. Shares what needs no change. */
function withPlainLines(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null || levels === 0) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withPlainLines(item, levels - 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, field]): [string, unknown] => {
    const isText = key === "description" && typeof field === "string";
    const plain = isText ? withLineFeeds(field) : withPlainLines(field, levels - 1);
    changed ||= plain !== field;
    return [key, plain];
  });
  return changed ? plainObject(entries) : value;
}
