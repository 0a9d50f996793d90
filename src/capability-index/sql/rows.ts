import { isObject } from "../../kernel/json.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Advertise, ServerConfig } from "../../registry/schema.ts";
import { generationOf } from "../../registry/sql/change-log.ts";
import { boundIds, itemsWithIds } from "../../registry/sql/item-ids.ts";
import { findLive, headOf, type ServerRow, shownTitle } from "../../registry/sql/servers.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type {
  AdvertisedServers,
  DeclaredItem,
  IndexPage,
  IndexRange,
  IndexRow,
  IndexServer,
  IndexState,
} from "../contract.ts";
import { semanticData } from "../elements.ts";
import { advertiseOf } from "./advertise.ts";

const pageRows = 5_000;
const pageCharacters = 4 * 1024 * 1024;

export function indexState(sql: SqlStorage, server: string | undefined): IndexState {
  const advertise = advertiseOf(sql)?.settings;
  const row = server === undefined ? undefined : findLive(sql, server);
  const publicServers = sql.exec("SELECT 1 FROM server WHERE public_since IS NOT NULL LIMIT 1").toArray();
  return {
    tenant: shownTenant(sql),
    generation: generationOf(sql),
    stamp: contentVersionOf(sql, server),
    hasPublic: publicServers.length > 0,
    advertise,
    server: row === undefined ? undefined : serverState(row),
  };
}

function serverState(row: ServerRow): NonNullable<IndexState["server"]> {
  const { advertise } = readJson(row.config) as ServerConfig;
  return { public: row.public_since !== null, advertise };
}

/** Version of an index: the server's generation and overlay revision, or the tenant's generation. */
function contentVersionOf(sql: SqlStorage, server: string | undefined): string {
  if (server === undefined) return String(generationOf(sql));
  const row = findLive(sql, server);
  return row === undefined ? "none" : `${row.generation}.${row.overlay}`;
}

/** Longer header fields are left out of the index. */
const maxNoteLength = 65_536;

/** Servers in order of name. */
export function indexServers(sql: SqlStorage, range: IndexRange, after: string): IndexPage<IndexServer> {
  const note = (field: string) =>
    `iif(length(r.header -> '$.${field}') <= ${maxNoteLength}, r.header -> '$.${field}', NULL)`;
  const rows = sql.exec<NotedRow>(
    `SELECT s.*, coalesce(${note("actionTriggers")}, ${note("action_triggers")}) AS triggers,
       ${note("relationships")} AS relationships,
       ${note("semantic")} AS semantic, ${note("semantic_data")} AS semantic_data
     FROM server s LEFT JOIN revision r ON r.server = s.name AND r.number = s.revision AND s.digest IS NOT NULL
     WHERE s.name > ? AND s.deleted_at IS NULL ${range.onlyPublic ? "AND s.public_since IS NOT NULL" : ""}
       ${range.server === undefined ? "" : "AND s.name = ?"}
     ORDER BY s.name LIMIT ?`,
    after,
    ...(range.server === undefined ? [] : [range.server]),
    pageRows,
  );
  return paged(
    contentVersionOf(sql, range.server),
    rows,
    ({ triggers, relationships, semantic, semantic_data }) =>
      1_000 + [triggers, relationships, semantic, semantic_data].reduce((sum, text) => sum + (text?.length ?? 0), 0),
    (row) => [row.name],
    (row) => indexServer(sql, row),
  );
}

/** A server with what its manifest declares for the index, as JSON. */
interface NotedRow extends ServerRow {
  triggers: string | null;
  relationships: string | null;
  semantic: string | null;
  semantic_data: string | null;
}

function indexServer(sql: SqlStorage, row: NotedRow): IndexServer {
  const declared = (text: string | null): unknown => (text === null ? undefined : readJson(text));
  const title = shownTitle(row);
  const { status, statusMessage, sources, flags, acknowledged } = headOf(sql, "", row, row.generation);
  const config = readJson(row.config) as ServerConfig & { version?: unknown };
  const summary = readJson(row.summary) as { version?: unknown };
  const version = [config.version, summary.version].find((value) => typeof value === "string" && value !== "");
  return {
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    title,
    version: version as string,
    actionTriggers: declared(row.triggers),
    relationships: declared(row.relationships),
    semantic: semanticData({ semantic: declared(row.semantic), semantic_data: declared(row.semantic_data) }),
    head: { status, statusMessage, sources, flags, acknowledged },
  };
}

/** What a summary needs of an item: what may trigger it, and whether it is deprecated. */
const shownMembers = [
  ...(["actionTriggers", "action_triggers", "triggers"] as const),
  ...(["deprecated", "status", "deprecationReason", "statusMessage"] as const),
];

const member = (name: string) => `'${name}', c.declared -> '$.${name}'`;

/** Current, enabled items, in order of server, kind and key. */
export function indexItems(
  sql: SqlStorage,
  range: IndexRange,
  { whole, after: [server = "", kind = "", key = ""] }: { whole: boolean; after: readonly string[] },
): IndexPage<IndexRow> {
  const text = whole ? "c.declared" : `json_object(${shownMembers.map(member).join(", ")})`;
  const rows = sql.exec<Record<keyof IndexRow, SqlStorageValue>>(
    `SELECT c.server, c.kind, c.key, c.id, c.digest, c.tokens, c.flags, ${text} AS text FROM capability c
     WHERE c.last_revision IS NULL AND (c.server, c.kind, c.key) > (?, ?, ?)
       ${range.server === undefined ? "" : "AND c.server = ?"} ${condition(range)}
     ORDER BY c.server, c.kind, c.key LIMIT ?`,
    server,
    kind,
    key,
    ...(range.server === undefined ? [] : [range.server]),
    pageRows,
  ) as unknown as Iterable<IndexRow>;
  return paged(
    contentVersionOf(sql, range.server),
    rows,
    (row) => 200 + row.key.length + row.id.length + row.text.length + row.flags.length,
    (row) => [row.server, row.kind, row.key],
    (row) => row,
  );
}

/** SQL condition: the item is enabled and, for callers outside the tenant, its server is public. */
function condition({ onlyPublic }: Pick<IndexRange, "onlyPublic">): string {
  const on = `AND NOT EXISTS
    (SELECT 1 FROM disabled d WHERE d.server = c.server AND d.kind = c.kind AND d.key = c.key)`;
  return onlyPublic ? `${on} AND c.server IN (SELECT name FROM server WHERE public_since IS NOT NULL)` : on;
}

function paged<Row, Shown>(
  stamp: string,
  rows: Iterable<Row>,
  size: (row: Row) => number,
  place: (row: Row) => string[],
  shown: (row: Row) => Shown,
): IndexPage<Shown> {
  const page: IndexPage<Shown> = { stamp, rows: [] };
  let room = pageCharacters;
  for (const row of rows) {
    page.rows.push(shown(row));
    room -= size(row);
    if (room <= 0 || page.rows.length === pageRows) return { ...page, next: place(row) };
  }
  return page;
}

/** Larger items have no schema level in an index for a budget. */
const maxDeclaredLength = 65_536;

/** Declared items by id, up to the size limit of a page. Leaves out items that are removed, disabled or not visible. */
export function declaredItems(
  sql: SqlStorage,
  ids: readonly string[],
  { onlyPublic }: Pick<IndexRange, "onlyPublic">,
): DeclaredItem[] {
  const rows = sql.exec<{ id: string; digest: string; declared: string }>(
    `SELECT c.id, c.digest, c.declared FROM ${itemsWithIds} AS c
     WHERE length(c.declared) <= ${maxDeclaredLength} ${condition({ onlyPublic })}`,
    ...boundIds(ids),
  );
  const found: DeclaredItem[] = [];
  let room = pageCharacters;
  for (const { id, digest, declared } of rows) {
    room -= declared.length;
    if (room < 0) break;
    const item: unknown = readJson(declared);
    if (isObject(item)) found.push({ id, digest, declared: item });
  }
  return found;
}

/**
 * The first servers that advertise an index, how many more there are, and the approximate cost of the tenant's own index
 * (0 without settings).
 */
export function advertisedServers(sql: SqlStorage, limit: number): AdvertisedServers {
  const advertising = `FROM server WHERE ${isAdvertised} AND deleted_at IS NULL`;
  const rows = sql.exec<{ name: string; advertise: string; tokens: number }>(
    `SELECT name, config -> '$.advertise' AS advertise, coalesce(json_extract(summary, '$.tokens'), 0) AS tokens
     ${advertising} ORDER BY name LIMIT ?`,
    limit,
  );
  const servers = rows.toArray().map((row) => ({ ...row, advertise: readJson(row.advertise) as Advertise }));
  const { total } =
    servers.length < limit
      ? { total: servers.length }
      : sql.exec<{ total: number }>(`SELECT count(*) AS total ${advertising}`).one();
  const more = total - servers.length;
  if (advertiseOf(sql) === undefined) return { servers, more, tokens: 0 };
  const { tokens } = sql
    .exec<{ tokens: number }>(
      "SELECT coalesce(sum(json_extract(summary, '$.tokens')), 0) AS tokens FROM server WHERE deleted_at IS NULL",
    )
    .one();
  return { servers, more, tokens };
}

/** Must equal the condition of the SQL index `server_advertised`. */
const isAdvertised = `coalesce(json_extract(config, '$.advertise.advertiseResources'),
  json_extract(config, '$.advertise.advertise_resources')) = 1`;
