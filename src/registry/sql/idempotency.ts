import { type Failure, failure } from "../../kernel/failure.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { Writer } from "../contract.ts";

/** First answers by subject and `Idempotency-Key`. */
export const idempotencyTable = `
  CREATE TABLE idempotency (
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    answer TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (subject, key)
  ) WITHOUT ROWID;
  CREATE INDEX idempotency_at ON idempotency (at);
`;

const keptMs = 24 * 60 * 60 * 1_000;

/**
 * Does the work once for each key of a subject: a repeated request gets the first result, and another request with the
 * same key is refused. Failures are not kept: nothing happened, and the request may be mended. Call inside the transaction
 * of the work, so that neither is there without the other.
 */
export function once<T>(
  sql: SqlStorage,
  by: Pick<Writer, "subject" | "idempotency">,
  now: number,
  work: () => Result<T, Failure>,
): Result<T, Failure> {
  const first = firstResult<T>(sql, by, now);
  if (first !== undefined) return first;
  const result = work();
  keepResult(sql, by, now, result);
  return result;
}

/** What a request with this key got before; undefined if there was none. For work that is no transaction of its own. */
export function firstResult<T>(
  sql: SqlStorage,
  { subject, idempotency }: Pick<Writer, "subject" | "idempotency">,
  now: number,
): Result<T, Failure> | undefined {
  if (idempotency === undefined) return undefined;
  const { key, digest } = idempotency;
  sql.exec("DELETE FROM idempotency WHERE at <= ?", now - keptMs);
  const [first] = sql
    .exec<{ digest: string; answer: string }>(
      "SELECT digest, answer FROM idempotency WHERE subject = ? AND key = ?",
      subject,
      key,
    )
    .toArray();
  if (first === undefined) return undefined;
  return first.digest === digest ? ok(readJson(first.answer) as T) : err(failure("ErrorIdempotencyKeyReused"));
}

export function keepResult(
  sql: SqlStorage,
  { subject, idempotency }: Pick<Writer, "subject" | "idempotency">,
  now: number,
  result: Result<unknown, Failure>,
): void {
  if (idempotency === undefined || !result.ok) return;
  const { key, digest } = idempotency;
  const row = [subject, key, digest, JSON.stringify(result.value), now];
  sql.exec("INSERT INTO idempotency (subject, key, digest, answer, at) VALUES (?, ?, ?, ?, ?)", ...row);
}
