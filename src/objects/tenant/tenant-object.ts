import { DurableObject } from "cloudflare:workers";
import type {
  AdvertisedServer,
  IndexPage,
  IndexRange,
  IndexRow,
  IndexServer,
  IndexState,
  TenantAdvertise,
} from "../../capability-index/contract.ts";
import type { AdvertiseSettings } from "../../capability-index/schema.ts";
import { advertiseOf, setAdvertise } from "../../capability-index/sql/advertise.ts";
import {
  advertisedServers,
  declaredItems,
  indexItems,
  indexServers,
  indexState,
} from "../../capability-index/sql/rows.ts";
import type { Topic, TopicChanges } from "../../changes/contract.ts";
import { topicChanges } from "../../changes/sql/topic-changes.ts";
import { addWatcher, dropWatcher } from "../../changes/sql/watchers.ts";
import { readConfig } from "../../config.ts";
import type { Hook, HookGate } from "../../hooks/contract.ts";
import { HookDesk } from "../../hooks/hooks.ts";
import { hookRows } from "../../hooks/sql/hooks.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { countedStorage } from "../../kernel/platform/counted-storage.ts";
import { TokenBuckets } from "../../kernel/rate-limit.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { StoredCapability } from "../../manifest/stored.ts";
import type { ServerVersion, VersionOutcome, VersionRequest } from "../../official/contract.ts";
import type { StatusUpdate } from "../../official/schema.ts";
import { manifestFields } from "../../official/server-json.ts";
import { changeStatus } from "../../official/sql/change-status.ts";
import { publishVersion, type VersionWork } from "../../official/sql/publish-version.ts";
import { listVersions, officialVersions, presentDocument } from "../../official/sql/tenant-versions.ts";
import type { ChainedChange, LogHead } from "../../registry/change-chain.ts";
import type {
  AsOf,
  Head,
  NoLook,
  PublishOutcome,
  PublishRequest,
  Refreshed,
  RegistryTenant,
  Revision,
  ServerEntry,
  SettingsOutcome,
  SourceDetail,
  Switch,
  Writer,
  Written,
} from "../../registry/contract.ts";
import type { ServerConfig } from "../../registry/schema.ts";
import { changesSince, generationOf, logHead, tenantOf } from "../../registry/sql/change-log.ts";
import { findCapability } from "../../registry/sql/items.ts";
import { tellAll, type WriteContext } from "../../registry/sql/listener.ts";
import { owe } from "../../registry/sql/outbox-table.ts";
import { publish } from "../../registry/sql/publish.ts";
import { bodyText, findRevision, listRevisions } from "../../registry/sql/revisions.ts";
import { currentHead, entryOf, findLive, listLive } from "../../registry/sql/servers.ts";
import { createServer, deleteServer, replaceConfig, switchItems } from "../../registry/sql/settings.ts";
import { detailOf, sourceRows } from "../../registry/sql/source-rows.ts";
import type { CapabilityCard, CardQuery, RankedCard, SearchTenant } from "../../search/contract.ts";
import { wordVectors } from "../../search/load-word-vectors.ts";
import { searchCards } from "../../search/sql/tenant-cards.ts";
import { findTenantCards, tenantCards } from "../../search/sql/tenant-search.ts";
import type { PinVerdict } from "../../sessions/contract.ts";
import { comparePins } from "../../sessions/sql/compare-pins.ts";
import { isRefusedSource, sourceFetch, sourceHeaders } from "../../sources/access.ts";
import { Refresher } from "../../sources/refresher.ts";
import type { Subscription } from "../../subscriptions/contract.ts";
import { Deliveries } from "../../subscriptions/deliveries.ts";
import { addressPolicyFor, SubscriptionDesk } from "../../subscriptions/subscriptions.ts";
import { createTables, isEmpty, migrate } from "../migrate.ts";
import { oweDirectoryAll } from "./directory-feed.ts";
import { Outbox, setNextAlarm } from "./outbox.ts";
import { createProjections } from "./projections.ts";
import { tenantSteps } from "./tables.ts";

/** How long a write waits for the directory before it answers without it. */
const directoryPatienceMs = 500;

/**
 * One tenant: the order of its writes, its heads, its items, its log. Every write is one transaction; what it owes KV
 * and the directory is in the outbox before it is acknowledged.
 */
export class TenantObject extends DurableObject<Env> implements RegistryTenant, SearchTenant {
  readonly #storage = countedStorage(this.ctx.storage);
  readonly #sql = this.#storage.sql;
  readonly #config = readConfig(this.env);
  readonly #writes = new TokenBuckets(this.#config.writeLimit);
  readonly #policyFor = addressPolicyFor(this.#config);
  readonly #deliveries = new Deliveries(this.#storage, {
    fetch: (request) => fetch(request),
    policyFor: this.#policyFor,
    now: Date.now,
    reschedule: () => setNextAlarm(this.#storage, Date.now()),
  });
  readonly #outbox = new Outbox(this.#storage, createProjections(this.env, this.#sql, this.#deliveries), Date.now);
  readonly #subscriptions = new SubscriptionDesk({
    storage: this.#storage,
    deliveries: this.#deliveries,
    policyFor: this.#policyFor,
    isReady: () => this.#ready,
    admit: (writer) => this.#admit(writer),
    reschedule: () => setNextAlarm(this.#storage, Date.now()),
  });
  /** What happens in the transaction of a write besides the registry's own rows. */
  readonly #context: WriteContext = {
    sql: this.#sql,
    keep: this.#config.bounds,
    listener: tellAll([searchCards(this.#sql), officialVersions(this.#sql), hookRows(this.#sql)]),
  };
  readonly #hooks = new HookDesk({
    sql: this.#sql,
    isReady: () => this.#ready,
    context: this.#context,
    write: ({ id, server }, work) => this.#write({ tenant: tenantOf(this.#sql), subject: `hook ${id}` }, server, work),
    // Whoever sent the event asks for it at once; this is for when they cannot.
    refreshSoon: (server) => owe(this.#sql, "refresh", server),
  });
  readonly #refresher = new Refresher({
    sql: this.#sql,
    context: this.#context,
    bounds: this.#config.bounds,
    fetch: sourceFetch(this.#config),
    isRefused: (url) => isRefusedSource(this.#config, url),
    fixedFields: (server) => {
      const document = presentDocument(this.#sql, server);
      return document === undefined ? {} : manifestFields(document);
    },
    credentials: (source) => sourceHeaders(this.#config, tenantOf(this.#sql), source),
    write: (server, work) => this.#write({ tenant: tenantOf(this.#sql), subject: "introspection" }, server, work),
  });
  #ready = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (!isEmpty(this.#sql)) {
      const migrated = migrate(this.#storage, tenantSteps);
      this.#ready = true;
      // New tables may owe the directory what the old ones could not say.
      if (migrated) this.#outbox.arm();
    }
  }

  async publish(
    writer: Writer,
    request: Omit<PublishRequest, "subject" | "at" | "precondition">,
  ): Promise<Written<PublishOutcome>> {
    return this.#write(writer, request.name, (at) =>
      publish(this.#context, writer.tenant, {
        ...request,
        subject: writer.subject,
        at,
        ...(writer.precondition === undefined ? {} : { precondition: writer.precondition }),
      }),
    );
  }

  async createServer(writer: Writer, config: ServerConfig): Promise<Written<SettingsOutcome>> {
    return this.#write(writer, config.name, (at) => createServer(this.#context, config, at));
  }

  async replaceConfig(writer: Writer, config: ServerConfig): Promise<Written<SettingsOutcome>> {
    return this.#write(writer, config.name, (at) => replaceConfig(this.#context, config, at, writer.precondition));
  }

  async deleteServer(writer: Writer, name: string): Promise<Written<SettingsOutcome>> {
    return this.#write(writer, name, (at) => deleteServer(this.#context, name, at, writer.precondition));
  }

  async switchItems(writer: Writer, name: string, switches: Switch[]): Promise<Written<SettingsOutcome>> {
    return this.#write(writer, name, (at) => switchItems(this.#context, name, switches, at, writer.precondition));
  }

  /** Adds a version that came as server.json, and makes its server where there is none. */
  async publishVersion(writer: Writer, request: VersionRequest): Promise<Written<VersionOutcome>> {
    return this.#write(writer, request.name, (at) => publishVersion(this.#versionWork(writer, at), request));
  }

  /** All of the versions or none. */
  async changeStatus(
    writer: Writer,
    name: string,
    only: string | undefined,
    update: StatusUpdate,
  ): Promise<Written<VersionOutcome>> {
    return this.#write(writer, name, (at) => changeStatus(this.#versionWork(writer, at), name, only, update));
  }

  /** What was published as server.json, in the order it was. */
  async versions(name: string): Promise<ServerVersion[]> {
    return this.#ready ? listVersions(this.#sql, name) : [];
  }

  /** The head as of now, with a tombstone for what was deleted. */
  async head(name: string): Promise<AsOf<{ head?: Head }>> {
    if (!this.#ready) return { generation: 0 };
    const generation = generationOf(this.#sql);
    const head = currentHead(this.#sql, name);
    return head === undefined ? { generation } : { generation, head };
  }

  async server(name: string): Promise<AsOf<{ entry?: ServerEntry }>> {
    if (!this.#ready) return { generation: 0 };
    const generation = generationOf(this.#sql);
    const row = findLive(this.#sql, name);
    return row === undefined
      ? { generation }
      : { generation, entry: entryOf(this.#sql, tenantOf(this.#sql), row, generation) };
  }

  async servers(after: string, limit: number): Promise<AsOf<{ entries: ServerEntry[] }>> {
    if (!this.#ready) return { generation: 0, entries: [] };
    const generation = generationOf(this.#sql);
    const tenant = tenantOf(this.#sql);
    const entries = listLive(this.#sql, after, limit).map((row) => entryOf(this.#sql, tenant, row, generation));
    return { generation, entries };
  }

  /** The stored manifest of a server under a digest, as JSON text. */
  async body(name: string, digest: string): Promise<string | undefined> {
    return this.#ready ? bodyText(this.#sql, name, digest) : undefined;
  }

  /** History comes with the head of the same moment: who may read it is decided by that one, not by a cached one. */
  async revisions(name: string, before: number, limit: number): Promise<AsOf<{ head?: Head; revisions: Revision[] }>> {
    const current = await this.head(name);
    if (current.head === undefined) return { ...current, revisions: [] };
    return { ...current, revisions: listRevisions(this.#sql, name, before, limit) };
  }

  async revision(name: string, digest: string): Promise<AsOf<{ head?: Head; revision?: Revision }>> {
    const current = await this.head(name);
    const revision = current.head && findRevision(this.#sql, name, digest);
    return revision === undefined ? current : { ...current, revision };
  }

  /** A current capability by its id, with the head of its server. */
  async capability(id: string): Promise<AsOf<{ head?: Head; capability?: StoredCapability }>> {
    if (!this.#ready) return { generation: 0 };
    const generation = generationOf(this.#sql);
    const found = findCapability(this.#sql, id);
    const head = found && currentHead(this.#sql, found.server);
    return found === undefined || head === undefined
      ? { generation }
      : { generation, head, capability: found.capability };
  }

  /** Current items that are switched on, the best first. */
  async find(query: CardQuery): Promise<AsOf<{ cards: RankedCard[] }>> {
    if (!this.#ready) return { generation: 0, cards: [] };
    const vectors = await wordVectors(this.env.ASSETS);
    return { generation: generationOf(this.#sql), cards: findTenantCards(this.#sql, query, vectors) };
  }

  /** Those of these ids that are current and switched on. */
  async cards(ids: readonly string[]): Promise<AsOf<{ cards: (CapabilityCard & { public: boolean })[] }>> {
    if (!this.#ready) return { generation: 0, cards: [] };
    return { generation: generationOf(this.#sql), cards: tenantCards(this.#sql, ids) };
  }

  /** Who may read an index, and whether one that was rendered is still good. */
  async indexState(server?: string): Promise<IndexState> {
    return this.#ready ? indexState(this.#sql, server) : { generation: 0, stamp: "0", hasPublic: false };
  }

  async indexServers(range: IndexRange, after: string): Promise<IndexPage<IndexServer>> {
    return this.#ready ? indexServers(this.#sql, range, after) : { stamp: "0", rows: [] };
  }

  async indexItems(range: IndexRange, part: Parameters<typeof indexItems>[2]): Promise<IndexPage<IndexRow>> {
    return this.#ready ? indexItems(this.#sql, range, part) : { stamp: "0", rows: [] };
  }

  /** What items declare, by their ids, as far as one answer has room. */
  async declared(
    ids: readonly string[],
    range: Pick<IndexRange, "onlyPublic">,
  ): Promise<AsOf<{ items: ReturnType<typeof declaredItems> }>> {
    if (!this.#ready) return { generation: 0, items: [] };
    return { generation: generationOf(this.#sql), items: declaredItems(this.#sql, ids, range) };
  }

  async advertise(): Promise<AsOf<{ current?: TenantAdvertise }>> {
    if (!this.#ready) return { generation: 0 };
    const current = advertiseOf(this.#sql);
    return { generation: generationOf(this.#sql), ...(current === undefined ? {} : { current }) };
  }

  async advertisedServers(limit: number): Promise<{ servers: AdvertisedServer[]; tokens: number }> {
    return this.#ready ? advertisedServers(this.#sql, limit) : { servers: [], tokens: 0 };
  }

  async setAdvertise(writer: Writer, settings: AdvertiseSettings): Promise<ReturnType<typeof setAdvertise>> {
    const objection = this.#admit(writer);
    if (objection !== undefined) return err(objection);
    const at = new Date().toISOString();
    const set = this.#storage.transactionSync(() => {
      const result = setAdvertise(this.#sql, settings, at, this.#config.bounds.changes, writer.precondition);
      if (result.ok && result.value.changed) this.#outbox.oweWatchers();
      return result;
    });
    if (set.ok && set.value.changed) {
      this.#outbox.arm();
      this.ctx.waitUntil(this.#outbox.drain());
    }
    return set;
  }

  /** Entries of the log after a sequence number, and where it ends; no end before the first write. */
  async changes(since: number, limit: number): Promise<AsOf<{ changes: ChainedChange[]; head?: LogHead }>> {
    if (!this.#ready) return { generation: 0, changes: [] };
    const generation = generationOf(this.#sql);
    return { generation, changes: changesSince(this.#sql, since, limit), head: logHead(this.#sql) };
  }

  /** What happened to the items that somebody follows. */
  async changesOf(topic: Topic): Promise<TopicChanges> {
    if (!this.#ready) return { changes: [], upTo: 0, generation: 0, complete: true };
    return topicChanges(this.#sql, tenantOf(this.#sql), topic);
  }

  /** How present capabilities differ from the versions that were pinned, one verdict a pin. */
  async compare(
    pins: readonly { id: string; digest: string }[],
    { onlyPublic }: { onlyPublic: boolean },
  ): Promise<{ verdicts: (PinVerdict | undefined)[] }> {
    return { verdicts: this.#ready ? comparePins(this.#sql, pins, onlyPublic) : [] };
  }

  /** From now on and until then, the watcher is told of every write. False before the first: it has to ask again. */
  async watch(watcher: string, until: number): Promise<boolean> {
    if (this.#ready) addWatcher(this.#sql, watcher, until);
    return this.#ready;
  }

  async unwatch(watcher: string): Promise<void> {
    if (this.#ready) dropWatcher(this.#sql, watcher);
  }

  async registerHook(...args: Parameters<HookDesk["register"]>): Promise<ReturnType<HookDesk["register"]>> {
    return this.#hooks.register(...args);
  }

  async hooks(): Promise<Hook[]> {
    return this.#hooks.list();
  }

  async hook(id: string): Promise<ReturnType<HookDesk["show"]>> {
    return this.#hooks.show(id);
  }

  async changeHook(...args: Parameters<HookDesk["change"]>): Promise<ReturnType<HookDesk["change"]>> {
    return this.#hooks.change(...args);
  }

  async rotateHook(...args: Parameters<HookDesk["rotate"]>): Promise<ReturnType<HookDesk["rotate"]>> {
    return this.#hooks.rotate(...args);
  }

  async removeHook(id: string): Promise<ReturnType<HookDesk["remove"]>> {
    return this.#hooks.remove(id);
  }

  async hookGate(id: string): Promise<HookGate | undefined> {
    return this.#hooks.gate(id);
  }

  async receiveEvent(...args: Parameters<HookDesk["receive"]>): ReturnType<HookDesk["receive"]> {
    return this.#hooks.receive(...args);
  }

  async refuseEvent(...args: Parameters<HookDesk["refuse"]>): Promise<void> {
    this.#hooks.refuse(...args);
  }

  async createSubscription(
    ...args: Parameters<SubscriptionDesk["create"]>
  ): Promise<ReturnType<SubscriptionDesk["create"]>> {
    return this.#subscriptions.create(...args);
  }

  async subscriptions(): Promise<AsOf<{ items: Subscription[] }>> {
    return this.#subscriptions.list();
  }

  async subscription(id: string): Promise<ReturnType<SubscriptionDesk["show"]>> {
    return this.#subscriptions.show(id);
  }

  async changeSubscription(
    ...args: Parameters<SubscriptionDesk["change"]>
  ): Promise<ReturnType<SubscriptionDesk["change"]>> {
    return this.#subscriptions.change(...args);
  }

  async rotateSubscription(
    ...args: Parameters<SubscriptionDesk["rotate"]>
  ): Promise<ReturnType<SubscriptionDesk["rotate"]>> {
    return this.#subscriptions.rotate(...args);
  }

  async testSubscription(...args: Parameters<SubscriptionDesk["test"]>): ReturnType<SubscriptionDesk["test"]> {
    return this.#subscriptions.test(...args);
  }

  async removeSubscription(
    ...args: Parameters<SubscriptionDesk["remove"]>
  ): Promise<ReturnType<SubscriptionDesk["remove"]>> {
    return this.#subscriptions.remove(...args);
  }

  /** Reads the server's sources, anew for whoever knows of a change. */
  async refresh(name: string, { anew }: { anew: boolean }): Promise<Refreshed | NoLook> {
    if (!this.#ready) return "no-sources";
    return anew ? this.#refresher.refresh(name) : this.#refresher.join(name);
  }

  /** What is known of each source, with what only the tenant is told. */
  async sources(name: string): Promise<SourceDetail[]> {
    return this.#ready ? sourceRows(this.#sql, name).map(detailOf) : [];
  }

  /** Sends the directory every server again, because it lost some of what it had. */
  async resendToDirectory(): Promise<void> {
    if (!this.#ready) return;
    this.#storage.transactionSync(() => oweDirectoryAll(this.#sql));
    this.#outbox.arm();
    this.ctx.waitUntil(this.#outbox.drain());
  }

  #versionWork({ tenant, subject }: Writer, at: string): VersionWork {
    const mayAsk = (url: string) => !isRefusedSource(this.#config, url);
    return { sql: this.#sql, write: this.#context, tenant, subject, at, bounds: this.#config.bounds, mayAsk };
  }

  #refreshDue(): void {
    this.ctx.waitUntil(this.#refresher.runDue(Date.now()));
  }

  override async alarm(): Promise<void> {
    if (this.#ready) this.#refreshDue();
    if (this.#ready) await this.#outbox.drain();
  }

  /** Counts a write against its writer, and sees that there are tables for it. */
  #admit(writer: Writer): Failure | undefined {
    const allowed = this.#writes.take(writer.subject, Date.now());
    if (!allowed.ok) {
      const { retryAfterSeconds } = allowed;
      return failure("ErrorTooManyRequests", undefined, { retryAfterSeconds });
    }
    if (!this.#ready) {
      createTables(this.#storage, tenantSteps, { tenant: writer.tenant });
      this.#ready = true;
    }
    return undefined;
  }

  async #write<T extends { generation: number }>(
    writer: Writer,
    name: string,
    work: (at: string) => Result<T, Failure>,
  ): Promise<Written<T>> {
    const objection = this.#admit(writer);
    if (objection !== undefined) return err(objection);
    const written = this.#storage.transactionSync((): Written<T> => {
      const before = generationOf(this.#sql);
      const result = work(new Date().toISOString());
      if (!result.ok) return result;
      const head = currentHead(this.#sql, name);
      if (head === undefined) throw new Error(`a write left no head for ${name}`);
      // What found nothing new moved the time of the last look, which the head alone shows.
      if (generationOf(this.#sql) === before) this.#outbox.oweHead(name);
      else this.#outbox.oweServer(name);
      return ok({ ...result.value, head });
    });
    if (!written.ok) return written;
    this.#outbox.arm();
    // The write is durable whatever happens below; waiting for the directory makes the next list show it.
    await Promise.race([this.#outbox.flushDirectory(), scheduler.wait(directoryPatienceMs)]);
    this.ctx.waitUntil(this.#outbox.drain());
    this.#refreshDue();
    return written;
  }
}
