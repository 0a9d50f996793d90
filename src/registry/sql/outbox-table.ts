/**
 * Work left after a committed write. Rows are inserted in the transaction of the write, processed right after it, and
 * retried by an alarm if the process died in between. Every task writes the state at the time it runs, so a task may
 * run twice, and several tasks with the same subject collapse into one.
 */
export type Task =
  | "body"
  | "drop-body"
  | "head"
  | "settle"
  | "directory"
  | "watcher"
  | "refresh"
  | "reanalyse"
  | "stage";

/** Call inside the transaction that makes the task necessary. Due at once by default. */
export function enqueueTask(sql: SqlStorage, task: Task, subject: string, dueAt = 0): void {
  sql.exec(
    `INSERT INTO outbox (task, subject, version, due_at) VALUES (?1, ?2, 1, ?3)
     ON CONFLICT (task, subject) DO UPDATE SET version = version + 1, due_at = ?3, attempts = 0`,
    task,
    subject,
    dueAt,
  );
}

export function cancelTask(sql: SqlStorage, task: Task, subject: string): void {
  sql.exec("DELETE FROM outbox WHERE task = ? AND subject = ?", task, subject);
}

/** Moves a task that has been begun, if there is one. Returns its version, 0 if there is none. */
export function putOffTask(sql: SqlStorage, task: Task, subject: string, dueAt: number): number {
  const rows = sql.exec<{ version: number }>(
    "UPDATE outbox SET due_at = ?3 WHERE task = ?1 AND subject = ?2 RETURNING version",
    ...[task, subject, dueAt],
  );
  return rows.toArray()[0]?.version ?? 0;
}

/** Deletes a task that is done, unless it was enqueued again since. */
export function finishTask(sql: SqlStorage, task: Task, subject: string, version: number): void {
  if (version > 0)
    sql.exec("DELETE FROM outbox WHERE task = ? AND subject = ? AND version = ?", task, subject, version);
}
