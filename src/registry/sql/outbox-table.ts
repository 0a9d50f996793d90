/**
 * What a committed write still owes the rest of the system. Rows are written in the transaction that makes them due,
 * done at once afterwards, and finished by an alarm when the process died in between. Every task writes the state of
 * the moment it runs, so doing one twice does no harm and several of one subject become one.
 */
export type Task = "body" | "drop-body" | "head" | "settle" | "directory" | "watcher" | "refresh";

/** Puts a task down, inside the transaction that makes it due. Due at once unless told otherwise. */
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
