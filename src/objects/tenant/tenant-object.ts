import { DurableObject } from "cloudflare:workers";
import type {
  AdvertisedServers,
  DeclaredItem,
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
import type { FollowedItems, ItemChanges } from "../../changes/contract.ts";
import { followedChanges } from "../../changes/sql/topic-changes.ts";
import type { AcknowledgeOutcome, AcknowledgeRequest, FlagPosition } from "../../flags/contract.ts";
import { acknowledgeFlag } from "../../flags/sql/acknowledge.ts";
import { flaggedContent } from "../../flags/sql/flagged.ts";
import type { PublisherEvent } from "../../hooks/contract.ts";
import type { Hooks } from "../../hooks/hooks.ts";
import { listHooks } from "../../hooks/sql/hooks.ts";
import type { Failure } from "../../kernel/failure.ts";
import { createWorkerPace } from "../../kernel/platform/worker-pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { PreparedCapability } from "../../manifest/prepare.ts";
import type { StoredCapability } from "../../manifest/stored.ts";
import type { ServerVersion, VersionOutcome, VersionRequest } from "../../official/contract.ts";
import type { StatusUpdate } from "../../official/schema.ts";
import { changeStatus } from "../../official/sql/change-status.ts";
import { publishVersion } from "../../official/sql/publish-version.ts";
import { listVersions } from "../../official/sql/tenant-versions.ts";
import type { ChainedChange, LogHead } from "../../registry/change-chain.ts";
import type { ConfigMembers } from "../../registry/config-change.ts";
import type {
  AsOf,
  ConfigOutcome,
  Head,
  NamedStamp,
  NewPublish,
  PublishOutcome,
  PublishRequest,
  Refreshed,
  RefreshSkipped,
  Rehearsed,
  Revision,
  ServerEntry,
  SettingsOutcome,
  SourceDetail,
  StoredDefinition,
  Switch,
  Writer,
  Written,
} from "../../registry/contract.ts";
import type { ServerConfig } from "../../registry/schema.ts";
import { changesSince, logHead } from "../../registry/sql/change-log.ts";
import { definableItems } from "../../registry/sql/definable.ts";
import { findCapability } from "../../registry/sql/items.ts";
import type { StagedPublish } from "../../registry/sql/publish/stage.ts";
import { publish } from "../../registry/sql/publish.ts";
import { bodyTextSteps, findRevision, listRevisions } from "../../registry/sql/revisions.ts";
import { currentHead, entryOf, findLive, listLive } from "../../registry/sql/servers.ts";
import { changeSettings, createServer, deleteServer, switchItems } from "../../registry/sql/settings.ts";
import { detailOf, sourceRows } from "../../registry/sql/source-rows.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { CapabilityCard, CardQuery, FoundCards, SearchState } from "../../search/contract.ts";
import { tenantCards } from "../../search/sql/tenant-search.ts";
import type { PinComparison } from "../../sessions/contract.ts";
import { comparePins } from "../../sessions/sql/compare-pins.ts";
import type { Subscriptions } from "../../subscriptions/subscriptions.ts";
import type { Tenant } from "../contract.ts";
import { isIssuedId } from "../stubs.ts";
import { ItemTransfers } from "./item-transfers.ts";
import { TenantCore } from "./tenant-core.ts";

/**
 * One tenant: orders its writes, and stores its heads, items and change log. Every write is one transaction that also
 * fills the outbox for KV and the directory before the write is acknowledged.
 */
export class TenantObject extends DurableObject<Env> implements Tenant {
  readonly #core = new TenantCore(this.ctx, this.env);
  readonly #transfers = new ItemTransfers(Date.now);

  async publish(writer: Writer, request: NewPublish): Promise<Written<PublishOutcome>> {
    const whole = this.#whole(writer, request);
    return whole.ok ? this.#core.publish(writer, whole.value, this.#publishing(whole.value)) : whole;
  }
  async rehearsePublish(writer: Writer, request: NewPublish): Promise<Rehearsed> {
    const whole = this.#whole(writer, request);
    return whole.ok ? this.#core.rehearsePublish(writer, whole.value, this.#publishing(whole.value)) : whole;
  }
  #publishing(request: Omit<PublishRequest, "at">) {
    return (at: string, staged: StagedPublish | "if-large") => publish(this.#core.context, { ...request, at }, staged);
  }
  #whole({ subject, precondition }: Writer, request: NewPublish): Result<Omit<PublishRequest, "at">, Failure> {
    const manifest = this.#transfers.complete(request.manifest);
    return manifest.ok ? ok({ ...request, manifest: manifest.value, subject, precondition }) : manifest;
  }

  async sendItems(transfer: string, items: PreparedCapability[]): Promise<boolean> {
    return this.#transfers.add(transfer, items);
  }

  async createServer(writer: Writer, config: ServerConfig): Promise<Written<SettingsOutcome>> {
    return this.#core.write(writer, config.name, (at) => createServer(this.#core.context, config, at));
  }

  async changeConfig(writer: Writer, name: string, change: ConfigMembers): Promise<Written<ConfigOutcome>> {
    return this.#core.write(writer, name, (at, since) =>
      changeSettings(this.#core.context, name, change, { at, since, precondition: writer.precondition }),
    );
  }

  async deleteServer(writer: Writer, name: string): Promise<Written<SettingsOutcome>> {
    return this.#core.write(writer, name, (at) => deleteServer(this.#core.context, name, at, writer.precondition));
  }

  async switchItems(writer: Writer, name: string, switches: Switch[]): Promise<Written<SettingsOutcome>> {
    return this.#core.write(writer, name, (at) =>
      switchItems(this.#core.context, name, switches, at, writer.precondition),
    );
  }

  async flagged(after: FlagPosition, limit: number) {
    return this.#core.readAsOf({ items: [] }, (sql) => flaggedContent(sql, after, limit));
  }

  async acknowledgeFlag(
    writer: Writer,
    server: string,
    request: AcknowledgeRequest,
  ): Promise<Written<AcknowledgeOutcome>> {
    const { subject } = writer;
    return this.#core.write(writer, server, (at) =>
      acknowledgeFlag(this.#core.context, server, request, { at, subject }),
    );
  }

  async publishVersion(writer: Writer, request: VersionRequest): Promise<Written<VersionOutcome>> {
    return this.#core.write(writer, request.name, (at, since) =>
      publishVersion(this.#core.versionContext(writer, at, since), request),
    );
  }

  async changeStatus(
    writer: Writer,
    name: string,
    only: string | undefined,
    update: StatusUpdate,
  ): Promise<Written<VersionOutcome>> {
    return this.#core.write(writer, name, (at) =>
      changeStatus(this.#core.versionContext(writer, at), name, only, update),
    );
  }

  async versions(name: string): Promise<ServerVersion[]> {
    return this.#core.read([], (sql) => listVersions(sql, name));
  }

  async head(name: string): Promise<AsOf<{ head?: Head }>> {
    return this.#core.readAsOf({}, (sql) => ({ head: currentHead(sql, name) }));
  }

  async afterRestore(shown: NamedStamp): Promise<void> {
    await this.#core.afterRestore(shown);
  }

  async server(name: string): Promise<AsOf<{ entry?: ServerEntry }>> {
    return this.#core.readAsOf({}, (sql, generation) => {
      const row = findLive(sql, name);
      return { entry: row && entryOf(sql, shownTenant(sql), row, generation) };
    });
  }

  async servers(after: string, limit: number): Promise<AsOf<{ entries: ServerEntry[] }>> {
    return this.#core.readAsOf({ entries: [] }, (sql, generation) => {
      const tenant = shownTenant(sql);
      return { entries: listLive(sql, after, limit).map((row) => entryOf(sql, tenant, row, generation)) };
    });
  }

  async body(name: string, digest: string): Promise<string | undefined> {
    if (!this.#core.isReady) return undefined;
    await this.#core.reanalysis.ensure(name, digest);
    return createWorkerPace().run(bodyTextSteps(this.#core.sql, name, digest));
  }

  async revisions(name: string, before: number, limit: number): Promise<AsOf<{ head?: Head; revisions: Revision[] }>> {
    return this.#core.readAsOf({ revisions: [] }, (sql) => {
      const head = currentHead(sql, name);
      return { head, revisions: head === undefined ? [] : listRevisions(sql, name, before, limit) };
    });
  }

  async revision(name: string, digest: string): Promise<AsOf<{ head?: Head; revision?: Revision }>> {
    return this.#core.readAsOf({}, (sql) => {
      const head = currentHead(sql, name);
      return { head, revision: head && findRevision(sql, name, digest) };
    });
  }

  async capability(id: string): Promise<AsOf<{ head?: Head; capability?: StoredCapability }>> {
    return this.#core.readAsOf({}, (sql) => {
      const found = findCapability(sql, id);
      const head = found && currentHead(sql, found.server);
      return head === undefined ? {} : { head, capability: found?.capability };
    });
  }

  async definable(
    ids: readonly string[],
    { onlyPublic }: { onlyPublic: boolean },
  ): Promise<AsOf<{ items: StoredDefinition[] }>> {
    return this.#core.readAsOf({ items: [] }, (sql) => ({ items: definableItems(sql, ids, onlyPublic) }));
  }

  async searchState(): Promise<AsOf<SearchState>> {
    return this.#core.searchState();
  }

  async find(query: CardQuery): Promise<AsOf<FoundCards>> {
    return this.#core.find(query);
  }

  async cards(ids: readonly string[]): Promise<AsOf<{ cards: (CapabilityCard & { public: boolean })[] }>> {
    return this.#core.readAsOf({ cards: [] }, (sql) => ({ cards: tenantCards(sql, ids) }));
  }

  async indexState(server?: string): Promise<IndexState> {
    const empty: IndexState = { generation: 0, stamp: "0", hasPublic: false };
    return this.#core.read(empty, (sql) => indexState(sql, server));
  }

  async indexServers(range: IndexRange, after: string): Promise<IndexPage<IndexServer>> {
    return this.#core.read({ stamp: "0", rows: [] }, (sql) => indexServers(sql, range, after));
  }

  async indexItems(
    range: IndexRange,
    part: { whole: boolean; after: readonly string[] },
  ): Promise<IndexPage<IndexRow>> {
    return this.#core.read({ stamp: "0", rows: [] }, (sql) => indexItems(sql, range, part));
  }

  async declared(
    ids: readonly string[],
    range: Pick<IndexRange, "onlyPublic">,
  ): Promise<AsOf<{ items: DeclaredItem[] }>> {
    return this.#core.readAsOf({ items: [] }, (sql) => ({ items: declaredItems(sql, ids, range) }));
  }

  async advertise(): Promise<AsOf<{ tenant?: string; current?: TenantAdvertise }>> {
    return this.#core.readAsOf({}, (sql) => ({ tenant: shownTenant(sql), current: advertiseOf(sql) }));
  }

  async advertisedServers(limit: number): Promise<AdvertisedServers> {
    return this.#core.read({ servers: [], more: 0, tokens: 0 }, (sql) => advertisedServers(sql, limit));
  }

  async setAdvertise(writer: Writer, settings: AdvertiseSettings): Promise<ReturnType<typeof setAdvertise>> {
    return this.#core.writeSettings(writer, (at, keepChanges) =>
      setAdvertise(this.#core.sql, settings, at, keepChanges, writer.precondition),
    );
  }

  async changes(since: number, limit: number): Promise<AsOf<{ changes: ChainedChange[]; head?: LogHead }>> {
    return this.#core.readAsOf({ changes: [] }, (sql) => ({
      changes: changesSince(sql, since, limit),
      head: logHead(sql),
    }));
  }

  async changesOf(topic: FollowedItems): Promise<ItemChanges> {
    const empty: ItemChanges = { changes: [], upTo: 0, generation: 0, complete: true };
    return this.#core.read(empty, (sql) => followedChanges(sql, shownTenant(sql), topic));
  }

  async compare(
    pins: readonly { id: string; digest: string }[],
    { onlyPublic }: { onlyPublic: boolean },
  ): Promise<{ verdicts: (PinComparison | undefined)[] }> {
    return { verdicts: this.#core.read([], (sql) => comparePins(sql, pins, onlyPublic)) };
  }

  async watch(watcher: string, until: number): Promise<void> {
    this.#core.watchers.add(watcher, until);
  }

  async unwatch(watcher: string): Promise<void> {
    this.#core.watchers.drop(watcher);
  }

  async refresh(name: string, { afterRunning }: { afterRunning: boolean }): Promise<Refreshed | RefreshSkipped> {
    if (!this.#core.isReady || this.#core.refusal !== undefined) return "no-sources";
    return afterRunning ? this.#core.refresher.refreshNew(name) : this.#core.refresher.refreshShared(name);
  }

  async sources(name: string): Promise<SourceDetail[]> {
    return this.#core.read([], (sql) => sourceRows(sql, name).map((row) => detailOf(row, shownTenant(sql))));
  }

  async resendToDirectory(): Promise<void> {
    await this.#core.resendToDirectory();
  }

  async registerHook(...args: Parameters<Hooks["register"]>) {
    const { refusal } = this.#core;
    if (refusal !== undefined) return err(refusal);
    return this.#core.hooks.register(...args);
  }

  async hooks() {
    return this.#core.hooks.list();
  }

  async hook(id: string) {
    return this.#core.hooks.show(id);
  }

  async changeHook(...args: Parameters<Hooks["change"]>) {
    const { refusal } = this.#core;
    if (refusal !== undefined) return err(refusal);
    return this.#core.hooks.change(...args);
  }

  async rotateHook(...args: Parameters<Hooks["rotate"]>) {
    const { refusal } = this.#core;
    if (refusal !== undefined) return err(refusal);
    return this.#core.hooks.rotate(...args);
  }

  async removeHook(id: string) {
    const { refusal } = this.#core;
    if (refusal !== undefined) return err(refusal);
    return this.#core.hooks.remove(id);
  }

  async otherHookIds() {
    return this.#core.read([], (sql) => listHooks(sql).map(({ id }) => id)).filter((id) => !isIssuedId(this.env, id));
  }

  async hookCredentials(id: string) {
    return this.#core.hooks.credentials(id);
  }

  async receiveEvent(id: string, keyId: string, event: PublisherEvent) {
    if (event.type !== "manifest.published") return this.#core.hooks.receive(id, keyId, event);
    const manifest = this.#transfers.complete(event.manifest);
    return manifest.ok ? this.#core.hooks.receive(id, keyId, { ...event, manifest: manifest.value }) : manifest;
  }

  async recordRefusedEvent(...args: Parameters<Hooks["recordRefused"]>) {
    if (this.#core.refusal !== undefined) return;
    this.#core.hooks.recordRefused(...args);
  }

  async createSubscription(...args: Parameters<Subscriptions["create"]>) {
    return this.#core.subscriptions.create(...args);
  }

  async subscriptions() {
    return this.#core.subscriptions.list();
  }

  async subscription(id: string) {
    return this.#core.subscriptions.show(id);
  }

  async changeSubscription(...args: Parameters<Subscriptions["change"]>) {
    return this.#core.subscriptions.change(...args);
  }

  async rotateSubscription(...args: Parameters<Subscriptions["rotate"]>) {
    return this.#core.subscriptions.rotate(...args);
  }

  async testSubscription(...args: Parameters<Subscriptions["test"]>) {
    return this.#core.subscriptions.test(...args);
  }

  async removeSubscription(...args: Parameters<Subscriptions["remove"]>) {
    return this.#core.subscriptions.remove(...args);
  }

  override alarm(): Promise<void> {
    return this.#core.alarm();
  }
}
