import { readJson } from "../../kernel/read-json.ts";
import type { Change } from "../../registry/change-chain.ts";
import { generationOf } from "../../registry/sql/change-log.ts";
import { type ChangeFilters, matchesFilters } from "../schema.ts";

/**
 * Pending messages, one per subscription and generation. A row is written in the transaction that makes the change, and
 * removed when the message is delivered or dropped.
 */

/** Per subscription. */
const maxPending = 1_000;

/** Alarm delay while deliveries are due or running: longer than any attempt, in case the process died meanwhile. */
const safetyNetMs = 20_000;

export interface DueDelivery {
  subscription: string;
  generation: number;
  server: string;
  /** Number of the next attempt, from 1. */
  attempt: number;
}

/**
 * Enqueues a message for every active subscription whose filters match the changes of the current write, inside its
 * transaction. A write that changed nothing adds no generation, which the marker detects.
 */
export function enqueueDeliveries(sql: SqlStorage, server: string, now: number): void {
  const active = sql
    .exec<{ id: string; filters: string }>("SELECT id, filters FROM subscription WHERE state = 'active'")
    .toArray();
  if (active.length === 0) return;
  const generation = generationOf(sql);
  if (!moveMarker(sql, generation)) return;
  const kinds = kindsOfChange(sql, server, generation);
  for (const { id, filters } of active) {
    const wanted = readJson(filters) as ChangeFilters;
    if (!kinds.some((change) => matchesFilters(wanted, { ...change, server }))) continue;
    sql.exec(
      `INSERT INTO delivery (subscription, generation, server, attempt, due_at) VALUES (?, ?, ?, 1, ?)
       ON CONFLICT DO NOTHING`,
      id,
      generation,
      server,
      now,
    );
    dropOldest(sql, id);
  }
}

/** The distinct kinds of change in a generation: a few, even for thousands of entries. */
function kindsOfChange(sql: SqlStorage, server: string, generation: number): Pick<Change, "kind" | "classification">[] {
  return sql
    .exec<{ kind: Change["kind"]; classification: Change["classification"] }>(
      `SELECT kind, classification FROM change WHERE server = ?1 AND generation = ?2
       UNION SELECT next.value ->> 1, next.value ->> 3 FROM change, json_each(rest) AS next
         WHERE server = ?1 AND generation = ?2 AND rest IS NOT NULL`,
      server,
      generation,
    )
    .toArray();
}

/** Skips all changes so far. Called when a subscription starts. */
export function startAtCurrentGeneration(sql: SqlStorage): void {
  moveMarker(sql, generationOf(sql));
}

/** Moves the marker of the generation up to which messages are enqueued. True if it moved. */
function moveMarker(sql: SqlStorage, generation: number): boolean {
  const moved = sql.exec(
    `INSERT INTO meta (key, value) VALUES ('delivered', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1 WHERE value < ?1
     RETURNING 1`,
    generation,
  );
  return moved.toArray().length > 0;
}

function dropOldest(sql: SqlStorage, subscription: string): void {
  const surplus = sql
    .exec<{ generation: number }>(
      "SELECT generation FROM delivery WHERE subscription = ? ORDER BY generation DESC LIMIT -1 OFFSET ?",
      subscription,
      maxPending,
    )
    .toArray();
  for (const { generation } of surplus) dropDelivery(sql, subscription, generation);
}

/** Drops a message, and counts it for the subscription to show. */
export function dropDelivery(sql: SqlStorage, subscription: string, generation: number): void {
  removeDelivery(sql, subscription, generation);
  sql.exec("UPDATE subscription SET dropped = dropped + 1 WHERE id = ?", subscription);
}

export function removeDelivery(sql: SqlStorage, subscription: string, generation: number): void {
  sql.exec("DELETE FROM delivery WHERE subscription = ? AND generation = ?", subscription, generation);
}

export function rescheduleDelivery(sql: SqlStorage, due: DueDelivery, next: { at: number; attempt: number }): void {
  sql.exec(
    "UPDATE delivery SET attempt = ?, due_at = ? WHERE subscription = ? AND generation = ?",
    next.attempt,
    next.at,
    due.subscription,
    due.generation,
  );
}

/** Restarts the retry schedule of all pending messages, after a new address or a new start. */
export function resetAttempts(sql: SqlStorage, subscription: string, now: number): void {
  sql.exec("UPDATE delivery SET attempt = 1, due_at = ? WHERE subscription = ?", now, subscription);
}

/** Removes pending messages that no longer match the filters. */
export function removeUnwanted(sql: SqlStorage, subscription: string, filters: ChangeFilters): void {
  const waiting = sql
    .exec<{ server: string; generation: number }>(
      "SELECT server, generation FROM delivery WHERE subscription = ?",
      subscription,
    )
    .toArray();
  for (const { server, generation } of waiting) {
    const kinds = kindsOfChange(sql, server, generation);
    if (!kinds.some((change) => matchesFilters(filters, { ...change, server })))
      removeDelivery(sql, subscription, generation);
  }
}

/** Active subscriptions with a delivery due now. */
export function subscriptionsDue(sql: SqlStorage, now: number): string[] {
  return sql
    .exec<{ id: string }>(
      `SELECT id FROM subscription WHERE state = 'active' AND not_before <= ?1
       AND EXISTS (SELECT 1 FROM delivery WHERE subscription = id AND due_at <= ?1)`,
      now,
    )
    .toArray()
    .map(({ id }) => id);
}

/** The delivery of a subscription that has been due longest. */
export function nextDue(sql: SqlStorage, subscription: string, now: number): DueDelivery | undefined {
  return sql
    .exec<DueDelivery & Record<string, SqlStorageValue>>(
      `SELECT subscription, generation, server, attempt FROM delivery WHERE subscription = ? AND due_at <= ?
       ORDER BY due_at LIMIT 1`,
      subscription,
      now,
    )
    .toArray()[0];
}

/**
 * Time of the next alarm. Deliveries already due are running or wait for a free slot: the end of an attempt starts
 * them, and the alarm is only a safety net.
 */
export function nextDelivery(sql: SqlStorage, now: number): number | undefined {
  const { at } = sql
    .exec<{ at: number | null }>(
      `SELECT min(iif(at <= ?1, ?1 + ?2, at)) AS at FROM (
         SELECT max(not_before, (SELECT min(due_at) FROM delivery WHERE subscription = id)) AS at
         FROM subscription WHERE state = 'active')`,
      now,
      safetyNetMs,
    )
    .one();
  return at ?? undefined;
}
