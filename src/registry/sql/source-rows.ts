import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { ProbeState, RememberedEra, SourceDetail, SourceStatus } from "../contract.ts";
import { type ServerConfig, type Source, sourceId } from "../schema.ts";
import { cancelTask, enqueueTask } from "./outbox-table.ts";

/** A source that the registry can read itself. A stdio source is read on its own host and published from there. */
export interface ReadableSource {
  id: string;
  url: string;
  type: "streamable-http" | "sse";
  credential?: { secret: string; header: string };
}

export interface SourceRow extends Record<string, SqlStorageValue> {
  server: string;
  id: string;
  /** The source as configured. If it changes, everything recorded about the source is discarded. */
  config: string;
  state: ProbeState;
  since: string;
  last_synced: string | null;
  error: string | null;
  message: string | null;
  remembered: string | null;
  failures: number;
  warnings: string;
}

export function httpSources(sources: readonly Source[] | undefined): ReadableSource[] {
  const readable = (sources ?? []).flatMap(({ id, type, url, credential }, index) => {
    if (type === "stdio" || url === undefined) return [];
    const { secret, header = "Authorization" } = credential ?? { secret: "" };
    return [{ id: sourceId({ id }, index), url, type, credential: credential ? { secret, header } : undefined }];
  });
  // A source without an id is named by its position. Publishing a server.json can remove sources before it, so that the
  // name equals another source's id: the first one wins.
  return readable.filter(({ id }, index) => readable.findIndex((other) => other.id === id) === index);
}

export function sourceRows(sql: SqlStorage, server: string): SourceRow[] {
  return sql.exec<SourceRow>("SELECT * FROM source WHERE server = ? ORDER BY position", server).toArray();
}

/**
 * Replaces a server's source rows by those of its config, and keeps the state of unchanged sources. Returns whether any
 * row changed.
 */
function syncSourceRows(sql: SqlStorage, server: string, sources: readonly ReadableSource[], at: string): boolean {
  const before = sourceRows(sql, server);
  const wanted = sources.map((source) => JSON.stringify(source));
  if (before.length === wanted.length && before.every(({ config }, index) => config === wanted[index])) return false;
  sql.exec("DELETE FROM source WHERE server = ?", server);
  for (const [position, source] of sources.entries()) {
    const kept = before.find(({ config }) => config === wanted[position]);
    const fresh = { config: wanted[position] ?? "", state: "pending", since: at };
    insert(sql, "source", { ...fresh, ...kept, server, id: source.id, position });
  }
  return true;
}

/** Result of reading one source. */
export interface ProbeResult {
  id: string;
  state: ProbeState;
  error?: string;
  message?: string;
  remembered?: RememberedEra;
  warnings: string[];
}

/** Returns true if readers see a different status, error or warning than before. */
export function recordProbe(sql: SqlStorage, row: SourceRow, finding: ProbeResult, at: string): boolean {
  const { state, error = null, message = null, remembered, warnings } = finding;
  const moved = row.state !== state || row.error !== error || row.warnings !== JSON.stringify(warnings);
  sql.exec(
    `UPDATE source SET state = ?3, since = iif(state = ?3, since, ?4), last_synced = iif(?3 = 'live', ?4, last_synced),
       error = ?5, message = ?6, remembered = ?7, failures = iif(?3 = 'live', 0, failures + 1), warnings = ?8
     WHERE server = ?1 AND id = ?2`,
    ...[row.server, row.id, state, at, error, message],
    ...[remembered === undefined ? row.remembered : JSON.stringify(remembered), JSON.stringify(warnings)],
  );
  return moved;
}

export function statusOf({ id, state, since, last_synced, error }: SourceRow): SourceStatus {
  return {
    id,
    status: state,
    since,
    lastSynced: last_synced ?? undefined,
    error: error ?? undefined,
  };
}

export function dropSources(sql: SqlStorage, server: string): void {
  sql.exec("DELETE FROM source WHERE server = ?", server);
}

export function detailOf(row: SourceRow): SourceDetail {
  const { url } = readJson(row.config) as ReadableSource;
  const era = row.remembered === null ? undefined : (readJson(row.remembered) as RememberedEra).era;
  return {
    ...statusOf(row),
    url,
    message: row.message ?? undefined,
    era,
    failures: row.failures,
  };
}

/** Updates a server's source rows. New or changed sources are read at once. */
export function syncSources(sql: SqlStorage, { name, sources }: ServerConfig, at: string): void {
  const readable = httpSources(sources);
  if (!syncSourceRows(sql, name, readable, at)) return;
  if (readable.length > 0) enqueueTask(sql, "refresh", name);
  else cancelTask(sql, "refresh", name);
}
