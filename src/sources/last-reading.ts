import { type ListName, listNames, withoutSecrets } from "../formats/mcp/describe-item.ts";
import { isObject } from "../kernel/json.ts";
import { sectionForKind } from "../manifest/schema/manifest.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import type { ReadSource } from "./source-manifest.ts";

type Item = Record<string, unknown>;

/**
 * What a source offered the last time, worked out from what was published of it then. It stands in where the source
 * cannot be read now: what is not known to be gone stays.
 */
export function lastReading(manifest: StoredManifest, url: string, isFirst: boolean): ReadSource["reading"] {
  const at = withoutSecrets(url);
  const lists = Object.fromEntries(listNames.map((list) => [list, [] as Item[]])) as Record<ListName, Item[]>;
  let protocolVersion = typeof manifest.header.mcpVersion === "string" ? manifest.header.mcpVersion : "";
  let session = false;
  for (const { kind, declared } of manifest.capabilities) {
    const mcp = isObject(declared.metadata) ? declared.metadata.mcp : undefined;
    const list = listNames.find((name) => name === sectionForKind(kind));
    if (list === undefined || !isObject(mcp) || mcp.server_url !== at) continue;
    if (typeof mcp.protocol_version === "string") protocolVersion = mcp.protocol_version;
    session = mcp.requires_session === "true";
    // A name that was qualified because another source has it too goes back to what its own source calls it.
    const own = list === "tools" ? mcp.tool_name : list === "prompts" ? mcp.prompt_name : undefined;
    lists[list].push(typeof own === "string" ? { ...declared, name: own } : declared);
  }
  const { serverInfo, instructions } = manifest.header;
  return {
    ...lists,
    protocolVersion,
    session,
    serverInfo: isFirst && isObject(serverInfo) ? serverInfo : undefined,
    instructions: isFirst && typeof instructions === "string" ? instructions : undefined,
  };
}

/** A reading with what the last one had in lists that could not be read to their end. */
export function fillFromLast(
  reading: ReadSource["reading"],
  incomplete: readonly ListName[],
  last: ReadSource["reading"],
): ReadSource["reading"] {
  const lists = incomplete.map((list) => {
    const seen = new Set(reading[list].map(keyOf));
    return [list, [...reading[list], ...last[list].filter((item) => !seen.has(keyOf(item)))]];
  });
  return { ...reading, ...Object.fromEntries(lists) };
}

function keyOf({ uriTemplate, uri, name }: Item): unknown {
  return uriTemplate ?? uri ?? name;
}
