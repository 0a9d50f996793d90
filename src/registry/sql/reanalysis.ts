import { readJson } from "../../kernel/read-json.ts";
import { analysisVersion, boundedFlags, flagsPerItem, itemFlags } from "../../manifest/describe.ts";
import type { LogChange } from "../../manifest/diff.ts";
import type { CapabilityFlag, Flag } from "../../manifest/flag.ts";
import { scanCapability } from "../../manifest/scan.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { ServerSummary } from "../contract.ts";
import type { ServerConfig } from "../schema.ts";
import { recordChanges } from "./change-log.ts";
import { mentionMessage } from "./items.ts";
import type { WriteContext } from "./listener.ts";
import { cancelTask, enqueueTask } from "./outbox-table.ts";
import { bodySubject, headerAt } from "./revisions.ts";
import { bumpOverlay, configFlags, findRow, flagsOfRow, type ServerRow } from "./servers.ts";

/**
 * Tokens and flags are derived from content and stored with it. When a release derives them differently, a migration
 * step enqueues every server here, and its rows are brought up to date in slices, outside the migration: a tenant may have
 * far more items than one wake-up can count.
 */
export function enqueueReanalysis(sql: SqlStorage): void {
  // Earlier releases kept withdrawn servers as tombstones; a later step makes them live again.
  const servers = sql.exec<{ name: string }>("SELECT name FROM server WHERE deleted_at IS NULL OR withdrawn = 1");
  for (const { name } of servers.toArray()) enqueueTask(sql, "reanalyse", name);
}

/** Servers to analyse again. Puts them off first: an alarm that fires meanwhile must not find them due. */
export function takeDueReanalysis(sql: SqlStorage, now: number, until: number): string[] {
  const due = sql.exec<{ subject: string }>(
    "SELECT subject FROM outbox WHERE task = 'reanalyse' AND due_at <= ? ORDER BY due_at, subject",
    now,
  );
  const names = due.toArray().map(({ subject }) => subject);
  if (names.length > 0) sql.exec("UPDATE outbox SET due_at = ? WHERE task = 'reanalyse' AND due_at <= ?", until, now);
  return names;
}

export function needsReanalysis(sql: SqlStorage, server: string): boolean {
  return sql.exec("SELECT 1 FROM outbox WHERE task = 'reanalyse' AND subject = ?", server).toArray().length > 0;
}

export interface StaleItem extends Record<string, SqlStorageValue> {
  kind: CapabilityKind;
  digest: string;
  key: string;
  declared: string;
  flags: string;
  is_current: number;
}

/** About 20 ms of counting. An item that is larger makes a slice of its own. */
const sliceCharacters = 65_536;

/**
 * The next items of a server whose tokens and flags another release derived; of all its revisions, or of one of them.
 * Goes on after the last item of the slice before, so that no row is read twice.
 */
export function staleItems(
  sql: SqlStorage,
  server: string,
  after: Pick<StaleItem, "kind" | "digest"> | undefined,
  revision?: number,
): StaleItem[] {
  const within = revision === undefined ? "" : "AND first_revision <= ?5 AND coalesce(last_revision, ?5) >= ?5";
  const rows = sql.exec<StaleItem>(
    `SELECT kind, digest, key, declared, flags, last_revision IS NULL AS is_current FROM capability
     WHERE server = ?1 AND (kind, digest) > (?2, ?3) AND analysis <> ?4 ${within} ORDER BY kind, digest`,
    ...[server, after?.kind ?? "", after?.digest ?? "", analysisVersion],
    ...(revision === undefined ? [] : [revision]),
  );
  const slice: StaleItem[] = [];
  let characters = 0;
  for (const row of rows) {
    slice.push(row);
    characters += row.declared.length;
    if (characters >= sliceCharacters) break;
  }
  return slice;
}

/** Stores what was derived anew, and updates the cards. Call inside a transaction. */
export function storeAnalysis(
  { sql, listener }: WriteContext,
  server: string,
  items: readonly (StaleItem & { tokens: number })[],
): void {
  for (const { kind, digest, key, declared, tokens, flags, is_current } of items) {
    const derived = itemFlags(kind, key, readJson(declared) as Record<string, unknown>);
    if (is_current === 1 && !isSameFlags(readJson(flags) as Flag[], derived)) markFlagsChanged(sql, server);
    sql.exec(
      "UPDATE capability SET tokens = ?4, flags = ?5, analysis = ?6 WHERE server = ?1 AND kind = ?2 AND digest = ?3",
      ...[server, kind, digest, tokens],
      ...[JSON.stringify(derived), analysisVersion],
    );
  }
  const current = items.filter(({ is_current }) => is_current === 1);
  if (current.length > 0) listener.itemsChanged(server, current);
}

/**
 * Brings the server's own row up to date once its items are, and tells of it. Call inside a transaction. Flags that are
 * others than before are an advisory change; tokens are not, because what is counted is the same. Returns whether there
 * was such a change.
 */
export function finishReanalysis({ sql, keep }: WriteContext, server: string, at: string): boolean {
  cancelTask(sql, "reanalyse", server);
  const itemsDiffer = takeFlagsChanged(sql, server);
  const row = findRow(sql, server);
  if (row === undefined) return false;
  const tokens = sql
    .exec<{ tokens: number | null }>(
      `SELECT sum(tokens) AS tokens FROM capability INDEXED BY capability_current
       WHERE server = ? AND last_revision IS NULL`,
      server,
    )
    .one().tokens;
  const summary = readJson(row.summary) as ServerSummary;
  const flags = deriveServerFlags(sql, row);
  sql.exec(
    "UPDATE server SET summary = ?, flags = ? WHERE name = ?",
    JSON.stringify(tokens === null ? summary : { ...summary, tokens }),
    JSON.stringify(flags),
    server,
  );
  const isChanged = row.deleted_at === null && (itemsDiffer || !isSameFlags(flagsOfRow(row), flags));
  // Tags of responses contain the overlay: what was cached with the old tokens no longer matches.
  if (isChanged)
    bumpOverlay(sql, server, recordChanges(sql, server, at, [flagsChange(server)], keep.changes).generation, at);
  else sql.exec("UPDATE server SET overlay = overlay + 1 WHERE name = ?", server);
  if (row.deleted_at !== null) return false;
  enqueueTask(sql, "head", server);
  enqueueTask(sql, "directory", server);
  if (row.digest !== null) enqueueTask(sql, "body", bodySubject(server, row.digest));
  return isChanged;
}

function flagsChange(server: string): LogChange {
  const message = "flags were derived again by a newer release of the registry, and differ";
  return {
    ...{ kind: "server", key: server, classification: "advisory" },
    reasons: [{ path: "/flags", classification: "advisory", message }],
  };
}

/** The same findings; their wording may be that of another release. */
function isSameFlags(a: readonly CapabilityFlag[], b: readonly CapabilityFlag[]): boolean {
  const keyOf = ({ of, capability, rule, path }: CapabilityFlag) => JSON.stringify([of, capability, rule, path]);
  const [was, is] = [new Set(a.map(keyOf)), new Set(b.map(keyOf))];
  return was.size === is.size && [...is].every((flag) => was.has(flag));
}

/** Items are derived in slices, and only the last one tells of the server: what an earlier one found waits in `meta`. */
function markFlagsChanged(sql: SqlStorage, server: string): void {
  sql.exec("INSERT INTO meta (key, value) VALUES (?, 1) ON CONFLICT (key) DO NOTHING", `flags changed ${server}`);
}

function takeFlagsChanged(sql: SqlStorage, server: string): boolean {
  return sql.exec("DELETE FROM meta WHERE key = ? RETURNING 1", `flags changed ${server}`).toArray().length > 0;
}

/** Flags that follow from the server's own texts are derived again; the others are kept. */
function deriveServerFlags(sql: SqlStorage, row: ServerRow): CapabilityFlag[] {
  const header = row.digest === null ? {} : headerAt(sql, row.name, row.revision);
  const scanned: Flag[] = scanCapability({ kind: "server", name: row.name, declared: header });
  const tools = sql
    .exec<{ key: string }>(
      `SELECT key FROM capability INDEXED BY capability_current
       WHERE server = ? AND kind = 'tool' AND last_revision IS NULL`,
      row.name,
    )
    .toArray();
  const ownMentions = new Set(tools.map(({ key }) => mentionMessage(key)));
  const kept = flagsOfRow(row).filter(
    ({ rule, capability, message }) =>
      rule === "same-version" || (capability !== undefined && !ownMentions.has(message)),
  );
  return [...boundedFlags(scanned, flagsPerItem), ...kept, ...configFlags(readJson(row.config) as ServerConfig)];
}
