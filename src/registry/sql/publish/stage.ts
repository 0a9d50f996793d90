import type { Failure } from "../../../kernel/failure.ts";
import type { Steps } from "../../../kernel/pace/pace.ts";
import { insert } from "../../../kernel/platform/insert.ts";
import type { Result } from "../../../kernel/result.ts";
import type { ItemRef } from "../../../manifest/diff.ts";
import type { PreparedCapability } from "../../../manifest/prepare.ts";
import type { CapabilityKind } from "../../../manifest/schema/capability.ts";
import type { PublishRequest } from "../../contract.ts";
import { capabilityRow, insertCapability } from "../items.ts";
import type { ChainedRow } from "../log/log-rows.ts";
import { cancelTask, enqueueTask } from "../outbox-table.ts";
import type { ServerRow } from "../servers.ts";
import type { Difference } from "./difference.ts";
import type { Judgement, ManifestMove } from "./judge.ts";

/**
 * Rows of a large publish, written in batches before it is committed. An item row whose `last_revision` is the negative
 * number of a stage belongs to no revision, so nothing shows it; one statement makes it current. Rows of a stage that was
 * never committed are deleted.
 */

/** Changed items that one transaction writes. More are staged. */
export const mostUnstaged = 500;

/** Items of a manifest that is judged inside the transaction, in some tens of milliseconds, and staged only if it must be. */
export const mostJudgedAtOnce = 2_000;

/** Rows in one batch: a few milliseconds. */
export const stageBatch = 100;

/** What was found, and written, before the transaction of a publish. */
export interface StagedPublish {
  /** The tenant's generation that `judged` holds for. */
  generation: number;
  judged: Result<Judgement, Failure>;
  /** Absent if the publish is not large. */
  rows?: StagedRows;
}

export interface StagedRows {
  stage: number;
  /** Kind and digest of the rows that were inserted, and of earlier versions that become current again. */
  inserted: Set<string>;
  reopened: Set<string>;
  /** The entries of the log are in `staged_change`. */
  hasEntries: boolean;
  /** A dry run: nothing was written, and nothing will be. */
  isRehearsal?: boolean;
  /** Set by the commit: what is left to index. `all`: every item of the server. */
  toIndex?: { revision: number; items: ItemRef[] | "all" };
}

/** Makes a publish of what the server has, in steps. undefined if the server changed meanwhile. */
export type UnwrittenPublish = () => Steps<Omit<PublishRequest, "at"> | undefined>;

/**
 * Thrown out of a transaction that would read or change more items than one transaction should. Nothing was written.
 * `unwritten`: the publish that a write of something else brings with it.
 */
export class LargePublishError extends Error {
  readonly unwritten: UnwrittenPublish | undefined;

  constructor(message: string, unwritten?: UnwrittenPublish) {
    super(message);
    this.unwritten = unwritten;
  }
}

export function isLarge({ found: { added, gone } }: ManifestMove): boolean {
  return added.length + gone.length > mostUnstaged;
}

/** The state of a server that a stage builds on: another revision, or a deletion, supersedes it. */
export function stageBase(row: ServerRow | undefined): string {
  return row === undefined ? "" : `${row.revision} ${row.created_at} ${row.deleted_at}`;
}

/** A stage whose process died is ended after this time. */
const abandonedAfterMs = 60_000;

/** The task in the outbox keeps the alarm set until the stage is closed. */
export function openStage(sql: SqlStorage, server: string, now: number): number {
  enqueueTask(sql, "stage", server, now + abandonedAfterMs);
  const opened = "INSERT INTO publish_stage (server) VALUES (?) RETURNING number";
  return sql.exec<{ number: number }>(opened, server).one().number;
}

interface OpenStage {
  stage: number;
  inserted: Set<string>;
  reopened: Set<string>;
}

/** Writes a batch of item rows. Call inside a transaction. */
export function stageItems(
  sql: SqlStorage,
  server: string,
  items: readonly PreparedCapability[],
  { number, at }: { number: number; at: string },
  { stage, inserted, reopened }: OpenStage,
): void {
  const stored = sql.exec<{ kind: string; digest: string }>(
    `SELECT kind, digest FROM capability
     WHERE server = ? AND (kind, digest) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
    server,
    JSON.stringify(items.map(({ kind, digest }) => [kind, digest])),
  );
  const known = new Set(stored.toArray().map(versionKey));
  for (const item of items) {
    const key = versionKey(item);
    if (known.has(key)) reopened.add(key);
    else {
      insert(sql, "capability", { ...capabilityRow(server, number, item, at), last_revision: -stage });
      inserted.add(key);
    }
  }
}

/** Writes a batch of entries of the log. Call inside a transaction. */
export function stageEntries(sql: SqlStorage, entries: readonly ChainedRow[]): void {
  for (const entry of entries) insert(sql, "staged_change", entry);
}

const entryColumns =
  "sequence, generation, at, server, kind, key, classification, from_digest, to_digest, reasons, record, previous, hash";

/** Appends the staged entries to the log. */
export function insertStagedEntries(sql: SqlStorage): void {
  sql.exec(`INSERT INTO change (${entryColumns}) SELECT ${entryColumns} FROM staged_change ORDER BY sequence`);
}

/** Keeps the list of them below the size of one SQL value. */
const closedAtOnce = 5_000;

/** Ends the items that are gone, and makes the staged rows current. */
export function replaceItems(
  sql: SqlStorage,
  server: string,
  { number, at: now, added, gone }: Pick<Difference, "added" | "gone"> & { number: number; at: string },
  { stage, inserted, reopened }: StagedRows,
): void {
  for (let at = 0; at < gone.length; at += closedAtOnce) {
    sql.exec(
      `UPDATE capability SET last_revision = ?1
       WHERE server = ?2 AND (kind, digest) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))`,
      number - 1,
      server,
      JSON.stringify(gone.slice(at, at + closedAtOnce).map(({ kind, digest }) => [kind, digest])),
    );
  }
  const wanted = new Set(added.map(versionKey));
  // Found again after another write of the tenant: what was staged may not be what is published.
  for (const key of inserted) {
    if (wanted.has(key)) continue;
    const [kind = "", digest = ""] = key.split(" ");
    const staged = "DELETE FROM capability WHERE server = ? AND kind = ? AND digest = ? AND last_revision = ?";
    sql.exec(staged, server, kind, digest, -stage);
  }
  sql.exec("UPDATE capability SET last_revision = NULL WHERE server = ? AND last_revision = ?", server, -stage);
  for (const item of added) {
    const key = versionKey(item);
    if (reopened.has(key) || !inserted.has(key)) insertCapability(sql, server, number, item, now);
  }
}

/** Leaves the index of the items to batches after the commit. The row of the stage says so until it is done. */
export function leaveToIndex(
  sql: SqlStorage,
  staged: StagedRows,
  { number, touched, isRetitling }: { number: number; touched: ItemRef[]; isRetitling: boolean },
): void {
  sql.exec("UPDATE publish_stage SET revision = ? WHERE number = ?", number, staged.stage);
  staged.toIndex = { revision: number, items: isRetitling ? "all" : touched };
}

/** The items of a server, and those that ended with the revision before. */
export function itemsToIndex(sql: SqlStorage, server: string, revision: number): ItemRef[] {
  return sql
    .exec<{ kind: CapabilityKind; key: string }>(
      `SELECT kind, key FROM capability INDEXED BY capability_current WHERE server = ?1 AND last_revision IS NULL
       UNION SELECT kind, key FROM capability INDEXED BY capability_past WHERE server = ?1 AND last_revision = ?2`,
      server,
      revision - 1,
    )
    .toArray();
}

export interface StageRow extends Record<string, SqlStorageValue> {
  number: number;
  server: string;
  /** Set by the commit. */
  revision: number | null;
}

export function stages(sql: SqlStorage): StageRow[] {
  return sql.exec<StageRow>("SELECT number, server, revision FROM publish_stage ORDER BY number").toArray();
}

/** Deletes some rows that a stage wrote and that are not current. Returns whether there may be more. */
export function dropStagedRows(sql: SqlStorage, { number, server }: StageRow): boolean {
  const items = sql.exec(
    `DELETE FROM capability WHERE rowid IN (
       SELECT rowid FROM capability WHERE server = ? AND last_revision = ? LIMIT ${stageBatch})`,
    server,
    -number,
  ).rowsWritten;
  return dropStagedEntries(sql) || items > 0;
}

/** Deletes some staged entries. Returns whether there may be more. */
export function dropStagedEntries(sql: SqlStorage): boolean {
  const some = `SELECT sequence FROM staged_change ORDER BY sequence LIMIT ${5 * stageBatch}`;
  return sql.exec(`DELETE FROM staged_change WHERE sequence IN (${some})`).rowsWritten > 0;
}

export function closeStage(sql: SqlStorage, { number, server }: StageRow): void {
  sql.exec("DELETE FROM publish_stage WHERE number = ?", number);
  cancelTask(sql, "stage", server);
}

/** Looks at the stages again later: the one whose turn it is may still be at work. */
export function postponeStages(sql: SqlStorage, now: number): void {
  sql.exec("UPDATE outbox SET due_at = ? WHERE task = 'stage'", now + abandonedAfterMs);
}

function versionKey({ kind, digest }: { kind: string; digest: string }): string {
  return `${kind} ${digest}`;
}
