import type { DirectoryState } from "../../http/directory-state.ts";
import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { withTimeout } from "../../kernel/timeout.ts";
import { enqueueTask, type Task } from "../../registry/sql/outbox-table.ts";
import { nextLook } from "../../registry/sql/source-rows.ts";
import { nextDelivery } from "../../subscriptions/sql/queue.ts";

/**
 * A tenant's object has one alarm. This function sets it to the earliest due time of any table, or deletes it; apart
 * from it only `arm` sets the alarm. Call after tasks were finished or rescheduled and their rows are updated.
 */
export async function setNextAlarm(storage: ObjectStorage, now: number): Promise<void> {
  const { sql } = storage;
  const times = [nextTask(sql), nextLook(sql, now), nextDelivery(sql, now)].filter((time) => time !== undefined);
  if (times.length === 0) await storage.deleteAlarm();
  else await storage.setAlarm(Math.max(Math.min(...times), now + 50));
}

function nextTask(sql: SqlStorage): number | undefined {
  const { at } = sql.exec<{ at: number | null }>("SELECT min(due_at) AS at FROM outbox").one();
  return at ?? undefined;
}

/** Where tasks are delivered: KV, the directory, watchers and subscribers. */
export interface OutboxTargets {
  putBody(subject: string): Promise<void>;
  dropBody(subject: string): Promise<void>;
  putHead(name: string): Promise<void>;
  /** Writes the head again if KV has an older one than the object. */
  repairHead(name: string): Promise<void>;
  /** Sends one bounded batch about these servers. Returns the servers with more to send. */
  updateDirectory(names: string[]): Promise<string[]>;
  /** A state of the directory that has everything sent of a server; undefined if none is known. */
  directoryWith(name: string): DirectoryState | undefined;
  directoryState(): Promise<DirectoryState | undefined>;
  /** Removes the pending items that the directory has accepted. */
  removeSent(): void;
  /** Ids of the current watchers. */
  watchers(): string[];
  notifyWatcher(watcher: string): Promise<void>;
  /** Enqueues deliveries to the subscribers of a server. Call inside the transaction that changes the server. */
  enqueueForSubscribers(server: string): void;
  /** Starts the due deliveries without waiting: subscribers may respond slowly. */
  sendToSubscribers(): void;
}

interface TaskRow extends Record<string, SqlStorageValue> {
  task: Task;
  subject: string;
  version: number;
  attempts: number;
}

/** KV accepts one write per second to the same key. */
const headSpacingMs = 1_000;
/** Longer than KV's propagation time of 60 s: detects a head write that was lost. */
const verifyHeadAfterMs = 90_000;
const maxBackOffMs = 60_000;
/** Only a safety net: the drain after a write normally empties the outbox much earlier. */
const alarmAfterMs = 2_000;

/** A call to the directory or a watcher that takes longer has failed and is retried later. */
const callTimeoutMs = 5_000;

export class Outbox {
  readonly #storage: ObjectStorage;
  readonly #targets: OutboxTargets;
  readonly #now: () => number;
  readonly #headWrittenAt = new Map<string, number>();
  #drain: Promise<void> | undefined;
  #directory: Promise<void> = Promise.resolve();
  /** Tasks that the directory has accepted and whose rows are not deleted yet. */
  readonly #delivered: TaskRow[] = [];

  constructor(storage: ObjectStorage, projections: OutboxTargets, now: () => number) {
    this.#storage = storage;
    this.#targets = projections;
    this.#now = now;
  }

  /** Call inside the transaction of a write that changed only the head. */
  enqueueHead(name: string): void {
    const now = this.#now();
    // Never later than that, also when the clock has gone back since the last write.
    const spaced = Math.min((this.#headWrittenAt.get(name) ?? 0) + headSpacingMs, now + headSpacingMs);
    enqueueTask(this.#storage.sql, "head", name, Math.max(now, spaced));
  }

  /** Call inside the transaction of a write that changed a server. */
  enqueueServer(name: string): void {
    this.enqueueHead(name);
    enqueueTask(this.#storage.sql, "directory", name);
    this.enqueueWatchers();
    this.#targets.enqueueForSubscribers(name);
  }

  /** Call inside the transaction of a write that changed only the tenant's settings. */
  enqueueWatchers(): void {
    for (const watcher of this.#targets.watchers()) enqueueTask(this.#storage.sql, "watcher", watcher);
  }

  /** Makes the alarm durable together with the rows: call before the first await. */
  arm(): void {
    void this.#storage.setAlarm(this.#now() + alarmAfterMs);
  }

  /**
   * Sends the directory all writes made before the call, as far as they fit one batch. The rest is left to the drain,
   * so that a writer does not wait for it. Failed tasks stay in the outbox.
   */
  flushDirectory(): Promise<void> {
    this.#directory = this.#directory.then(() => this.#runDirectory());
    return this.#directory;
  }

  /** A state of the directory that has every write of a server until now; undefined if that is not confirmed. */
  confirmedDirectory(name: string): DirectoryState | undefined {
    const [waiting] = this.#storage.sql
      .exec<{ version: number }>("SELECT version FROM outbox WHERE task = 'directory' AND subject = ?", name)
      .toArray();
    const isDelivered = ({ subject, version }: TaskRow) => subject === name && version === waiting?.version;
    if (waiting !== undefined && !this.#delivered.some(isDelivered)) return undefined;
    return this.#targets.directoryWith(name);
  }

  /** A state of the directory that has everything it took of this tenant; undefined if it does not answer. */
  directoryState(): Promise<DirectoryState | undefined> {
    return this.#targets.directoryState().catch(() => undefined);
  }

  /**
   * Runs all due tasks, then sets the alarm to the next due time. Only one drain runs at a time, so that head writes
   * stay in order.
   */
  drain(): Promise<void> {
    this.#targets.sendToSubscribers();
    this.#drain ??= this.#runAll().finally(() => {
      this.#drain = undefined;
    });
    return this.#drain;
  }

  async #runAll(): Promise<void> {
    // In parallel with the writes to KV: a slow directory or watcher must not delay heads.
    const beside = Promise.all([this.#emptyDirectory(), this.#notifyWatchers()]);
    for (;;) {
      const tasks = this.#due("task NOT IN ('directory', 'watcher', 'refresh', 'reanalyse', 'stage')");
      if (tasks.length === 0) break;
      // Bodies before the heads that point at them; a reader who misses a body in KV gets it from the object.
      for (const batch of [tasks.filter(({ task }) => task === "body"), tasks.filter(({ task }) => task !== "body")]) {
        const done = await Promise.all(batch.map((task) => this.#attempt([task], () => this.#perform(task))));
        this.#finishOrReschedule(
          batch.filter((_, index) => done[index]),
          true,
        );
        this.#finishOrReschedule(
          batch.filter((_, index) => !done[index]),
          false,
        );
      }
    }
    await beside;
    // Writers may have delivered more tasks meanwhile.
    this.#removeDelivered();
    await setNextAlarm(this.#storage, this.#now());
  }

  /**
   * Tasks that the directory accepts are only recorded in memory, and their rows are deleted by the drain: a writer is
   * waiting, and every row written now would delay its response until it is on disk.
   */
  async #runDirectory(): Promise<void> {
    const tasks = this.#dueForDirectory();
    if (tasks.length === 0) return;
    const names = tasks.map(({ subject }) => subject);
    let unfinished: string[] = [];
    const done = await this.#attempt(tasks, async () => {
      unfinished = await withTimeout(this.#targets.updateDirectory(names), callTimeoutMs);
    });
    if (done) this.#delivered.push(...tasks.filter(({ subject }) => !unfinished.includes(subject)));
    else this.#finishOrReschedule(tasks, false);
  }

  /** Sends batches until no task is due. Batches of waiting writers run in between. */
  async #emptyDirectory(): Promise<void> {
    do {
      await this.flushDirectory();
      this.#removeDelivered();
    } while (this.#dueForDirectory().length > 0);
  }

  async #notifyWatchers(): Promise<void> {
    const notify = async (task: TaskRow) => {
      const done = await this.#attempt([task], () =>
        withTimeout(this.#targets.notifyWatcher(task.subject), callTimeoutMs),
      );
      this.#finishOrReschedule([task], done);
    };
    for (let due = this.#due("task = 'watcher'"); due.length > 0; due = this.#due("task = 'watcher'")) {
      await Promise.all(due.map(notify));
    }
  }

  #removeDelivered(): void {
    this.#targets.removeSent();
    this.#finishOrReschedule(this.#delivered.splice(0), true);
  }

  /** True while the directory lacks something of this tenant. */
  owesDirectory(): boolean {
    const delivered = this.#deliveredVersions();
    return this.#storage.sql
      .exec<Pick<TaskRow, "subject" | "version">>("SELECT subject, version FROM outbox WHERE task = 'directory'")
      .toArray()
      .some(({ subject, version }) => delivered.get(subject) !== version);
  }

  #deliveredVersions(): Map<string, number> {
    return new Map(this.#delivered.map(({ subject, version }) => [subject, version]));
  }

  #dueForDirectory(): TaskRow[] {
    const delivered = this.#deliveredVersions();
    return this.#due("task = 'directory'").filter(({ subject, version }) => delivered.get(subject) !== version);
  }

  async #perform({ task, subject }: TaskRow): Promise<void> {
    switch (task) {
      case "body":
        return this.#targets.putBody(subject);
      case "drop-body":
        return this.#targets.dropBody(subject);
      case "head":
        await this.#targets.putHead(subject);
        this.#headWrittenAt.set(subject, this.#now());
        return enqueueTask(this.#storage.sql, "settle", subject, this.#now() + verifyHeadAfterMs);
      case "settle":
        return this.#targets.repairHead(subject);
      case "directory":
      case "watcher":
      case "refresh":
      case "reanalyse":
      case "stage":
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

  /** Deletes finished tasks, unless a newer write has enqueued them again; reschedules failed ones. */
  #finishOrReschedule(tasks: TaskRow[], done: boolean): void {
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
    which:
      | "task = 'directory'"
      | "task = 'watcher'"
      | "task NOT IN ('directory', 'watcher', 'refresh', 'reanalyse', 'stage')",
  ): TaskRow[] {
    return this.#storage.sql
      .exec<TaskRow>(
        `SELECT task, subject, version, attempts FROM outbox WHERE due_at <= ? AND ${which} ORDER BY due_at LIMIT 200`,
        this.#now(),
      )
      .toArray();
  }
}
