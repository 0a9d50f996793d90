import { isObject } from "../../kernel/json.ts";
import { ItemName } from "../../kernel/names.ts";
import { type RtfsCapability, toolName } from "./capability.ts";

/**
 * RTFS has a name for readers (`:name "List the issues"`), an MCP tool name and an id. An item has one name, which
 * callers use, and a title.
 */

export function isItemName(name: unknown): name is string {
  return ItemName.safeParse(name).success;
}

/** The first valid item name of: the MCP tool name, the capability's name, the tool name in the id. */
export function validName({
  id,
  name,
  metadata,
}: Pick<RtfsCapability, "id" | "name" | "metadata">): string | undefined {
  const mcp = isObject(metadata?.mcp) ? metadata.mcp : {};
  return [mcp.tool_name, name, toolName(id)].find(isItemName);
}
