import { type Failure, failure } from "../../kernel/failure.ts";
import { type Pace, unitsPerPause } from "../../kernel/pace/pace.ts";
import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { createWorkerPace } from "../../kernel/platform/worker-pace.ts";
import { err, type Result } from "../../kernel/result.ts";
import type { PublishRequest } from "../../registry/contract.ts";
import { entrySteps, generationOf } from "../../registry/sql/change-log.ts";
import type { WriteContext } from "../../registry/sql/listener.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import { judgeSteps } from "../../registry/sql/publish/judge.ts";
import {
  closeStage,
  dropStagedEntries,
  dropStagedRows,
  isLarge,
  itemsToIndex,
  openStage,
  postponeStages,
  type StagedPublish,
  type StagedRows,
  type StageRow,
  stageBase,
  stageBatch,
  stageEntries,
  stageItems,
  stages,
} from "../../registry/sql/publish/stage.ts";
import { findRow } from "../../registry/sql/servers.ts";

/** Items whose search rows are written in one batch. */
const indexBatch = 25;

/** How often a publish is judged again because the tenant changed meanwhile, before it is judged in its transaction. */
const tries = 3;

/** A publish that was judged, and staged if it is large, and is ready to be committed. */
export interface ReadyPublish {
  staged: StagedPublish;
  /** Why it must not be committed after all; undefined while it may. */
  superseded: () => Failure | undefined;
}

/**
 * Publishes that change more than one transaction should write. The object answers others between the steps of judging,
 * between batches of rows, and between batches of the index.
 */
export class LargePublishes {
  readonly #storage: ObjectStorage;
  readonly #context: WriteContext;
  #last: Promise<unknown> = Promise.resolve();
  readonly #onIndexed: () => void;
  /** There may be stages that nobody is at work on: of a process before this one, or of a publish that failed. */
  #mayBeLeft = true;

  constructor(storage: ObjectStorage, context: WriteContext, onIndexed: () => void) {
    this.#storage = storage;
    this.#context = context;
    this.#onIndexed = onIndexed;
  }

  /** Runs one publish at a time, in the order in which they came. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Judges a publish without holding the object, and stages it if it is large. `rehearsal`: nothing is written. */
  async prepare(request: PublishRequest, rehearsal = false): Promise<ReadyPublish> {
    const { sql } = this.#context;
    const pace = createWorkerPace();
    let staged = await this.#judge(request, pace);
    const found = staged.judged.ok ? staged.judged.value : undefined;
    if (found === undefined || !found.isMove || !isLarge(found)) return { staged, superseded: () => undefined };
    const base = stageBase(found.row);
    const superseded = () =>
      stageBase(findRow(sql, request.name)) === base ? undefined : failure("ErrorPublishSuperseded");
    if (rehearsal) return { staged: { ...staged, rows: rehearsalRows() }, superseded };
    const rows = await this.#stageItems(request, found.found.added, (found.row?.revision ?? 0) + 1, pace);
    for (let attempt = 1; ; attempt += 1) {
      staged = { ...staged, rows };
      if (superseded() !== undefined) break;
      rows.hasEntries = await this.#stageEntries(request, staged, pace);
      if (rows.hasEntries || attempt === tries) break;
      staged = await this.#judge(request, pace);
    }
    return { staged, superseded };
  }

  /** After the transaction: indexes what was committed, or deletes what was staged. */
  async finish({ staged: { rows } }: ReadyPublish, server: string): Promise<void> {
    if (rows === undefined || rows.isRehearsal) return;
    const { sql } = this.#context;
    const row: StageRow = { number: rows.stage, server, revision: rows.toIndex?.revision ?? null };
    if (rows.toIndex !== undefined && rows.toIndex.items !== "all") await this.#index(server, rows.toIndex.items);
    else if (rows.toIndex !== undefined) await this.#index(server, itemsToIndex(sql, server, rows.toIndex.revision));
    await this.#drop(row);
  }

  /** Ends stages that a crash left: committed ones are indexed, the rows of others are deleted. */
  resume(): Promise<void> {
    if (!this.#mayBeLeft) return Promise.resolve();
    postponeStages(this.#context.sql, Date.now());
    return this.inTurn(async () => {
      for (const row of stages(this.#context.sql)) {
        if (row.revision !== null) {
          await this.#index(row.server, itemsToIndex(this.#context.sql, row.server, row.revision));
        }
        await this.#drop(row);
      }
      this.#mayBeLeft = false;
    });
  }

  async #judge(request: PublishRequest, pace: Pace): Promise<StagedPublish> {
    const { sql } = this.#context;
    const generation = generationOf(sql);
    try {
      return { generation, judged: await pace.run(judgeSteps(this.#context, request)) };
    } catch (cause) {
      // Rows that another write removed between two steps. The transaction judges again.
      if (generationOf(sql) === generation) throw cause;
      return { generation: -1, judged: err(failure("ErrorPublishSuperseded")) };
    }
  }

  async #stageItems(
    { name, at }: PublishRequest,
    added: Parameters<typeof stageItems>[2],
    number: number,
    pace: Pace,
  ): Promise<StagedRows> {
    const { sql } = this.#context;
    const stage = this.#storage.transactionSync(() => openStage(sql, name, Date.now()));
    // If this publish fails half way, or takes longer than a minute, the alarm must look after its stage.
    this.#mayBeLeft = true;
    const rows: StagedRows = { stage, inserted: new Set(), reopened: new Set(), hasEntries: false };
    for (let from = 0; from < added.length; from += stageBatch) {
      const batch = added.slice(from, from + stageBatch);
      this.#storage.transactionSync(() => stageItems(sql, name, batch, { number, at }, rows));
      await pace.spend(unitsPerPause);
    }
    return rows;
  }

  /** Stages the entries of the log. Returns false if the tenant has changed since it was judged. */
  async #stageEntries(
    { name: server, at }: PublishRequest,
    { judged, generation }: StagedPublish,
    pace: Pace,
  ): Promise<boolean> {
    const { sql } = this.#context;
    while (dropStagedEntries(sql)) await pace.spend(unitsPerPause);
    if (generationOf(sql) !== generation || !judged.ok || !judged.value.isMove) return false;
    const write = { server, at, generation: generation + 1 };
    const entries = await pace.run(entrySteps(sql, write, judged.value.changes));
    for (let from = 0; from < entries.length; from += stageBatch) {
      const batch = entries.slice(from, from + stageBatch);
      this.#storage.transactionSync(() => stageEntries(sql, batch));
      await pace.spend(unitsPerPause);
    }
    return generationOf(sql) === generation;
  }

  async #index(server: string, items: readonly Parameters<WriteContext["listener"]["itemsChanged"]>[1][number][]) {
    const { sql, listener } = this.#context;
    const pace = createWorkerPace();
    for (let from = 0; from < items.length; from += indexBatch) {
      const batch = items.slice(from, from + indexBatch);
      this.#storage.transactionSync(() => listener.itemsChanged(server, batch));
      await pace.spend(unitsPerPause);
    }
    this.#storage.transactionSync(() => enqueueTask(sql, "directory", server));
    this.#onIndexed();
  }

  async #drop(row: StageRow): Promise<void> {
    const pace = createWorkerPace();
    const { sql } = this.#context;
    while (this.#storage.transactionSync(() => dropStagedRows(sql, row))) await pace.spend(unitsPerPause);
    this.#storage.transactionSync(() => closeStage(sql, row));
  }
}

/** Judged in its transaction, and nothing is written. */
export function unjudgedRehearsal(): StagedPublish {
  return { generation: -1, judged: err(failure("ErrorPublishSuperseded")), rows: rehearsalRows() };
}

function rehearsalRows(): StagedRows {
  return { stage: 0, inserted: new Set(), reopened: new Set(), hasEntries: false, isRehearsal: true };
}

/** A result with the reason why the stage was overtaken, if it was. */
export function unlessSuperseded<T>(ready: ReadyPublish, work: () => Result<T, Failure>): Result<T, Failure> {
  const reason = ready.superseded();
  return reason === undefined ? work() : err(reason);
}
