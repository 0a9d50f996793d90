import { DurableObject } from "cloudflare:workers";
import type {
  CatalogAnswer,
  CatalogCaller,
  DirectoryAsOf,
  DirectoryCatalogQuery,
  PrivateServers,
} from "../../catalog/contract.ts";
import { selectServers } from "../../catalog/select.ts";
import { ServerTable } from "../../catalog/sql/server-table.ts";
import { readConfig } from "../../config.ts";
import type { SyncAnswer } from "../../directory/contract.ts";
import { SegmentBuilder } from "../../directory/sql/segment-builder.ts";
import type { DirectoryState } from "../../http/directory-state.ts";
import { maxLent } from "../../kernel/memory-budget.ts";
import type { ServerRef, TenantKey } from "../../kernel/names.ts";
import { countedKv } from "../../kernel/platform/counted-bindings.ts";
import { countedStorage } from "../../kernel/platform/counted-storage.ts";
import { newerDataError, noteProblem } from "../../kernel/platform/problems.ts";
import { builderUsage, objectUsage } from "../../kernel/platform/usage.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { TakenRemote, VersionQuery, VersionsAsOf } from "../../official/contract.ts";
import {
  applyVersions,
  deleteDerived,
  dropVersions,
  findVersions,
  fullName,
  hasVersions,
  replaceDerived,
  versionNamed,
  versionsOf,
} from "../../official/sql/directory-versions.ts";
import { claimRemotes, releaseClaims } from "../../official/sql/remotes.ts";
import type { DirectoryEntry, DirectoryQuery } from "../../registry/contract.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { CardQuery, FoundCards, PublicCard, RankedCard, TenantFilter } from "../../search/contract.ts";
import { objectIndexes } from "../../search/index-memory.ts";
import { wordVectors } from "../../search/load-word-vectors.ts";
import { CardIndex } from "../../search/sql/card-index.ts";
import { applyItems, dropItems } from "../../search/sql/directory-cards.ts";
import { findPublicCards, publicCards } from "../../search/sql/directory-search.ts";
import type { Directory } from "../contract.ts";
import { createTables, isEmpty, isNewer, migrate } from "../migrate.ts";
import { tenantOf } from "../stubs.ts";
import type { DirectoryChange, DirectoryUpdate, ListedChange } from "./contract.ts";
import { publicPlaces, readPlace } from "./public-places.ts";
import { directorySteps } from "./tables.ts";

/**
 * Tenants with a public server whose capabilities or versions are missing here. Only possible if tables of the
 * directory were lost, or recreated by a migration step.
 */
function incompleteTenants(sql: SqlStorage, after: string, limit: number): TenantKey[] {
  return sql
    .exec<{ tenant: TenantKey }>(
      `SELECT DISTINCT server.tenant FROM server LEFT JOIN indexed_server
         ON indexed_server.tenant = server.tenant AND indexed_server.name = server.name
       WHERE server.public = 1 AND server.entry IS NOT NULL AND server.tenant > ?1
         AND ((indexed_server.tenant IS NULL AND json_extract(server.entry, '$.digest') IS NOT NULL)
           OR NOT EXISTS (SELECT 1 FROM server_version WHERE name = server.tenant || '/' || server.name))
       ORDER BY server.tenant LIMIT ?2`,
      after,
      limit,
    )
    .toArray()
    .map(({ tenant }) => tenant);
}

/** Tenants are asked in batches, with a pause for their updates to arrive. */
const askBatchSize = 20;
const askAfterMs = 5_000;
/** Tenants that could not answer are asked again after this. */
const askFailedAfterMs = 300_000;
/** Changes of this long are written to KV together, and a root is written at most this often. */
const buildAfterMs = 1_000;
/** After KV refused a write. */
const buildAgainAfterMs = 10_000;
/** More servers than this of a caller are filtered here, not in the isolate. */
const maxPrivateServers = 300;

interface Row extends Record<string, SqlStorageValue> {
  entry: string;
}

/** The entry as lists show it. */
function entryOf({ items: _, versions: __, spelling, ...entry }: ListedChange): CatalogEntry {
  return { ...entry, tenant: spelling ?? entry.tenant };
}

/**
 * One row per server of every tenant, so that a list across tenants is one query. Filled by the tenants' outboxes; a
 * late or repeated update loses by its generation.
 */
export class DirectoryObject extends DurableObject<Env> implements Directory {
  readonly #storage = countedStorage(this.ctx.storage);
  readonly #sql = this.#storage.sql;
  readonly #index = new CardIndex();
  readonly #config = readConfig(this.env);
  readonly #builder = new SegmentBuilder({
    storage: countedStorage(this.ctx.storage, builderUsage),
    kv: countedKv(this.env.REGISTRY, builderUsage),
    now: Date.now,
    readPlace: (server) => readPlace(this.#sql, server),
    publicPlaces: () => publicPlaces(this.#sql),
    pause: () => scheduler.wait(0),
  });
  readonly #servers = new ServerTable(this.#sql);
  /** A newer version has written here. */
  #isNewer = false;
  #askedUpTo = "";
  #failed = false;
  /** When tenants are asked to send again what is missing. */
  #askAt: number | undefined;
  /** Not before this time, if KV has to be brought up to date. */
  #buildAt: number | undefined;
  #alarmAt = Number.POSITIVE_INFINITY;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (isEmpty(this.#sql)) createTables(this.#storage, directorySteps);
    else if (isNewer(this.#storage, directorySteps)) this.#isNewer = true;
    else migrate(this.#storage, directorySteps);
    // Newer versions only add tables and columns: what is listed is read, and nothing is written or built.
    if (this.#isNewer) {
      noteProblem("newer-data", Date.now());
      return;
    }
    if (this.#builder.state().epoch === "0") this.#builder.startEpoch();
    if (incompleteTenants(this.#sql, "", 1).length > 0) this.#askAt = Date.now() + askAfterMs;
    this.#buildWithin(buildAfterMs);
    this.#setAlarm();
  }

  /** Where isolates keep no copy of what is public, nobody reads segments, and none are written. */
  #buildWithin(milliseconds: number): void {
    if (this.#buildAt !== undefined || this.#config.directoryBytes === 0 || !this.#builder.isBehind) return;
    this.#buildAt = Date.now() + milliseconds;
    this.#setAlarm();
  }

  /** The object has one alarm, for the earliest of what it has to do. */
  #setAlarm(): void {
    const times = [this.#askAt, this.#buildAt, this.#builder.collectAt()].filter((time) => time !== undefined);
    const at = this.#isNewer ? Number.POSITIVE_INFINITY : Math.min(...times);
    if (at === this.#alarmAt || at === Number.POSITIVE_INFINITY) return;
    this.#alarmAt = at;
    void this.ctx.storage.setAlarm(Math.max(at, Date.now()));
  }

  override async alarm(): Promise<void> {
    if (this.#isNewer) return;
    // What the alarm was set for is due, whatever the clock says now.
    const until = Math.max(Date.now(), this.#alarmAt === Number.POSITIVE_INFINITY ? 0 : this.#alarmAt);
    this.#alarmAt = Number.POSITIVE_INFINITY;
    try {
      if (this.#buildAt !== undefined && this.#buildAt <= until) await this.#build();
      await this.#builder.collect();
      if (this.#askAt !== undefined && this.#askAt <= until) await this.#askTenants();
    } finally {
      this.#setAlarm();
    }
  }

  /** Publishers never wait for it, so whatever KV does is only logged. */
  async #build(): Promise<void> {
    this.#buildAt = undefined;
    try {
      await this.#builder.build();
      this.#buildWithin(buildAfterMs);
    } catch (cause) {
      console.error(JSON.stringify({ event: "directory-build", cause: String(cause) }));
      this.#buildAt = Date.now() + buildAgainAfterMs;
    }
  }

  /** Asks tenants to send missing data again. */
  async #askTenants(): Promise<void> {
    this.#askAt = undefined;
    // Continue after the last tenant whatever its result: one that fails must not block the others.
    const tenants = incompleteTenants(this.#sql, this.#askedUpTo, askBatchSize);
    await Promise.all(tenants.map((tenant) => this.#askToResend(tenant)));
    if (tenants.length === askBatchSize) {
      this.#askedUpTo = tenants.at(-1) ?? "";
      this.#askAt = Date.now() + askAfterMs;
    } else if (this.#failed) {
      this.#askedUpTo = "";
      this.#failed = false;
      this.#askAt = Date.now() + askFailedAfterMs;
    }
  }

  async #askToResend(tenant: TenantKey): Promise<void> {
    try {
      await tenantOf(this.env, tenant, objectUsage).resendToDirectory();
    } catch (cause) {
      this.#failed = true;
      console.error(JSON.stringify({ event: "directory-resend", tenant, cause: String(cause) }));
    }
  }

  async update(changes: readonly DirectoryChange[]): Promise<DirectoryUpdate> {
    this.#requireKnown();
    const verdicts = this.#transact(() => {
      const found = changes.map((change) => this.#applyChange(change));
      if (found.some(({ verdict }) => verdict === "changed")) this.#raise("generation");
      if (found.some(({ isPublic }) => isPublic)) this.#raise("public_generation");
      return found.map(({ verdict }) => verdict);
    });
    this.#buildWithin(buildAfterMs);
    return { accepted: verdicts.map((verdict) => verdict !== "outdated"), state: this.#builder.state() };
  }

  /** Rows stay as they are, so that reads go on; every tenant's word counts more than theirs. */
  async beginRebuild(): Promise<void> {
    this.#requireKnown();
    this.#sql.exec("UPDATE server SET generation = -1");
  }

  async continueRebuild(isLast: boolean): Promise<DirectoryState & { waiting: number }> {
    this.#requireKnown();
    if (isLast) {
      this.#builder.startEpoch();
      this.#buildWithin(buildAfterMs);
    }
    const { waiting } = this.#sql
      .exec<{ waiting: number }>("SELECT count(*) AS waiting FROM server WHERE generation = -1 AND entry IS NOT NULL")
      .one();
    return { ...this.#builder.state(), waiting };
  }

  async tryStorage(): Promise<void> {
    await this.ctx.storage.put("tried", Date.now());
  }

  /** Brings an isolate's copy up to date. */
  async sync(root: DirectoryState | undefined, since?: number): Promise<SyncAnswer> {
    const answer = this.#builder.sync(root, since);
    // The first question, or one after the storage was set back: there may be nothing in KV yet.
    this.#buildWithin(0);
    return answer;
  }

  /**
   * True if a tenant has or had a server. Checked before a request from outside the tenant wakes the tenant's object.
   */
  async knows(tenant: TenantKey): Promise<boolean> {
    return this.#sql.exec("SELECT 1 FROM server WHERE tenant = ? LIMIT 1", tenant).toArray().length > 0;
  }

  async list(query: DirectoryQuery): Promise<{ generation: number; entries: DirectoryEntry[] }> {
    const { tenants, onlyPublic, after, limit } = query;
    const owned = tenants === "all" ? "1" : "tenant IN (SELECT value FROM json_each(?4))";
    const visible = onlyPublic ? `public = 1 AND ${owned}` : owned;
    const rows = this.#sql.exec<Row>(
      `SELECT entry FROM server WHERE entry IS NOT NULL AND (tenant, name) > (?1, ?2) AND ${visible}
       ORDER BY tenant, name LIMIT ?3`,
      ...[after.tenant, after.name, limit],
      ...(tenants === "all" ? [] : [JSON.stringify(tenants)]),
    );
    const entries = rows.toArray().map(({ entry }): DirectoryEntry => {
      const { probe: _, attributes: __, ...listed } = readJson(entry) as CatalogEntry;
      return listed;
    });
    return { generation: this.#generation(), entries };
  }

  /** A page of the catalogue, or only the generation if the caller already has the result of this generation. */
  async catalog(question: DirectoryCatalogQuery): Promise<CatalogAnswer | (DirectoryAsOf & { known: true })> {
    const asOf = this.#asOf(question.caller);
    if (question.known === asOf.generation) return { ...asOf, known: true };
    return { ...asOf, ...selectServers([this.#servers.sourceFor(question.caller)], question) };
  }

  /** What a caller sees beside everything public. */
  async privateServers(tenants: readonly TenantKey[]): Promise<PrivateServers> {
    return { ...this.#asOf(tenants), entries: this.#servers.privateEntries(tenants, maxPrivateServers) };
  }

  /** Cards of public servers, best match first. */
  async find(query: CardQuery & TenantFilter): Promise<FoundCards<PublicCard<RankedCard>> & DirectoryState> {
    const at = { index: this.#index, vectors: await wordVectors(this.env.ASSETS), generation: this.#generation() };
    await this.#index.prepare(this.#sql, at.generation);
    const found = findPublicCards(this.#sql, query, at);
    objectIndexes.used(this.#index, maxLent * this.#config.cacheBytes);
    return { ...this.#builder.state(), ...found };
  }

  /** Cards of public servers by id; several tenants may use the same id. */
  async cards(ids: readonly string[], whose: TenantFilter = {}): Promise<{ generation: number; cards: PublicCard[] }> {
    return { generation: this.#generation(), cards: publicCards(this.#sql, ids, whose) };
  }

  /** Versions of public servers, ordered by name and version. */
  async listVersions(query: VersionQuery): Promise<VersionsAsOf> {
    return { ...this.#builder.state(), versions: findVersions(this.#sql, query) };
  }

  async versionsOf(server: ServerRef, includeDeleted: boolean): Promise<VersionsAsOf> {
    return { ...this.#builder.state(), versions: versionsOf(this.#sql, server, includeDeleted) };
  }

  async versionNamed(server: ServerRef, version: string, includeDeleted: boolean): Promise<VersionsAsOf> {
    return { ...this.#builder.state(), versions: versionNamed(this.#sql, server, version, includeDeleted) };
  }

  async claimRemotes(server: ServerRef, urls: readonly string[]): Promise<TakenRemote | undefined> {
    this.#requireKnown();
    return this.#storage.transactionSync(() => claimRemotes(this.#sql, fullName(server), urls, Date.now()));
  }

  async releaseClaims(server: ServerRef, urls: readonly string[]): Promise<void> {
    if (!this.#isNewer) releaseClaims(this.#sql, fullName(server), urls);
  }

  /** `isPublic` if anything public changed. */
  #applyChange(change: DirectoryChange): { verdict: "changed" | "known" | "outdated"; isPublic: boolean } {
    const { tenant, name, generation, versions } = change;
    const listed = "visibility" in change ? entryOf(change) : undefined;
    const items = "visibility" in change ? change.items : undefined;
    const isPublic = listed?.visibility === "public";
    const concernsPublic = isPublic || this.#isPublic(change);
    const next = this.#meta("public_generation") + 1;
    // The same generation may come with a different entry, after the tenant's code was upgraded to send more fields.
    const moved = this.#sql.exec(
      `INSERT INTO server (tenant, name, generation, public, entry, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (tenant, name) DO UPDATE SET generation = ?3, public = ?4, entry = ?5, changed = max(changed, ?6)
       WHERE generation < ?3 OR (generation = ?3 AND entry IS NOT ?5)`,
      ...[tenant, name, generation, isPublic ? 1 : 0, listed === undefined ? null : JSON.stringify(listed)],
      concernsPublic ? next : 0,
    ).rowsWritten;
    if (moved === 0 && this.#knownGeneration(tenant, name) > generation)
      return { verdict: "outdated", isPublic: false };
    if (moved > 0) this.#servers.put({ tenant, name }, listed);
    if (!isPublic && moved > 0) dropItems(this.#sql, change);
    if (isPublic && items !== undefined) applyItems(this.#sql, change, items);
    if (listed !== undefined && !isPublic && moved > 0) dropVersions(this.#sql, change);
    if (!("visibility" in change)) {
      deleteDerived(this.#sql, change, generation, change.endedAt ?? new Date().toISOString());
    }
    if (versions !== undefined) applyVersions(this.#sql, change, versions.changed);
    if (isPublic && versions !== undefined) replaceDerived(this.#sql, change, versions.derived);
    const hasItems = isPublic && items !== undefined && items.changed.length > 0;
    const hasVersions = versions !== undefined && versions.changed.length > 0;
    // A later batch of the same generation: the row of the server is as it was.
    if (moved === 0 && (hasItems || hasVersions)) {
      this.#sql.exec("UPDATE server SET changed = ? WHERE tenant = ? AND name = ?", next, tenant, name);
    }
    return {
      verdict: moved > 0 || (items !== undefined && items.changed.length > 0) ? "changed" : "known",
      isPublic: (moved > 0 && concernsPublic) || hasItems || hasVersions,
    };
  }

  /** Call before a write. */
  #requireKnown(): void {
    if (this.#isNewer) throw new Error(newerDataError);
  }

  /** What is in memory of the tables is not undone with them. */
  #transact<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work);
    } catch (cause) {
      this.#servers.clear();
      throw cause;
    }
  }

  /** A caller without tenants sees only what is public. */
  #asOf(caller: CatalogCaller): DirectoryAsOf {
    const directory = this.#builder.state();
    const seesAll = caller === "admin" || caller.length > 0;
    return { generation: seesAll ? this.#generation() : directory.generation, directory };
  }

  /** True if anything of a server is public: what it has, or versions of one that was deleted. */
  #isPublic(server: ServerRef): boolean {
    const row = "SELECT 1 FROM server WHERE tenant = ? AND name = ? AND public = 1";
    return this.#sql.exec(row, server.tenant, server.name).toArray().length > 0 || hasVersions(this.#sql, server);
  }

  #knownGeneration(tenant: TenantKey, name: string): number {
    return Number(
      this.#sql.exec("SELECT generation FROM server WHERE tenant = ? AND name = ?", tenant, name).one().generation,
    );
  }

  #generation(): number {
    return this.#meta("generation");
  }

  #meta(key: "generation" | "public_generation"): number {
    return Number(this.#sql.exec("SELECT value FROM meta WHERE key = ?", key).one().value);
  }

  #raise(key: "generation" | "public_generation"): void {
    this.#sql.exec("UPDATE meta SET value = value + 1 WHERE key = ?", key);
  }
}
