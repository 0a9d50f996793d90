import { type ListName, listNames } from "../formats/mcp/describe-item.ts";
import { isObject } from "../kernel/json.ts";
import { sectionForKind } from "../manifest/schema/manifest.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import type { ReadSource } from "./source-manifest.ts";

type Item = Record<string, unknown>;

/**
 * Rebuilds the last reading of a source from what is published of it. Used if the source cannot be read now, so that
 * items not known to be removed stay published.
 */
export function lastReading(
  manifest: Pick<StoredManifest, "header" | "capabilities">,
  isFirst: boolean,
): ReadSource["reading"] {
  const lists = Object.fromEntries(listNames.map((list) => [list, [] as Item[]])) as Record<ListName, Item[]>;
  let protocolVersion = typeof manifest.header.mcpVersion === "string" ? manifest.header.mcpVersion : "";
  let session = false;
  for (const { kind, declared } of manifest.capabilities) {
    const mcp = isObject(declared.metadata) ? declared.metadata.mcp : undefined;
    const list = listNames.find((name) => name === sectionForKind(kind));
    if (list === undefined || !isObject(mcp)) continue;
    if (typeof mcp.protocol_version === "string") protocolVersion = mcp.protocol_version;
    session = mcp.requires_session === "true";
    // A tool or prompt renamed because of a name conflict gets its original name back.
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

/** Adds the items of the last reading to the lists that could not be read completely. */
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
