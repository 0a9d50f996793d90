import { type ListName, listNames } from "../../formats/mcp/describe-item.ts";
import { isObject } from "../../kernel/json.ts";
import { readJson } from "../../kernel/read-json.ts";
import { sourceOrigin } from "../../manifest/compose.ts";
import { sectionForKind } from "../../manifest/schema/manifest.ts";
import type { ServerConfig } from "../../registry/schema.ts";
import type { SourceCopy } from "../../registry/sources/offer.ts";
import { storedManifest } from "../../registry/sql/revisions.ts";
import { writeCopy } from "../../registry/sql/source-copies.ts";
import { type ReadableSource, readableRows, syncSources } from "../../registry/sql/source-rows.ts";

type Published = NonNullable<ReturnType<typeof storedManifest>>;
type Item = Record<string, unknown>;

/**
 * The migration that adds copies: what is published of a source becomes its first copy. Nothing else reads a manifest
 * back as what a source offered.
 */
export function fillSourceCopies(sql: SqlStorage): void {
  const servers = sql
    .exec<{ name: string; config: string }>("SELECT name, config FROM server WHERE deleted_at IS NULL OR withdrawn = 1")
    .toArray();
  for (const { name, config } of servers) {
    fillServer(sql, name);
    const { sources, ...settings } = readJson(config) as ServerConfig;
    const hasUnread = sources?.some(({ type, url }) => type === "stdio" || url === undefined) === true;
    if (hasUnread) syncSources(sql, { ...settings, name, sources }, new Date().toISOString());
  }
}

function fillServer(sql: SqlStorage, server: string): void {
  const read = readableRows(sql, server).filter(({ last_synced }) => last_synced !== null);
  if (read.length === 0) return;
  const published = storedManifest(sql, server);
  for (const [index, { id, config, last_synced: at }] of read.entries()) {
    const { url: address } = readJson(config) as ReadableSource;
    writeCopy(sql, { server, source: id, address }, copyFrom(published, id, index === 0), at ?? "");
  }
}

function copyFrom(published: Published | undefined, id: string, isFirst: boolean): SourceCopy {
  const lists = Object.fromEntries(listNames.map((list) => [list, [] as Item[]])) as Record<ListName, Item[]>;
  const names: SourceCopy["names"] = {};
  const header = published?.manifest.header ?? {};
  const fromSources = (key: string) => (published?.origins.fromSources.includes(key) ? header[key] : undefined);
  const { mcpVersion, serverInfo, instructions } = {
    ...{ mcpVersion: fromSources("mcpVersion"), serverInfo: fromSources("serverInfo") },
    instructions: fromSources("instructions"),
  };
  let protocolVersion = typeof mcpVersion === "string" ? mcpVersion : "";
  let session = false;
  for (const [position, { kind, key, declared }] of published?.manifest.capabilities.entries() ?? []) {
    const mcp = isObject(declared.metadata) ? declared.metadata.mcp : undefined;
    const list = listNames.find((name) => name === sectionForKind(kind));
    if (published?.origins.of(position) !== sourceOrigin(id) || list === undefined || !isObject(mcp)) continue;
    if (typeof mcp.protocol_version === "string") protocolVersion = mcp.protocol_version;
    session = mcp.requires_session === "true";
    const own = list === "tools" ? mcp.tool_name : list === "prompts" ? mcp.prompt_name : undefined;
    const isRenamed = typeof own === "string" && own !== key;
    lists[list].push(isRenamed ? { ...declared, name: own } : declared);
    if (isRenamed) names[list] = { ...names[list], [own]: key };
  }
  return {
    offer: {
      ...{ ...lists, protocolVersion, session },
      serverInfo: isFirst && isObject(serverInfo) ? serverInfo : undefined,
      instructions: isFirst && typeof instructions === "string" ? instructions : undefined,
    },
    names,
  };
}
