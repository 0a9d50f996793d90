import { withoutUndefined } from "../../kernel/json.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { insertAll } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { ChangeClass, LogReason } from "../../manifest/classify/reasons.ts";
import { type ChangeCounts, countChanges, type LogChange } from "../../manifest/diff.ts";
import { type ChainedChange, type Change, chained, genesisOf, type LogHead } from "../change-chain.ts";
import type { RegistryRecord } from "../record-schema.ts";
import { type ChainedRow, type ChangeRow, entriesOf, type LogRow, logRows } from "./log/log-rows.ts";
import { tenantOf } from "./tenant-name.ts";

/** The tenant's generation: every accepted change adds one. */
export function generationOf(sql: SqlStorage): number {
  return Number(sql.exec("SELECT value FROM meta WHERE key = 'generation'").one().value);
}

/** A change, with what is known of the new version. */
export interface LoggedChange extends LogChange {
  registry?: RegistryRecord;
}

/** Adds one to the generation and appends the changes to the log. Call inside the transaction that makes the change. */
export function recordChanges(
  sql: SqlStorage,
  server: string,
  at: string,
  changes: readonly LoggedChange[],
  keep: number,
): { generation: number; counts: ChangeCounts } {
  const generation = raiseGeneration(sql);
  appendChanges(sql, server, at, changes, generation);
  pruneLog(sql, generation, keep);
  return { generation, counts: countChanges(changes) };
}

/** Adds one to the tenant's generation. Call inside the transaction of the change. */
export function raiseGeneration(sql: SqlStorage): number {
  const generation = generationOf(sql) + 1;
  sql.exec("UPDATE meta SET value = ? WHERE key = 'generation'", generation);
  return generation;
}

/**
 * Pruning on every 100th generation bounds the log without a scan on each write. Entries that share a row with one that
 * is kept are kept too.
 */
export function pruneLog(sql: SqlStorage, generation: number, keep: number): void {
  if (generation % 100 !== 0) return;
  const oldest = logHead(sql).sequence - keep + 1;
  sql.exec(`DELETE FROM change WHERE sequence < ${rowOfEntry}`, oldest);
}

/** Number of the row that has the entry ?1; 0 if there is none. */
const rowOfEntry = "(SELECT coalesce(max(sequence), 0) FROM change WHERE sequence <= ?1)";

/** Appends more changes under the generation of the same write. Readers rely on one generation per write. */
export function appendChanges(
  sql: SqlStorage,
  server: string,
  at: string,
  changes: readonly LoggedChange[],
  generation: number,
): void {
  insertAll(sql, "change", logRows(runAtOnce(entrySteps(sql, { server, at, generation }, changes))));
}

/** What the entries of one write share. */
interface LogWrite {
  server: string;
  at: string;
  generation: number;
}

/** The entries of a write that would be the next of the tenant. They are right as long as no other write comes first. */
export function* entrySteps(sql: SqlStorage, write: LogWrite, changes: readonly LoggedChange[]): Steps<ChainedRow[]> {
  const entries: ChainedRow[] = [];
  let last = logHead(sql);
  for (const change of changes) {
    const entry = entryAfter(last, write, change);
    entries.push(entry);
    last = entry;
    yield unitsPerEntry;
  }
  return entries;
}

/** The canonical form and its hash. */
const unitsPerEntry = 50;

function entryAfter(last: LogHead, { server, at, generation }: LogWrite, change: LoggedChange): ChainedRow {
  const row: ChangeRow = {
    sequence: last.sequence + 1,
    generation,
    at,
    server,
    kind: change.kind,
    key: change.key,
    classification: change.classification,
    from_digest: change.from ?? null,
    to_digest: change.to ?? null,
    reasons: JSON.stringify(change.reasons.slice(0, keptReasons)),
    record: change.registry === undefined ? null : JSON.stringify(change.registry),
  };
  // Hash the row in the form in which readers get it.
  const { previous, hash } = chained(withoutUndefined(changeOf(row)), last.hash);
  return { ...row, previous, hash };
}

const keptReasons = 10;

/** Entries after a sequence number, oldest first. */
export function changesSince(sql: SqlStorage, since: number, limit: number): ChainedChange[] {
  const found: ChainedChange[] = [];
  // The first row may have nothing after `since`.
  const rows = sql.exec<LogRow>(
    `SELECT * FROM change WHERE sequence >= ${rowOfEntry} ORDER BY sequence LIMIT ?2`,
    since + 1,
    limit + 1,
  );
  for (const row of rows) {
    const entries = entriesOf(row).filter(({ sequence }) => sequence > since);
    found.push(...entries.map((entry) => ({ ...changeOf(entry), previous: entry.previous, hash: entry.hash })));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** The newest entry. Pruning always keeps it, so a log that ever had entries has one. */
export function logHead(sql: SqlStorage): LogHead {
  const newest = sql.exec<Pick<ChainedRow, "sequence" | "hash">>(
    `SELECT sequence + coalesce(json_array_length(rest), 0) AS sequence, coalesce(rest ->> '$[#-1][0]', hash) AS hash
     FROM change ORDER BY change.sequence DESC LIMIT 1`,
  );
  return newest.toArray()[0] ?? { sequence: 0, hash: genesisOf(tenantOf(sql)) };
}

export function changeOf(row: ChangeRow): Change {
  return {
    sequence: row.sequence,
    generation: row.generation,
    at: row.at,
    server: row.server,
    kind: row.kind as Change["kind"],
    name: row.key,
    classification: row.classification as ChangeClass,
    breaking: row.classification === "breaking" || row.classification === "removed",
    from: row.from_digest ?? undefined,
    to: row.to_digest ?? undefined,
    reasons: readJson(row.reasons) as LogReason[],
    registry: row.record === null ? undefined : (readJson(row.record) as RegistryRecord),
  };
}
