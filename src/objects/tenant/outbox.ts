import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { withTimeout } from "../../kernel/timeout.ts";
import { enqueueTask, type Task } from "../../registry/sql/outbox-table.ts";
import { nextDelivery } from "../../subscriptions/sql/queue.ts";

/**
 * An object has one alarm. This is the only place that decides when it rings next: at the earliest time at which any
 * table has something due, or never. Called when something was done or put off, after the rows say so.
 */
export async function setNextAlarm(storage: ObjectStorage, now: number): Promise<void> {
  const { sql } = storage;
  const times = [nextTask(sql), nextDelivery(sql, now)].filter((time) => time !== undefined);
  if (times.length === 0) await storage.deleteAlarm();
  else await storage.setAlarm(Math.max(Math.min(...times), now + 50));
}

function nextTask(sql: SqlStorage): number | undefined {
  const { at } = sql.exec<{ at: number | null }>("SELECT min(due_at) AS at FROM outbox").one();
  return at ?? undefined;
}

/** Where the tasks go: KV, the directory and whoever watches, as the tenant sees them. */
export interface OutboxTargets {
  putBody(subject: string): Promise<void>;
  dropBody(subject: string): Promise<void>;
  putHead(name: string): Promise<void>;
  /** Writes the head again if KV shows less than the object knows. */
  repairHead(name: string): Promise<void>;
  /** One bounded batch about these servers. Answers those of which the directory is owed more. */
  updateDirectory(names: string[]): Promise<string[]>;
  /** Strikes off the items that the directory has taken. */
  removeSent(): void;
  /** Who wants to hear of a change made now. */
  watchers(): string[];
  notifyWatcher(watcher: string): Promise<void>;
  /** Puts down who must be told of a change to a server, in the transaction that makes it. */
  enqueueForSubscribers(server: string): void;
  /** Starts what is due to them. They answer in their own time, so nothing here waits for it. */
  sendToSubscribers(): void;
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
const maxBackOffMs = 60_000;
/** A safety net only: the drain that follows a write normally empties the outbox long before. */
const alarmAfterMs = 2_000;

/** A directory or a watcher that takes longer than this has failed, and is tried again later. */
const answerMs = 5_000;

export class Outbox {
  readonly #storage: ObjectStorage;
  readonly #projections: OutboxTargets;
  readonly #now: () => number;
  readonly #headWrittenAt = new Map<string, number>();
  #drain: Promise<void> | undefined;
  #directory: Promise<void> = Promise.resolve();
  /** Taken by the directory, and not yet struck off. */
  readonly #delivered: TaskRow[] = [];

  constructor(storage: ObjectStorage, projections: OutboxTargets, now: () => number) {
    this.#storage = storage;
    this.#projections = projections;
    this.#now = now;
  }

  /** Called inside the transaction of a write that moved no more than a head shows. */
  enqueueHead(name: string): void {
    const spaced = (this.#headWrittenAt.get(name) ?? 0) + headSpacingMs;
    enqueueTask(this.#storage.sql, "head", name, Math.max(this.#now(), spaced));
  }

  /** Called inside the transaction of a write that changed a server. */
  enqueueServer(name: string): void {
    this.enqueueHead(name);
    enqueueTask(this.#storage.sql, "directory", name);
    this.enqueueWatchers();
    this.#projections.enqueueForSubscribers(name);
  }

  /** Called inside the transaction of any other write. */
  enqueueWatchers(): void {
    for (const watcher of this.#projections.watchers()) enqueueTask(this.#storage.sql, "watcher", watcher);
  }

  /** Makes the alarm durable together with the rows: call before anything is awaited. */
  arm(): void {
    void this.#storage.setAlarm(this.#now() + alarmAfterMs);
  }

  /**
   * Brings the directory up to date with every write made before the call, but for what does not fit one batch: that is
   * left to the drain, so that a writer waits for no more. Failures stay owed.
   */
  flushDirectory(): Promise<void> {
    this.#directory = this.#directory.then(() => this.#runDirectory());
    return this.#directory;
  }

  /** Does all that is due, then leaves the alarm at the next due time. One drain at a time keeps head writes in order. */
  drain(): Promise<void> {
    this.#projections.sendToSubscribers();
    this.#drain ??= this.#runAll().finally(() => {
      this.#drain = undefined;
    });
    return this.#drain;
  }

  async #runAll(): Promise<void> {
    // Beside the writes to KV, never before them: a slow directory or watcher must not hold heads back.
    const beside = Promise.all([this.#emptyDirectory(), this.#notifyWatchers()]);
    for (;;) {
      const tasks = this.#due("task NOT IN ('directory', 'watcher', 'refresh')");
      if (tasks.length === 0) break;
      // Bodies before the heads that point at them; a reader who is faster asks the object.
      for (const batch of [tasks.filter(({ task }) => task === "body"), tasks.filter(({ task }) => task !== "body")]) {
        const done = await Promise.all(batch.map((task) => this.#attempt([task], () => this.#perform(task))));
        this.#settleTasks(
          batch.filter((_, index) => done[index]),
          true,
        );
        this.#settleTasks(
          batch.filter((_, index) => !done[index]),
          false,
        );
      }
    }
    await beside;
    // Writers may have had theirs delivered since.
    this.#removeDelivered();
    await setNextAlarm(this.#storage, this.#now());
  }

  /**
   * What the directory has taken is only noted here and struck off by the drain: a writer is waiting, and every row
   * written now would hold its answer back until it is on disk.
   */
  async #runDirectory(): Promise<void> {
    const tasks = this.#dueForDirectory();
    if (tasks.length === 0) return;
    const names = tasks.map(({ subject }) => subject);
    let unfinished: string[] = [];
    const done = await this.#attempt(tasks, async () => {
      unfinished = await withTimeout(this.#projections.updateDirectory(names), answerMs);
    });
    if (done) this.#delivered.push(...tasks.filter(({ subject }) => !unfinished.includes(subject)));
    else this.#settleTasks(tasks, false);
  }

  /** Batch after batch until nothing is due. Writers who wait for theirs come in between. */
  async #emptyDirectory(): Promise<void> {
    do {
      await this.flushDirectory();
      this.#removeDelivered();
    } while (this.#dueForDirectory().length > 0);
  }

  async #notifyWatchers(): Promise<void> {
    const told = async (task: TaskRow) => {
      const done = await this.#attempt([task], () =>
        withTimeout(this.#projections.notifyWatcher(task.subject), answerMs),
      );
      this.#settleTasks([task], done);
    };
    for (let due = this.#due("task = 'watcher'"); due.length > 0; due = this.#due("task = 'watcher'")) {
      await Promise.all(due.map(told));
    }
  }

  #removeDelivered(): void {
    this.#projections.removeSent();
    this.#settleTasks(this.#delivered.splice(0), true);
  }

  #dueForDirectory(): TaskRow[] {
    const delivered = new Map(this.#delivered.map(({ subject, version }) => [subject, version]));
    return this.#due("task = 'directory'").filter(({ subject, version }) => delivered.get(subject) !== version);
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
        return enqueueTask(this.#storage.sql, "settle", subject, this.#now() + settleAfterMs);
      case "settle":
        return this.#projections.repairHead(subject);
      case "directory":
      case "watcher":
      case "refresh":
        throw new Error(`a ${task} has a way of its own`);
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
  #settleTasks(tasks: TaskRow[], done: boolean): void {
    const { sql } = this.#storage;
    for (const { task, subject, version, attempts } of tasks) {
      if (done) {
        sql.exec("DELETE FROM outbox WHERE task = ? AND subject = ? AND version = ?", task, subject, version);
        continue;
      }
      const dueAt = this.#now() + Math.min(maxBackOffMs, 1_000 * 2 ** attempts);
      sql.exec(
        "UPDATE outbox SET attempts = attempts + 1, due_at = ? WHERE task = ? AND subject = ? AND version = ?",
        dueAt,
        task,
        subject,
        version,
      );
    }
  }

  #due(
    which: "task = 'directory'" | "task = 'watcher'" | "task NOT IN ('directory', 'watcher', 'refresh')",
  ): TaskRow[] {
    return this.#storage.sql
      .exec<TaskRow>(
        `SELECT task, subject, version, attempts FROM outbox WHERE due_at <= ? AND ${which} ORDER BY due_at LIMIT 200`,
        this.#now(),
      )
      .toArray();
  }
}
