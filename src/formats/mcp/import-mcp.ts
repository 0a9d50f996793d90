import { isObject } from "../../kernel/json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { sections } from "../../manifest/schema/manifest.ts";
import type { Imported, ImportFault } from "../imported.ts";
import { fault } from "../text.ts";
import { listNames, type Provenance, withServerMetadata } from "./describe-item.ts";

export type McpOptions = Pick<Provenance, "server" | "serverUrl" | "sourceUrl">;

/**
 * MCP list results → manifest. Accepts an object with one or several lists, with or without the JSON-RPC message around
 * it, or a bare array of tools. Fields that an item declares are kept.
 */
export function importMcp(document: unknown, options: McpOptions): Result<Imported, ImportFault> {
  const found = listsOf(document);
  if (!found.ok) return found;
  const { lists, path } = found.value;
  // These are about the message, not about the server.
  const { nextCursor, ttlMs: _, cacheScope: __, resultType: ___, ...fields } = lists;
  if (nextCursor !== undefined && nextCursor !== null && nextCursor !== "") {
    const message =
      "the list has more pages (nextCursor); import all of them as one list, or the rest would be removed";
    return err({ ...fault(message, `${path}/nextCursor`), isIncomplete: true });
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
    manifest[name] = list.map((item) => withServerMetadata(item, name, { ...options, protocol }));
    counts[sections[name].kind] = list.length;
  }
  return ok({ manifest, counts, warnings: [] });
}

/** The object that contains the lists, and the JSON pointer to it. */
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
