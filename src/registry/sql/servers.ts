import { readJson } from "../../kernel/read-json.ts";
import { boundedFlags, flagsPerItem } from "../../manifest/describe.ts";
import type { CapabilityFlag } from "../../manifest/flag.ts";
import { scanCapability } from "../../manifest/scan.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { Head, ServerEntry, ServerSummary } from "../contract.ts";
import type { ServerConfig, Visibility } from "../schema.ts";
import { acknowledgedFlags, forgetAcknowledged } from "./acknowledged.ts";
import { generationOf } from "./change-log.ts";
import { hiddenPositions } from "./origins.ts";
import { type SourceRow, sourceRows, statusOf, unseenSources } from "./source-rows.ts";
import { shownTenant } from "./tenant-name.ts";

export interface ServerRow extends Record<string, SqlStorageValue> {
  name: string;
  config: string;
  visibility: string;
  /** The generation at which the server became public; null while it is private. */
  public_since: number | null;
  digest: string | null;
  revision: number;
  overlay: number;
  generation: number;
  last_synced: string | null;
  flags: string;
  summary: string;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

/** The row of a server; includes tombstones. */
export function findRow(sql: SqlStorage, name: string): ServerRow | undefined {
  return sql.exec<ServerRow>("SELECT * FROM server WHERE name = ?", name).toArray()[0];
}

export function findLive(sql: SqlStorage, name: string): ServerRow | undefined {
  const row = findRow(sql, name);
  return row?.deleted_at === null ? row : undefined;
}

export function listLive(sql: SqlStorage, after: string, limit: number): ServerRow[] {
  return sql
    .exec<ServerRow>("SELECT * FROM server WHERE name > ? AND deleted_at IS NULL ORDER BY name LIMIT ?", after, limit)
    .toArray();
}

export function headOf(sql: SqlStorage, tenant: string, row: ServerRow, asOf: number): Head {
  const disabled = sql
    .exec<{ kind: string; key: string }>(
      "SELECT kind, key FROM disabled WHERE server = ? AND switched = 1 ORDER BY kind, key",
      row.name,
    )
    .toArray() as { kind: CapabilityKind; key: string }[];
  const sources = sourceRows(sql, row.name);
  const warnings = sources.flatMap((source) => readJson(source.warnings) as string[]);
  const acknowledged = acknowledgedFlags(sql, row.name);
  const { status = "active", statusMessage } = readJson(row.config) as ServerConfig;
  return {
    tenant,
    name: row.name,
    visibility: row.visibility as Visibility,
    status,
    statusMessage,
    generation: row.generation,
    asOf,
    overlay: row.overlay,
    disabled,
    hidden: row.digest === null ? undefined : hiddenPositions(sql, row, unseenSources(sources)),
    flags: flagsOfRow(row),
    acknowledged: acknowledged.length === 0 ? undefined : acknowledged,
    digest: row.digest ?? undefined,
    lastSynced: latestSync(row, sources),
    sources: sources.length === 0 ? undefined : sources.map((source) => statusOf(source, tenant)),
    warnings: warnings.length === 0 ? undefined : warnings,
    deleted: row.deleted_at === null ? undefined : true,
  };
}

/** A look that finds nothing new moves only the source's own time. */
function latestSync({ last_synced: ofServer }: ServerRow, sources: readonly SourceRow[]): string | undefined {
  if (ofServer === null) return undefined;
  return sources.reduce((latest, { last_synced: at }) => (at !== null && at > latest ? at : latest), ofServer);
}

/** The head of a server at the tenant's current generation. */
export function currentHead(sql: SqlStorage, name: string): Head | undefined {
  const row = findRow(sql, name);
  return row && headOf(sql, shownTenant(sql), row, generationOf(sql));
}

export function entryOf(sql: SqlStorage, tenant: string, row: ServerRow, asOf: number): ServerEntry {
  return {
    config: readJson(row.config) as ServerConfig,
    head: headOf(sql, tenant, row, asOf),
    summary: shownSummary(sql, row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The title in the config wins over the title in the manifest. */
export function shownTitle({ config, summary }: Pick<ServerRow, "config" | "summary">): string | undefined {
  return (readJson(config) as ServerConfig).title ?? (readJson(summary) as ServerSummary).title;
}

/** Marks a server as changed at a generation without a new revision. */
export function bumpOverlay(sql: SqlStorage, name: string, generation: number, at: string): void {
  sql.exec(
    "UPDATE server SET generation = ?, overlay = overlay + 1, updated_at = ? WHERE name = ?",
    generation,
    at,
    name,
  );
}

interface ServerMove {
  name: string;
  config: string;
  digest: string;
  number: number;
  generation: number;
  at: string;
  flags: CapabilityFlag[];
  summary: ServerSummary;
}

/** The summary of the published manifest without the items that are switched off or hidden. */
function shownSummary(sql: SqlStorage, row: ServerRow): ServerSummary {
  const summary = readJson(row.summary) as ServerSummary;
  const hidden = sql
    .exec<{ kind: CapabilityKind; items: number; tokens: number }>(
      // CROSS JOIN fixes the order: start from the few disabled items, not from all items of the server.
      `SELECT c.kind, count(*) AS items, sum(c.tokens) AS tokens FROM disabled d
       CROSS JOIN capability c ON c.key = d.key AND c.kind = d.kind AND c.last_revision IS NULL AND c.server = d.server
       WHERE d.server = ? GROUP BY c.kind`,
      row.name,
    )
    .toArray();
  if (hidden.length === 0) return summary;
  const counts = { ...summary.counts };
  let tokens = summary.tokens ?? 0;
  for (const { kind, items, tokens: cost } of hidden) {
    counts[kind] = (counts[kind] ?? 0) - items;
    tokens -= cost;
  }
  return { ...summary, counts, tokens };
}

/** Tokens of the items that readers of a server see. `off`: those that they do not see, if they are known. */
export function shownTokens(sql: SqlStorage, row: ServerRow, off?: ReadonlySet<string>): number {
  const summary = off?.size === 0 ? (readJson(row.summary) as ServerSummary) : shownSummary(sql, row);
  return summary.tokens ?? 0;
}

/** Points a server at a new revision. Creates the server if it is new or was deleted. */
export function moveServer(sql: SqlStorage, move: ServerMove): void {
  sql.exec(
    `INSERT INTO server (name, config, visibility, digest, revision, generation, last_synced, flags, summary,
       created_at, updated_at)
     VALUES (?1, ?2, 'tenant', ?3, ?4, ?5, ?6, ?7, ?8, ?6, ?6)
     ON CONFLICT (name) DO UPDATE SET
       config = ?2, visibility = iif(deleted_at IS NULL, visibility, 'tenant'), digest = ?3, revision = ?4,
       overlay = overlay + 1, generation = ?5, last_synced = ?6, flags = ?7, summary = ?8,
       created_at = iif(deleted_at IS NULL, created_at, ?6), updated_at = ?6, deleted_at = NULL`,
    move.name,
    move.config,
    move.digest,
    move.number,
    move.generation,
    move.at,
    JSON.stringify(move.flags),
    JSON.stringify(move.summary),
  );
}

/** The values that a precondition is compared with. */
export function tagOf({ digest, overlay }: ServerRow): Pick<Head, "digest" | "overlay"> {
  return digest === null ? { overlay } : { digest, overlay };
}

/** True if the visible title of the server has changed. */
export function isRetitled(sql: SqlStorage, before: ServerRow): boolean {
  const after = findLive(sql, before.name);
  return after !== undefined && shownTitle(after) !== shownTitle(before);
}

/** Stores a server's config with its visibility. From which generation the server is public is for the caller to set. */
export function setConfig(sql: SqlStorage, config: ServerConfig): void {
  const row = findRow(sql, config.name);
  forgetAcknowledged(sql, config.name, "config");
  sql.exec(
    "UPDATE server SET config = ?, visibility = ?, flags = ? WHERE name = ?",
    JSON.stringify(config),
    config.visibility,
    JSON.stringify([...flagsOfRow(row).filter(({ of }) => of !== "config"), ...configFlags(config)]),
    config.name,
  );
}

/** The stored flags of a server: those of its config, its manifest's header, and its place among other servers. */
export function flagsOfRow(row: ServerRow | undefined): CapabilityFlag[] {
  return row === undefined ? [] : (readJson(row.flags) as CapabilityFlag[]);
}

/** Settings that have no text of their own. */
const settings = new Set(["tenant", "name", "visibility", "status"]);

/** Members of a source that are no text. */
const addresses = ["type", "url", "credential"];

/** Flags about the text of a config. */
export function configFlags(config: ServerConfig): CapabilityFlag[] {
  const texts = Object.fromEntries(Object.entries(config).filter(([key]) => !settings.has(key)));
  const sources = config.sources?.map((source) =>
    Object.fromEntries(Object.entries(source).filter(([key]) => !addresses.includes(key))),
  );
  const declared = { ...texts, sources };
  const flags = scanCapability({ kind: "server", name: config.name, declared });
  return boundedFlags(flags, flagsPerItem).map((flag) => ({ ...flag, of: "config" }));
}
