import { Watchers } from "../../changes/sql/watchers.ts";
import { type Config, readConfig } from "../../config.ts";
import { Hooks } from "../../hooks/hooks.ts";
import { hookRows } from "../../hooks/sql/hooks.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { maxLent } from "../../kernel/memory-budget.ts";
import { countedStorage, type ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { noteProblem } from "../../kernel/platform/problems.ts";
import { RateLimiter } from "../../kernel/rate-limit.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { withTimeout } from "../../kernel/timeout.ts";
import type { VersionContext } from "../../official/sql/publish-version.ts";
import { officialVersions } from "../../official/sql/tenant-versions.ts";
import type { AsOf, PublishRequest, Writer, Written } from "../../registry/contract.ts";
import { generationOf } from "../../registry/sql/change-log.ts";
import { once } from "../../registry/sql/idempotency.ts";
import { notifyAll, type WriteContext } from "../../registry/sql/listener.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import { LargePublishError, mostJudgedAtOnce, type StagedPublish } from "../../registry/sql/publish/stage.ts";
import { currentHead } from "../../registry/sql/servers.ts";
import { shownTenant, spelledBy, tenantOf } from "../../registry/sql/tenant-name.ts";
import type { CardQuery, FoundCards, SearchState } from "../../search/contract.ts";
import { objectIndexes } from "../../search/index-memory.ts";
import { loadingVectors, wordVectors } from "../../search/load-word-vectors.ts";
import { CardIndex } from "../../search/sql/card-index.ts";
import { OpenTenant } from "../../search/sql/open-tenant.ts";
import { searchCards } from "../../search/sql/tenant-cards.ts";
import { findTenantCards } from "../../search/sql/tenant-search.ts";
import { isRefusedSource, sourceFetch, sourceHeaders } from "../../sources/access.ts";
import { refreshPlaces } from "../../sources/refresh-places.ts";
import { Refresher } from "../../sources/refresher.ts";
import { Deliveries } from "../../subscriptions/deliveries.ts";
import { addressPolicyFor, Subscriptions } from "../../subscriptions/subscriptions.ts";
import { createTables, isEmpty, isNewer, migrate } from "../migrate.ts";
import { enqueueDirectoryAll } from "./directory-feed.ts";
import { LargePublishes, unjudgedRehearsal } from "./large-publish.ts";
import { Outbox, setNextAlarm } from "./outbox.ts";
import { createOutboxTargets } from "./projections.ts";
import { ClockWatch, pullBack } from "./pull-back.ts";
import { Reanalysis } from "./reanalysis.ts";
import { RestoreCheck } from "./restored.ts";
import { StagedWrites } from "./staged-writes.ts";
import { tenantSteps } from "./tables.ts";

/** How long a write waits for the directory before it returns without it. */
const directoryWaitMs = 500;

/**
 * State shared by the RPC methods of one tenant: its tables, its write path, and the features that run in the
 * background.
 */
export class TenantCore {
  /** Tells this object from others of the isolate. */
  readonly #id = crypto.randomUUID();
  readonly sql: SqlStorage;
  /** Passed to every write to a server. Its listener adds the rows of other features in the same transaction. */
  readonly context: WriteContext;
  readonly hooks: Hooks;
  readonly subscriptions: Subscriptions;
  readonly refresher: Refresher;
  readonly reanalysis: Reanalysis;
  readonly watchers: Watchers;
  readonly #state: Pick<DurableObjectState, "waitUntil">;
  readonly #config: Config;
  readonly #storage: ObjectStorage;
  readonly #writes: RateLimiter;
  readonly #clock = new ClockWatch();
  readonly #outbox: Outbox;
  readonly #assets: Env["ASSETS"];
  readonly #index = new CardIndex();
  readonly #open = new OpenTenant();
  readonly #large: LargePublishes;
  readonly #staged: StagedWrites;
  readonly #restored: RestoreCheck;
  /** False before the first write: a tenant that was only read stores nothing. */
  #ready = false;
  /** A newer version has written here: this one reads, and writes nothing. */
  #isNewer = false;

  constructor(state: DurableObjectState, env: Env) {
    this.#state = state;
    this.#assets = env.ASSETS;
    this.#config = readConfig(env);
    this.#storage = countedStorage(state.storage);
    this.#writes = new RateLimiter(this.#config.writeLimit);
    this.sql = this.#storage.sql;
    this.context = {
      sql: this.sql,
      keep: this.#config.bounds,
      listener: notifyAll([searchCards(this.sql), officialVersions(this.sql), hookRows(this.sql)]),
    };
    this.watchers = new Watchers(this.#storage, () => this.#ready);
    this.#large = new LargePublishes(this.#storage, this.context, () => this.#finishLater());
    this.#staged = new StagedWrites({
      ...{ context: this.context, large: this.#large },
      commit: (writer, name, work) => this.#commit(writer, name, work),
      arm: () => this.#outbox.arm(),
      waitUntil: (promise) => state.waitUntil(promise),
    });
    this.reanalysis = new Reanalysis(this.#storage, this.context, (server) => this.#outbox.enqueueServer(server));
    const policyFor = addressPolicyFor(this.#config);
    const reschedule = () => setNextAlarm(this.#storage, Date.now());
    const sending = { fetch: (request: Request) => fetch(request), policyFor, now: Date.now, reschedule };
    const deliveries = new Deliveries(this.#storage, sending);
    this.#outbox = new Outbox(
      this.#storage,
      createOutboxTargets(env, this.sql, { deliveries, watchers: this.watchers }),
      Date.now,
    );
    this.#restored = new RestoreCheck({ storage: this.#storage, kv: env.REGISTRY, outbox: this.#outbox });
    this.subscriptions = new Subscriptions({
      storage: this.#storage,
      deliveries,
      policyFor,
      now: Date.now,
      isReady: () => this.#ready,
      admit: (writer) => this.#admit(writer),
      reschedule,
    });
    this.hooks = new Hooks({
      sql: this.sql,
      isReady: () => this.#ready,
      context: this.context,
      write: ({ id, server }, work) => this.write(this.#writerNamed(`hook ${id}`), server, work),
      publish: ({ id }, request, work) => this.publish(this.#writerNamed(`hook ${id}`), request, work),
      rehearse: ({ id }, request, work) => this.rehearsePublish(this.#writerNamed(`hook ${id}`), request, work),
      // The route that received the event refreshes at once; this task is for when it cannot.
      refreshSoon: (server) => enqueueTask(this.sql, "refresh", server),
    });
    this.refresher = new Refresher({
      sql: this.sql,
      context: this.context,
      bounds: this.#config.bounds,
      enter: () => refreshPlaces.enter(this.#id, (milliseconds) => scheduler.wait(milliseconds)),
      fetch: sourceFetch(this.#config),
      isBlockedUrl: (url) => isRefusedSource(this.#config, url),
      credentials: (source) => sourceHeaders(this.#config, tenantOf(this.sql), source),
      write: (server, work) => this.write(this.#writerNamed("introspection"), server, work),
      publish: (request, work) => this.publish(this.#writerNamed("introspection"), request, work),
      writeQuietly: (work) => this.#writeQuietly(work),
    });
    if (!isEmpty(this.sql) && isNewer(this.#storage, tenantSteps)) {
      // Newer versions only add tables and columns: reads work, as far as they know them.
      this.#ready = true;
      this.#isNewer = true;
      noteProblem("newer-data", Date.now());
    } else if (!isEmpty(this.sql)) {
      const migrated = migrate(this.#storage, tenantSteps);
      this.#ready = true;
      // A migration may have enqueued updates for the directory. After a clock went back, the alarm is far away.
      if (pullBack(this.#storage, Date.now()) || migrated) this.#outbox.arm();
    }
  }

  /** Why nothing may be written; undefined if it may. */
  get refusal(): Failure | undefined {
    return this.#isNewer ? failure("ErrorNewerData") : undefined;
  }

  get isReady(): boolean {
    return this.#ready;
  }

  /** Runs a read, or returns `empty` for a tenant without tables. */
  read<T>(empty: T, work: (sql: SqlStorage) => T): T {
    return this.#ready ? work(this.sql) : empty;
  }

  /** The same, with the tenant's generation at which the result was read. */
  readAsOf<E extends object, T extends object>(
    empty: E,
    work: (sql: SqlStorage, generation: number) => T,
  ): AsOf<E | T> {
    if (!this.#ready) return { ...empty, generation: 0 };
    const generation = generationOf(this.sql);
    return { ...work(this.sql, generation), generation };
  }

  /** Current, enabled capabilities for a query, from the tenant's index in memory. */
  async find(query: CardQuery): Promise<AsOf<FoundCards>> {
    // Word vectors are large: a tenant without tables does not load them.
    if (!this.#ready) return { generation: 0, cards: [] };
    const vectors = await wordVectors(this.#assets);
    let generation = generationOf(this.sql);
    const preparing = this.#index.prepare(this.sql, generation);
    if (preparing !== undefined) generation = await preparing.then(() => generationOf(this.sql));
    const found = findTenantCards(this.sql, query, { index: this.#index, generation, vectors });
    objectIndexes.used(this.#index, maxLent * this.#config.cacheBytes);
    return { ...found, generation };
  }

  async searchState(): Promise<AsOf<SearchState>> {
    const state = this.readAsOf({ isAllPublic: true }, (sql, at) => this.#open.state(sql, at, this.#outbox));
    if (!this.#ready || !state.isAllPublic) return state;
    const directory = await this.#outbox.directoryState();
    return directory === undefined ? { ...state, isAllPublic: false } : { ...state, directory };
  }

  /** One write to a server: a transaction, then the outbox. */
  async write<T extends { generation: number }>(
    writer: Writer,
    name: string,
    work: (at: string, since?: number) => Result<T, Failure>,
  ): Promise<Written<T>> {
    const error = this.#admit(writer) ?? (await this.#restored.beforeWrite(writer.tenant));
    return error === undefined ? this.#staged.write(writer, name, work) : err(error);
  }

  /**
   * One publish. What changes more items than a transaction should write is staged first, and indexed behind the commit;
   * meanwhile the object answers others.
   */
  async publish<T extends { generation: number }>(
    writer: Writer,
    request: Omit<PublishRequest, "at">,
    work: (at: string, staged: StagedPublish | "if-large") => Result<T, Failure>,
  ): Promise<Written<T>> {
    const error = this.#admit(writer) ?? (await this.#restored.beforeWrite(writer.tenant));
    return error === undefined ? this.#staged.publish(writer, request, work) : err(error);
  }

  /** What a publish would do. */
  async rehearsePublish<T>(
    writer: Writer,
    request: Omit<PublishRequest, "at">,
    work: (at: string, staged: StagedPublish | "if-large") => Result<T, Failure>,
  ): Promise<Result<T, Failure>> {
    if (request.manifest.capabilities.length <= mostJudgedAtOnce) {
      try {
        return this.rehearse(writer, (at) => work(at, "if-large"));
      } catch (cause) {
        if (!(cause instanceof LargePublishError)) throw cause;
      }
    }
    const at = new Date().toISOString();
    const staged = this.#ready ? (await this.#large.prepare({ ...request, at }, true)).staged : unjudgedRehearsal();
    return this.rehearse(writer, () => work(at, staged));
  }

  /** A transaction, then the outbox. */
  async #commit<T extends { generation: number }>(
    writer: Writer,
    name: string,
    work: (at: string) => Result<T, Failure>,
  ): Promise<Written<T>> {
    // Vectors of new items are computed in the transaction, which cannot wait.
    const loading = loadingVectors(this.#assets);
    if (loading !== undefined) await loading;
    const written = this.#storage.transactionSync((): Written<T> => {
      const before = generationOf(this.sql);
      const at = new Date();
      const result = spelledBy(this.sql, writer, before, () =>
        once(this.sql, writer, at.getTime(), () => work(at.toISOString())),
      );
      if (!result.ok) return result;
      const head = currentHead(this.sql, name);
      if (head === undefined) throw new Error(`a write left no head for ${name}`);
      // With an unchanged generation only `lastSynced` moved, which nothing but the head shows.
      if (generationOf(this.sql) === before) this.#outbox.enqueueHead(name);
      else this.#outbox.enqueueServer(name);
      return ok({ ...result.value, head });
    });
    if (!written.ok) return written;
    this.#outbox.arm();
    // The write is already durable; waiting for the directory makes the next list show it.
    await withTimeout(this.#outbox.flushDirectory(), directoryWaitMs).catch(() => {});
    const directory = this.#outbox.confirmedDirectory(name);
    this.#state.waitUntil(this.#outbox.drain());
    this.#refreshDue();
    return ok({ ...written.value, directory });
  }

  /** A transaction that nobody is told of: neither KV nor the directory, watchers or subscribers. */
  async #writeQuietly<T>(work: (at: string) => T): Promise<T> {
    const result = this.#storage.transactionSync(() => work(new Date().toISOString()));
    await setNextAlarm(this.#storage, Date.now());
    return result;
  }

  /**
   * A write that is undone before it is acknowledged: it shows what the same write would do now. Tables that it had to
   * create are undone too.
   */
  rehearse<T>(writer: Writer, work: (at: string) => Result<T, Failure>): Result<T, Failure> {
    const wasReady = this.#ready;
    let outcome: Result<T, Failure> | undefined;
    const undo = new Error("a rehearsal is always undone");
    try {
      this.#storage.transactionSync(() => {
        const error = this.#admit(writer);
        outcome = error === undefined ? work(new Date().toISOString()) : err(error);
        throw undo;
      });
    } catch (cause) {
      if (cause !== undo) throw cause;
    } finally {
      this.#ready = wasReady;
    }
    if (outcome === undefined) throw new Error("a rehearsal had no outcome");
    return outcome;
  }

  /** One write to the tenant's own settings. Only watchers are notified. */
  writeSettings<T extends { changed: boolean }>(
    writer: Writer,
    work: (at: string, keepChanges: number) => Result<T, Failure>,
  ): Result<T, Failure> {
    const error = this.#admit(writer);
    if (error !== undefined) return err(error);
    const written = this.#storage.transactionSync(() => {
      const result = spelledBy(this.sql, writer, generationOf(this.sql), () =>
        work(new Date().toISOString(), this.#config.bounds.changes),
      );
      if (result.ok && result.value.changed) this.#outbox.enqueueWatchers();
      return result;
    });
    if (written.ok && written.value.changed) this.#finishLater();
    return written;
  }

  /** Enqueues every server, item and version for the directory again. */
  async resendToDirectory(): Promise<void> {
    if (this.#isNewer || !this.#ready) return;
    await this.#restored.compare(tenantOf(this.sql));
    this.#storage.transactionSync(() => enqueueDirectoryAll(this.sql));
    this.#finishLater();
  }

  async afterRestore(shown: Parameters<RestoreCheck["compareWith"]>[1]): Promise<void> {
    if (this.#ready && !this.#isNewer) await this.#restored.compareWith(tenantOf(this.sql), shown);
  }

  /** Has the outbox emptied, by the alarm if not before. */
  #finishLater(): void {
    this.#outbox.arm();
    this.#state.waitUntil(this.#outbox.drain());
  }

  versionContext({ subject }: Writer, at: string, since?: number): VersionContext {
    const mayAsk = (url: string) => !isRefusedSource(this.#config, url);
    return {
      sql: this.sql,
      write: this.context,
      subject,
      ...{ at, since },
      bounds: this.#config.bounds,
      isAllowedUrl: mayAsk,
    };
  }

  async alarm(): Promise<void> {
    if (!this.#ready || this.#isNewer) return;
    pullBack(this.#storage, Date.now());
    this.#refreshDue();
    const reanalysing = this.reanalysis.runDue(Date.now());
    this.#state.waitUntil(reanalysing.then((hasChanged) => hasChanged && this.#outbox.arm()));
    this.#state.waitUntil(this.#large.resume());
    await this.#outbox.drain();
  }

  /** The author of a write that the tenant makes by itself. */
  #writerNamed(subject: string): Writer {
    return { tenant: tenantOf(this.sql), spelling: shownTenant(this.sql), subject };
  }

  #refreshDue(): void {
    this.#state.waitUntil(this.refresher.runDue(Date.now()));
  }

  /** Counts a write against its writer's rate limit, and creates the tables on the first write. */
  #admit(writer: Writer): Failure | undefined {
    if (this.#isNewer) return this.refusal;
    const now = Date.now();
    if (this.#clock.wentBack(now) && this.#ready && pullBack(this.#storage, now)) this.#outbox.arm();
    const allowed = this.#writes.consume(writer.subject, now);
    if (!allowed.ok) {
      return failure("ErrorTooManyRequests", undefined, { retryAfterSeconds: allowed.retryAfterSeconds });
    }
    if (!this.#ready) {
      createTables(this.#storage, tenantSteps, { tenant: writer.tenant });
      this.watchers.moveToTable();
      this.#ready = true;
    }
    return undefined;
  }
}
