import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { ProbeState, RememberedEra, SourceDetail, SourceStatus } from "../contract.ts";
import { type ServerConfig, type Source, sourceId } from "../schema.ts";
import { addressHint, commandHint } from "../sources/warnings.ts";
import { cancelTask, enqueueTask } from "./outbox-table.ts";
import { copyTime, dateCopy } from "./source-copies.ts";

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
  /** The source as configured. */
  config: string;
  state: ProbeState;
  since: string;
  /** When the present address was last read; null if it never was. There is a copy of it exactly if this is set. */
  last_synced: string | null;
  error: string | null;
  message: string | null;
  remembered: string | null;
  failures: number;
  warnings: string;
  /** When it is looked at next, in milliseconds; null while it is not. All sources of a server have the same. */
  next_at: number | null;
}

/** A source that the registry does not read. */
interface UnreadSource {
  id: string;
  type: Source["type"];
}

export function httpSources(sources: readonly Source[] | undefined): ReadableSource[] {
  return allSources(sources).filter(isReadable);
}

function isReadable(source: ReadableSource | UnreadSource): source is ReadableSource {
  return "url" in source;
}

function allSources(sources: readonly Source[] | undefined): (ReadableSource | UnreadSource)[] {
  const all = (sources ?? []).map(({ id: given, type, url, credential }, index): ReadableSource | UnreadSource => {
    const id = sourceId({ id: given }, index);
    if (type === "stdio" || url === undefined) return { id, type };
    const { secret, header = "Authorization" } = credential ?? { secret: "" };
    return { id, url, type, credential: credential ? { secret, header } : undefined };
  });
  // A source without an id is named by its position. Publishing a server.json can remove sources before it, so that the
  // name equals another source's id: the first one wins.
  return all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index);
}

export function sourceRows(sql: SqlStorage, server: string): SourceRow[] {
  return sql.exec<SourceRow>("SELECT * FROM source WHERE server = ? ORDER BY position", server).toArray();
}

/** The rows of the sources that the registry reads. */
export function readableRows(sql: SqlStorage, server: string): SourceRow[] {
  return sourceRows(sql, server).filter(({ state }) => state !== "not-read");
}

/** Ids of the sources of which nothing is shown, because they were never read at their present address. */
export function unseenSources(rows: readonly SourceRow[]): string[] {
  return rows.filter(({ state, last_synced }) => state !== "not-read" && last_synced === null).map(({ id }) => id);
}

/** How the source rows of a server changed with its config. */
interface SyncedSources {
  changed: boolean;
  /** Ids of sources that the registry read and does not read any more. */
  removed: string[];
  /** Ids of sources that have another address now. */
  moved: string[];
  /** Ids of sources that have an address again of which there is a copy. */
  returned: string[];
}

/**
 * Replaces a server's source rows by those of its config. A source is identified by its id: what is known of it stays
 * while its address does.
 */
function syncSourceRows(sql: SqlStorage, { name: server, sources: given }: ServerConfig, at: string): SyncedSources {
  const before = sourceRows(sql, server);
  const sources = allSources(given);
  const wanted = sources.map((source) => JSON.stringify(source));
  if (before.length === wanted.length && before.every(({ config }, index) => config === wanted[index])) {
    return { changed: false, removed: [], moved: [], returned: [] };
  }
  const moved: string[] = [];
  const returned: string[] = [];
  sql.exec("DELETE FROM source WHERE server = ?", server);
  for (const [position, source] of sources.entries()) {
    const config = wanted[position] ?? "";
    const known = before.find(({ id }) => id === source.id);
    const staysThere = isReadable(source) && known !== undefined && addressOf(known) === source.url;
    if (known !== undefined && !staysThere && known.last_synced !== null) {
      dateCopy(sql, server, source.id, known.last_synced);
      moved.push(source.id);
    }
    const fresh = {
      ...{ state: isReadable(source) ? "pending" : "not-read", since: at },
      last_synced: isReadable(source) ? (copyTime(sql, server, source.id, source.url) ?? null) : null,
    };
    if (!staysThere && fresh.last_synced !== null) returned.push(source.id);
    const kept = known?.config === config ? known : staysThere ? { ...known, remembered: null } : fresh;
    insert(sql, "source", { ...kept, config, server, id: source.id, position });
  }
  const readable = new Set(sources.filter(isReadable).map(({ id }) => id));
  const removed = before.filter(({ id, state }) => state !== "not-read" && !readable.has(id)).map(({ id }) => id);
  return { changed: true, removed, moved, returned };
}

function addressOf({ config }: SourceRow): string | undefined {
  return (readJson(config) as Partial<ReadableSource>).url;
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

/** A source was read and is as it was. `at` is when, `nextAt` when it is looked at again. */
export function recordLook(
  sql: SqlStorage,
  { server, id }: SourceRow,
  { at, nextAt, remembered }: { at: string; nextAt: number; remembered: RememberedEra },
): void {
  sql.exec(
    "UPDATE source SET last_synced = ?3, next_at = ?4, remembered = ?5 WHERE server = ?1 AND id = ?2",
    ...[server, id, at, nextAt, JSON.stringify(remembered)],
  );
}

/** Ends the looks at a server's sources. */
export function stopLooks(sql: SqlStorage, server: string): void {
  sql.exec("UPDATE source SET next_at = NULL WHERE server = ? AND next_at IS NOT NULL", server);
}

/** Servers whose sources are to be looked at, those that wait longest first. */
export function serversToLookAt(sql: SqlStorage, now: number): string[] {
  const rows = sql.exec<{ server: string }>(
    "SELECT server FROM source WHERE next_at <= ? ORDER BY next_at LIMIT 400",
    now,
  );
  return [...new Set(rows.toArray().map(({ server }) => server))].slice(0, 100);
}

/** A look that is due is under way; the alarm is for one that a crash ended. */
const lookSafetyNetMs = 60_000;

/** Time of the next alarm for looks at sources. */
export function nextLook(sql: SqlStorage, now: number): number | undefined {
  const { at } = sql
    .exec<{ at: number | null }>("SELECT min(next_at) AS at FROM source WHERE next_at IS NOT NULL")
    .one();
  if (at === null) return undefined;
  return at <= now ? now + lookSafetyNetMs : at;
}

/** Returns true if readers see a different status, error or warning than before. */
export function recordProbe(
  sql: SqlStorage,
  row: SourceRow,
  finding: ProbeResult,
  { at, nextAt }: { at: string; nextAt: number },
): boolean {
  const { state, error = null, message = null, remembered, warnings } = finding;
  const moved = row.state !== state || row.error !== error || row.warnings !== JSON.stringify(warnings);
  sql.exec(
    `UPDATE source SET state = ?3, since = iif(state = ?3, since, ?4), last_synced = iif(?3 = 'live', ?4, last_synced),
       error = ?5, message = ?6, remembered = ?7, failures = iif(?3 = 'live', 0, failures + 1), warnings = ?8,
       next_at = ?9
     WHERE server = ?1 AND id = ?2`,
    ...[row.server, row.id, state, at, error, message],
    ...[remembered === undefined ? row.remembered : JSON.stringify(remembered), JSON.stringify(warnings), nextAt],
  );
  return moved;
}

export function statusOf(row: SourceRow, tenant: string): SourceStatus {
  const { server, id, state, since, last_synced, error, config } = row;
  return {
    id,
    status: state,
    since,
    lastSynced: last_synced ?? undefined,
    error: state === "not-read" ? unreadHint(config, tenant, server) : (error ?? undefined),
  };
}

function unreadHint(config: string, tenant: string, server: string): string {
  return (readJson(config) as UnreadSource).type === "stdio" ? commandHint(tenant, server) : addressHint;
}

/** What a reading had to say of all sources together does not hold for others. */
export function clearWarnings(sql: SqlStorage, server: string): void {
  sql.exec("UPDATE source SET warnings = '[]' WHERE server = ?", server);
}

export function dropSources(sql: SqlStorage, server: string): void {
  sql.exec("DELETE FROM source WHERE server = ?", server);
}

export function detailOf(row: SourceRow, tenant: string): SourceDetail {
  const era = row.remembered === null ? undefined : (readJson(row.remembered) as RememberedEra).era;
  return {
    ...statusOf(row, tenant),
    url: addressOf(row),
    message: row.message ?? undefined,
    era,
    failures: row.failures,
  };
}

/** Updates a server's source rows. New or changed sources are read at once. */
export function syncSources(sql: SqlStorage, config: ServerConfig, at: string): SyncedSources {
  const synced = syncSourceRows(sql, config, at);
  if (!synced.changed) return synced;
  if (readableRows(sql, config.name).length > 0) enqueueTask(sql, "refresh", config.name);
  else cancelTask(sql, "refresh", config.name);
  return synced;
}
