import type { Change, ChangeCounts, Classification, NewChange } from "../../domain/change.ts";
import type { Reason } from "../../domain/classify/classify.ts";
import { countChanges } from "../../domain/diff.ts";

/** The tenant's counter: every accepted change adds one. */
export function generationOf(sql: SqlStorage): number {
  return Number(sql.exec("SELECT value FROM meta WHERE key = 'generation'").one().value);
}

export function tenantOf(sql: SqlStorage): string {
  return String(sql.exec("SELECT value FROM meta WHERE key = 'tenant'").one().value);
}

/** Adds one to the generation and logs what changed under it. Called inside the transaction that makes the change. */
export function recordChanges(
  sql: SqlStorage,
  server: string,
  at: string,
  changes: readonly NewChange[],
  keep: number,
): { generation: number; counts: ChangeCounts } {
  const generation = generationOf(sql) + 1;
  sql.exec("UPDATE meta SET value = ? WHERE key = 'generation'", generation);
  for (const change of changes) {
    sql.exec(
      `INSERT INTO change (generation, at, server, kind, key, classification, from_digest, to_digest, reasons)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      generation,
      at,
      server,
      change.kind,
      change.key,
      change.classification,
      change.from ?? null,
      change.to ?? null,
      JSON.stringify(change.reasons.slice(0, keptReasons)),
    );
  }
  // One range delete every so often keeps the log bounded without a scan on each write.
  if (generation % 100 === 0) {
    sql.exec("DELETE FROM change WHERE sequence <= (SELECT max(sequence) FROM change) - ?", keep);
  }
  return { generation, counts: countChanges(changes) };
}

const keptReasons = 10;

export interface ChangeRow extends Record<string, SqlStorageValue> {
  sequence: number;
  generation: number;
  at: string;
  server: string;
  kind: string;
  key: string;
  classification: string;
  from_digest: string | null;
  to_digest: string | null;
  reasons: string;
}

/** Entries after a sequence number, oldest first. */
export function changesSince(sql: SqlStorage, since: number, limit: number): Change[] {
  const rows = sql.exec<ChangeRow>("SELECT * FROM change WHERE sequence > ? ORDER BY sequence LIMIT ?", since, limit);
  return rows.toArray().map(changeOf);
}

export function changeOf(row: ChangeRow): Change {
  return {
    sequence: row.sequence,
    generation: row.generation,
    at: row.at,
    server: row.server,
    kind: row.kind as Change["kind"],
    name: row.key,
    classification: row.classification as Classification,
    breaking: row.classification === "breaking" || row.classification === "removed",
    ...(row.from_digest === null ? {} : { from: row.from_digest }),
    ...(row.to_digest === null ? {} : { to: row.to_digest }),
    reasons: JSON.parse(row.reasons) as Reason[],
  };
}
