import type { ObjectStorage } from "../kernel/platform/counted-storage.ts";

/**
 * One migration of an object's tables. Steps are only appended: a step that has run anywhere never changes. The first
 * step creates the key-value table `meta`, which stores the number of steps that have run.
 */
export interface Step {
  /** One or more SQL statements. */
  tables?: string;
  /**
   * Computes rows from existing rows with the current code, such as a rebuilt index or a new column. Runs after the
   * tables of all steps, because the current code only knows the newest tables.
   */
  fill?: (sql: SqlStorage) => void;
}

export function isEmpty(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'meta'").toArray().length === 0;
}

/** Creates the tables of an empty object. `facts` are the first rows of `meta`. */
export function createTables(storage: ObjectStorage, steps: readonly Step[], facts: Record<string, string> = {}): void {
  run(storage, steps, 0, facts);
}

/** True if a newer version of Rollcall has run steps here that this one does not know. */
export function isNewer({ sql }: Pick<ObjectStorage, "sql">, steps: readonly Step[]): boolean {
  const done = sql.exec<{ value: number }>("SELECT value FROM meta WHERE key = 'steps'").toArray()[0]?.value;
  return done !== undefined && done > steps.length;
}

/** Runs the missing steps. Returns whether there were any. */
export function migrate(storage: ObjectStorage, steps: readonly Step[]): boolean {
  const done = storage.sql.exec<{ value: number }>("SELECT value FROM meta WHERE key = 'steps'").toArray()[0]?.value;
  // Code that runs on tables of another version would corrupt them.
  if (done === undefined || done > steps.length) throw new Error(unreadable(done, steps.length));
  if (done === steps.length) return false;
  run(storage, steps, done, {});
  return true;
}

function unreadable(done: number | undefined, known: number): string {
  const found = done === undefined ? "has no number of migration steps" : `has run ${done} migration steps`;
  return (
    `This database was made by another version of Rollcall: it ${found}, and this version knows ${known}. ` +
    "Run the version that made it, or start with an empty data directory and publish again."
  );
}

function run(storage: ObjectStorage, steps: readonly Step[], done: number, facts: Record<string, string>): void {
  const { sql } = storage;
  const due = steps.slice(done);
  storage.transactionSync(() => {
    for (const { tables } of due) if (tables !== undefined) sql.exec(tables);
    for (const [key, value] of Object.entries({ ...facts, steps: steps.length })) {
      sql.exec("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2", key, value);
    }
    // Steps that share a fill function run it once.
    for (const fill of new Set(due.flatMap(({ fill }) => fill ?? []))) fill(sql);
  });
}
