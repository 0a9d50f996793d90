import { defaultBounds } from "../../kernel/bounds.ts";
import { isObject } from "../../kernel/json.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { sections } from "../../manifest/schema/manifest.ts";
import { exceeded } from "../definitions.ts";
import type { Imported, ImportFault } from "../imported.ts";
import { fault } from "../text.ts";
import { listNames, type Provenance, withServerMetadata } from "./describe-item.ts";

/** Items are copied with some metadata; their schemas are not looked at. */
const unitsPerItem = 5;

export type McpOptions = Pick<Provenance, "server" | "serverUrl" | "sourceUrl">;

/**
 * MCP list results → manifest. Accepts an object with one or several lists, with or without the JSON-RPC message around
 * it, or a bare array of tools. Fields that an item declares are kept.
 */
export function importMcp(document: unknown, options: McpOptions): Result<Imported, ImportFault> {
  return runAtOnce(mcpSteps(document, options));
}

/** The import in steps, one item each. */
export function* mcpSteps(document: unknown, options: McpOptions): Steps<Result<Imported, ImportFault>> {
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
  let total = 0;
  for (const name of listNames) {
    const list = lists[name];
    if (list === undefined || list === null) continue;
    if (!Array.isArray(list)) return err(fault("must be an array", `${path}/${name}`));
    total += list.length;
    if (total > defaultBounds.capabilities) {
      const message = `the lists have ${total} items`;
      const overflow = exceeded(message, "capabilities", defaultBounds.capabilities, total);
      return err({ ...overflow, path: Array.isArray(document) ? path : `${path}/${name}` });
    }
    const wrong = list.findIndex((item) => !isObject(item));
    if (wrong !== -1)
      return err(fault("must be an object", `${path}${Array.isArray(document) ? "" : `/${name}`}/${wrong}`));
    const items: unknown[] = [];
    for (const item of list) {
      items.push(withServerMetadata(item, name, { ...options, protocol }));
      yield unitsPerItem;
    }
    manifest[name] = items;
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
