import { withoutSecrets } from "../../formats/mcp/describe-item.ts";
import { isObject } from "../../kernel/json.ts";
import { readJson } from "../../kernel/read-json.ts";
import { type Origin, sourceOrigin } from "../../manifest/compose.ts";
import type { Head } from "../contract.ts";
import type { ReadableSource } from "./source-rows.ts";

/** Where the items and fields of a revision came from. */
export interface RevisionOrigins {
  /** The origin of the item at a position of the layout. */
  of(position: number): Origin;
  /** Fields of the header that sources set. */
  fromSources: string[];
  isAllPushed: boolean;
  /** True if no item was pushed or registered. */
  isAllFromSources: boolean;
}

/** Positions in the layout of the items that were not pushed. Null if everything was pushed, as in most servers. */
interface StoredOrigins {
  items: [origin: Origin, positions: number[]][];
  fields: string[];
}

export function originsText(origins: readonly Origin[], fromSources: readonly string[]): string | null {
  const items = Map.groupBy(origins.keys(), (position) => origins[position] ?? "pushed");
  items.delete("pushed");
  if (items.size === 0 && fromSources.length === 0) return null;
  const stored: StoredOrigins = { items: [...items], fields: [...fromSources] };
  return JSON.stringify(stored);
}

export function readOrigins(text: string | null, count: number): RevisionOrigins {
  if (text === null) return { of: () => "pushed", fromSources: [], isAllPushed: true, isAllFromSources: false };
  const { items, fields } = readJson(text) as StoredOrigins;
  const origins = new Map(
    items.flatMap(([origin, positions]) => positions.map((at): [number, Origin] => [at, origin])),
  );
  return {
    of: (position) => origins.get(position) ?? "pushed",
    fromSources: fields,
    isAllPushed: items.length === 0,
    isAllFromSources: origins.size === count && !items.some(([origin]) => origin === "plugin"),
  };
}

/** Positions of the items of a revision that came from these sources; undefined if there are none. */
export function hiddenPositions(
  sql: SqlStorage,
  { name, revision }: { name: string; revision: number },
  sources: readonly string[],
): Head["hidden"] {
  if (sources.length === 0) return undefined;
  const text = sql
    .exec<{ origins: string | null }>("SELECT origins FROM revision WHERE server = ? AND number = ?", name, revision)
    .toArray()[0]?.origins;
  if (text === undefined || text === null) return undefined;
  const origins = new Set(sources.map(sourceOrigin));
  const positions = (readJson(text) as StoredOrigins).items
    .flatMap(([origin, found]) => (origins.has(origin) ? found : []))
    .sort((a, b) => a - b);
  const ranges: NonNullable<Head["hidden"]> = [];
  for (const at of positions) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === at - 1) last[1] = at;
    else ranges.push([at, at]);
  }
  return ranges.length === 0 ? undefined : ranges;
}

/** The migration that adds origins: they are worked out from what the items say of themselves. */
export const originsColumn = "ALTER TABLE revision ADD COLUMN origins TEXT;";

/** Fields that a reading of sources sets. */
const sourceFields = ["serverInfo", "mcpVersion", "instructions"];

export function fillOrigins(sql: SqlStorage): void {
  const servers = sql.exec<{ name: string; revision: number }>(
    // Withdrawn servers of that time have no digest, and a later step makes them live again.
    `SELECT name, revision FROM server WHERE (digest IS NOT NULL OR withdrawn = 1) AND (
       EXISTS (SELECT 1 FROM source WHERE source.server = server.name) OR EXISTS (
         SELECT 1 FROM capability WHERE capability.server = server.name AND kind = 'generator'
           AND last_revision IS NULL AND json_extract(declared, '$.source') = 'plugin'))`,
  );
  for (const { name, revision } of servers.toArray()) fillServer(sql, name, revision);
}

function fillServer(sql: SqlStorage, server: string, number: number): void {
  const sources = sql
    .exec<{ id: string; config: string }>("SELECT id, config FROM source WHERE server = ?", server)
    .toArray()
    .map(({ id, config }) => ({ id, url: withoutSecrets((readJson(config) as ReadableSource).url) }));
  const found = sql
    .exec<{ layout: string; header: string; published_by: string }>(
      "SELECT layout, header, published_by FROM revision WHERE server = ? AND number = ?",
      server,
      number,
    )
    .toArray()[0];
  if (found === undefined) return;
  const origins = (readJson(found.layout) as [kind: string, digest: string][]).map(([kind, digest]): Origin => {
    const row = sql.exec<{ declared: string }>(
      "SELECT declared FROM capability WHERE server = ? AND kind = ? AND digest = ?",
      ...[server, kind, digest],
    );
    const declared = readJson(row.one().declared) as Record<string, unknown>;
    if (kind === "generator" && declared.source === "plugin") return "plugin";
    const mcp = isObject(declared.metadata) ? declared.metadata.mcp : undefined;
    const source = isObject(mcp) ? sources.find(({ url }) => url === mcp.server_url) : undefined;
    return source === undefined ? "pushed" : sourceOrigin(source.id);
  });
  const isRead = found.published_by === "introspection" && sources.length > 0;
  const header = readJson(found.header) as Record<string, unknown>;
  const fields = isRead ? sourceFields.filter((field) => Object.hasOwn(header, field)) : [];
  sql.exec(
    "UPDATE revision SET origins = ? WHERE server = ? AND number = ?",
    ...[originsText(origins, fields), server, number],
  );
}
