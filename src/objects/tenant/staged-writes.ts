import { type Failure, failure } from "../../kernel/failure.ts";
import { createWorkerPace } from "../../kernel/platform/worker-pace.ts";
import { err, type Result } from "../../kernel/result.ts";
import type { PublishRequest, Writer, Written } from "../../registry/contract.ts";
import { generationOf } from "../../registry/sql/change-log.ts";
import type { WriteContext } from "../../registry/sql/listener.ts";
import {
  LargePublishError,
  mostJudgedAtOnce,
  type StagedPublish,
  type UnwrittenPublish,
} from "../../registry/sql/publish/stage.ts";
import { publish } from "../../registry/sql/publish.ts";
import { findRow } from "../../registry/sql/servers.ts";
import { type LargePublishes, unlessSuperseded } from "./large-publish.ts";

interface Options {
  context: WriteContext;
  large: LargePublishes;
  /** A transaction, then the outbox. What a failed `work` wrote stays. */
  commit: <T extends { generation: number }>(
    writer: Writer,
    name: string,
    work: (at: string) => Result<T, Failure>,
  ) => Promise<Written<T>>;
  /** Sets the alarm, which deletes what a crash leaves. */
  arm: () => void;
  waitUntil: (promise: Promise<unknown>) => void;
}

/** How often a write starts again because its server changed while it was prepared. */
const tries = 3;

/** Thrown out of a transaction to undo it. */
class RefusedError extends Error {
  readonly reason: Failure;

  constructor(reason: Failure) {
    super("the write was refused");
    this.reason = reason;
  }
}

/** Writes that may change more items than one transaction should: what is much is staged first. */
export class StagedWrites {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** One publish. */
  async publish<T extends { generation: number }>(
    writer: Writer,
    request: Omit<PublishRequest, "at">,
    work: (at: string, staged: StagedPublish | "if-large") => Result<T, Failure>,
  ): Promise<Written<T>> {
    const { large, commit } = this.#options;
    const { name, manifest } = request;
    if (manifest.capabilities.length <= mostJudgedAtOnce) {
      try {
        return await commit(writer, name, (at) => work(at, "if-large"));
      } catch (cause) {
        if (!(cause instanceof LargePublishError)) throw cause;
      }
    }
    return this.#inTurn(async (at) => {
      const ready = await large.prepare({ ...request, at });
      try {
        return await commit(writer, name, () => unlessSuperseded(ready, () => work(at, ready.staged)));
      } finally {
        await large.finish(ready, name);
      }
    });
  }

  /**
   * A write to a server that may bring a large publish with it, such as the removal of a source. It says so by a
   * LargePublishError; the publish is then prepared, and made in one transaction with the write. `since`: the tenant's
   * generation before that publish, on which the write was judged already.
   */
  async write<T extends { generation: number }>(
    writer: Writer,
    name: string,
    work: (at: string, since?: number) => Result<T, Failure>,
  ): Promise<Written<T>> {
    const { context, commit } = this.#options;
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      let base = "";
      try {
        return await commit(writer, name, (at) => {
          base = stateOf(context.sql, name);
          return work(at);
        });
      } catch (cause) {
        if (!(cause instanceof LargePublishError) || cause.unwritten === undefined) throw cause;
        const { unwritten } = cause;
        const written = await this.#inTurn((at) => this.#writeBoth(writer, name, { unwritten, base, at, work }));
        if (written !== "changed-meanwhile") return written;
      }
    }
    return err(failure("ErrorPublishSuperseded"));
  }

  async #writeBoth<T extends { generation: number }>(
    writer: Writer,
    name: string,
    {
      unwritten,
      base,
      at,
      work,
    }: { unwritten: UnwrittenPublish; base: string; at: string } & {
      work: (at: string, since?: number) => Result<T, Failure>;
    },
  ): Promise<Written<T> | "changed-meanwhile"> {
    const { context, large, commit } = this.#options;
    const made = await createWorkerPace().run(unwritten());
    if (made === undefined || stateOf(context.sql, name) !== base) return "changed-meanwhile";
    const request = { ...made, at };
    const ready = await large.prepare(request);
    let hasChanged = false;
    try {
      return await commit(writer, name, () => {
        hasChanged = stateOf(context.sql, name) !== base;
        if (hasChanged) throw new RefusedError(failure("ErrorPublishSuperseded"));
        const since = generationOf(context.sql);
        const published = publish(context, request, ready.staged);
        const written = published.ok ? work(at, since) : published;
        if (!written.ok) throw new RefusedError(written.error);
        return written;
      });
    } catch (cause) {
      if (!(cause instanceof RefusedError)) throw cause;
      // The transaction was undone: what was staged is not current.
      if (ready.staged.rows !== undefined) ready.staged.rows.toIndex = undefined;
      return hasChanged ? "changed-meanwhile" : err(cause.reason);
    } finally {
      await large.finish(ready, name);
    }
  }

  #inTurn<T>(work: (at: string) => Promise<T>): Promise<T> {
    const { large, arm, waitUntil } = this.#options;
    const running = large.inTurn(() => {
      arm();
      return work(new Date().toISOString());
    });
    // It goes on when its sender has left: others wait for their turn.
    waitUntil(running.catch(() => {}));
    return running;
  }
}

/** Differs after every write to the server. */
function stateOf(sql: SqlStorage, name: string): string {
  const row = findRow(sql, name);
  return row === undefined
    ? ""
    : `${row.revision} ${row.overlay} ${row.generation} ${row.created_at} ${row.deleted_at}`;
}
