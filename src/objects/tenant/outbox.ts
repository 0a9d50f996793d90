/**
 * What a committed write still owes the rest of the system. Rows are written in the transaction that makes them due,
 * done at once afterwards, and finished by an alarm when the process died in between. Every task writes the state of
 * the moment it runs, so doing one twice does no harm and several of one subject become one.
 */
export type Task = "body" | "drop-body" | "head" | "settle" | "directory";

/** Where the tasks go: KV and the directory, as the tenant sees them. */
export interface Projections {
  putBody(subject: string): Promise<void>;
  dropBody(subject: string): Promise<void>;
  putHead(name: string): Promise<void>;
  /** Writes the head again if KV shows less than the object knows. */
  settleHead(name: string): Promise<void>;
  updateDirectory(names: string[]): Promise<void>;
}

interface TaskRow extends Record<string, SqlStorageValue> {
  task: Task;
  subject: string;
  version: number;
  attempts: number;
}

/** KV takes one write a second to a key. */
const headSpacingMs = 1_000;
/** Past KV's 60 s of propagation: if the last write was lost on the way, this finds out. */
const settleAfterMs = 90_000;
const longestBackOffMs = 60_000;
/** A safety net only: the drain that follows a write normally empties the outbox long before. */
const alarmAfterMs = 2_000;

/** A directory that takes longer than this has failed, and is tried again later. */
const directoryMs = 5_000;

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const late = scheduler.wait(milliseconds).then(() => {
    throw new Error(`no answer in ${milliseconds} ms`);
  });
  await Promise.race([work, late]);
}

/** Puts a task down, inside the transaction that makes it due. Due at once unless told otherwise. */
export function owe(sql: SqlStorage, task: Task, subject: string, dueAt = 0): void {
  sql.exec(
    `INSERT INTO outbox (task, subject, version, due_at) VALUES (?1, ?2, 1, ?3)
     ON CONFLICT (task, subject) DO UPDATE SET version = version + 1, due_at = ?3, attempts = 0`,
    task,
    subject,
    dueAt,
  );
}

export function disown(sql: SqlStorage, task: Task, subject: string): void {
  sql.exec("DELETE FROM outbox WHERE task = ? AND subject = ?", task, subject);
}

export class Outbox {
  readonly #storage: DurableObjectStorage;
  readonly #projections: Projections;
  readonly #now: () => number;
  readonly #headWrittenAt = new Map<string, number>();
  #drain: Promise<void> | undefined;
  #directory: Promise<void> = Promise.resolve();
  /** Taken by the directory, and not yet struck off. */
  readonly #delivered: TaskRow[] = [];

  constructor(storage: DurableObjectStorage, projections: Projections, now: () => number) {
    this.#storage = storage;
    this.#projections = projections;
    this.#now = now;
  }

  /** Called inside the transaction of a write to a server. */
  oweServer(name: string): void {
    const { sql } = this.#storage;
    const spaced = (this.#headWrittenAt.get(name) ?? 0) + headSpacingMs;
    owe(sql, "head", name, Math.max(this.#now(), spaced));
    owe(sql, "directory", name);
  }

  /** Makes the alarm durable together with the rows: call before anything is awaited. */
  arm(): void {
    void this.#storage.setAlarm(this.#now() + alarmAfterMs);
  }

  /** Brings the directory up to date with every write made before the call. Failures stay owed. */
  flushDirectory(): Promise<void> {
    this.#directory = this.#directory.then(() => this.#runDirectory());
    return this.#directory;
  }

  /** Does all that is due, then leaves the alarm at the next due time. One drain at a time keeps head writes in order. */
  drain(): Promise<void> {
    this.#drain ??= this.#runAll().finally(() => {
      this.#drain = undefined;
    });
    return this.#drain;
  }

  async #runAll(): Promise<void> {
    // Beside the writes to KV, never before them: a slow directory must not hold heads back.
    const directory = this.flushDirectory();
    for (;;) {
      const tasks = this.#due("task <> 'directory'");
      if (tasks.length === 0) break;
      // Bodies before the heads that point at them; a reader who is faster asks the object.
      for (const batch of [tasks.filter(({ task }) => task === "body"), tasks.filter(({ task }) => task !== "body")]) {
        const done = await Promise.all(batch.map((task) => this.#attempt([task], () => this.#perform(task))));
        this.#settle(
          batch.filter((_, index) => done[index]),
          true,
        );
        this.#settle(
          batch.filter((_, index) => !done[index]),
          false,
        );
      }
    }
    await directory;
    this.#settle(this.#delivered.splice(0), true);
    const next = this.#storage.sql.exec("SELECT min(due_at) AS at FROM outbox").one().at;
    if (next === null) await this.#storage.deleteAlarm();
    else await this.#storage.setAlarm(Math.max(Number(next), this.#now() + 50));
  }

  /**
   * What the directory has taken is only noted here and struck off by the drain: a writer is waiting, and every row
   * written now would hold its answer back until it is on disk.
   */
  async #runDirectory(): Promise<void> {
    const delivered = new Map(this.#delivered.map(({ subject, version }) => [subject, version]));
    const tasks = this.#due("task = 'directory'").filter(({ subject, version }) => delivered.get(subject) !== version);
    if (tasks.length === 0) return;
    const names = tasks.map(({ subject }) => subject);
    const done = await this.#attempt(tasks, () => within(directoryMs, this.#projections.updateDirectory(names)));
    if (done) this.#delivered.push(...tasks);
    else this.#settle(tasks, false);
  }

  async #perform({ task, subject }: TaskRow): Promise<void> {
    switch (task) {
      case "body":
        return this.#projections.putBody(subject);
      case "drop-body":
        return this.#projections.dropBody(subject);
      case "head":
        await this.#projections.putHead(subject);
        this.#headWrittenAt.set(subject, this.#now());
        return owe(this.#storage.sql, "settle", subject, this.#now() + settleAfterMs);
      case "settle":
        return this.#projections.settleHead(subject);
      case "directory":
        throw new Error("the directory is updated in batches");
    }
  }

  async #attempt(tasks: TaskRow[], work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (cause) {
      const owed = tasks.map(({ task, subject }) => `${task} ${subject}`);
      console.error(JSON.stringify({ event: "outbox", owed, cause: String(cause) }));
      return false;
    }
  }

  /** Strikes tasks off when they are done, unless a newer write owes them again; puts them off when they failed. */
  #settle(tasks: TaskRow[], done: boolean): void {
    const { sql } = this.#storage;
    for (const { task, subject, version, attempts } of tasks) {
      if (done) {
        sql.exec("DELETE FROM outbox WHERE task = ? AND subject = ? AND version = ?", task, subject, version);
        continue;
      }
      const dueAt = this.#now() + Math.min(longestBackOffMs, 1_000 * 2 ** attempts);
      sql.exec(
        "UPDATE outbox SET attempts = attempts + 1, due_at = ? WHERE task = ? AND subject = ? AND version = ?",
        dueAt,
        task,
        subject,
        version,
      );
    }
  }

  #due(which: "task = 'directory'" | "task <> 'directory'"): TaskRow[] {
    return this.#storage.sql
      .exec<TaskRow>(
        `SELECT task, subject, version, attempts FROM outbox WHERE due_at <= ? AND ${which} ORDER BY due_at LIMIT 200`,
        this.#now(),
      )
      .toArray();
  }
}
