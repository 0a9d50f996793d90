import type { DeliveryResult } from "../deliver.ts";
import type { Attempt } from "../schema.ts";

/** Attempts stored per subscription. */
const maxStored = 50;

interface AttemptRow extends Record<string, SqlStorageValue> {
  message: string;
  at: number;
  attempt: number;
  status: number | null;
  failure: string | null;
  next_at: number | null;
}

export function recordAttempt(
  sql: SqlStorage,
  subscription: string,
  { message, at, attempt }: { message: string; at: number; attempt: number },
  result: DeliveryResult,
  nextAt?: number,
): void {
  const { number } = sql
    .exec<{ number: number }>(
      `INSERT INTO delivery_attempt (subscription, number, message, at, attempt, status, failure, next_at)
       VALUES (?1, (SELECT ifnull(max(number), 0) + 1 FROM delivery_attempt WHERE subscription = ?1), ?2, ?3, ?4, ?5, ?6, ?7)
       RETURNING number`,
      subscription,
      message,
      at,
      attempt,
      "status" in result ? result.status : null,
      "failure" in result ? result.failure : null,
      nextAt ?? null,
    )
    .one();
  sql.exec("DELETE FROM delivery_attempt WHERE subscription = ? AND number <= ?", subscription, number - maxStored);
}

/** Newest first. */
export function recentAttempts(sql: SqlStorage, subscription: string): Attempt[] {
  return sql
    .exec<AttemptRow>(
      `SELECT message, at, attempt, status, failure, next_at FROM delivery_attempt WHERE subscription = ?
       ORDER BY number DESC`,
      subscription,
    )
    .toArray()
    .map(({ message, at, attempt, status, failure, next_at }) => ({
      message,
      at: new Date(at).toISOString(),
      attempt,
      status: status ?? undefined,
      failure: failure ?? undefined,
      nextAt: next_at === null ? undefined : new Date(next_at).toISOString(),
    }));
}
