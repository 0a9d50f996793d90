import type { Bounds } from "../kernel/bounds.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { Semaphore } from "../kernel/semaphore.ts";
import { type PreparedManifest, prepareManifest, withoutCollidingIds } from "../manifest/prepare.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import type { Head, PublishRequest, Refreshed, RefreshSkipped, RememberedEra } from "../registry/contract.ts";
import { appendChanges, generationOf, recordChanges, tenantOf } from "../registry/sql/change-log.ts";
import { currentTokens } from "../registry/sql/items.ts";
import type { WriteContext } from "../registry/sql/listener.ts";
import { cancelTask, enqueueTask } from "../registry/sql/outbox-table.ts";
import { publish } from "../registry/sql/publish.ts";
import { storedManifest } from "../registry/sql/revisions.ts";
import { bumpOverlay, findLive } from "../registry/sql/servers.ts";
import { type ReadableSource, recordProbe, type SourceRow, sourceRows } from "../registry/sql/source-rows.ts";
import { introspectSource } from "./introspect.ts";
import { fillFromLast, lastReading } from "./last-reading.ts";
import {
  failuresOf,
  msUntilNextRefresh,
  probeResultOf,
  rejectionDetail,
  rejectionText,
  type SourceRead,
  unpublishable,
} from "./refresh-outcome.ts";
import { nextRefreshMs, probeState } from "./schedule.ts";
import { type ReadSource, sourceManifest } from "./source-manifest.ts";
import { isPlainName } from "./source-words.ts";

interface RefresherOptions {
  sql: SqlStorage;
  context: WriteContext;
  bounds: Bounds;
  /** Must check addresses: publishers choose the URLs. */
  fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** Headers that authenticate the registry at a source; empty if the source needs none. */
  credentials: (source: ReadableSource) => Record<string, string>;
  /** True if requests to this URL are forbidden. */
  isBlockedUrl: (url: string) => boolean;
  /** Fields of the manifest that sources must not override. */
  fixedFields: (server: string) => Record<string, unknown>;
  write: <T extends { generation: number }>(
    server: string,
    work: (at: string) => Result<T, Failure>,
  ) => Promise<Result<T & { head: Head }, Failure>>;
}

/** What a refresh has to say about the items, besides publishing them. */
interface Notes {
  /** For every reader of the server. */
  warnings: string[];
  /** For members of the tenant: may quote the source. */
  details: string[];
}

/** Sources read in parallel, over all servers; each needs several connections, and a Worker may have six. */
const atOnce = 4;
const tries = 3;

/**
 * Reads the sources of servers and publishes what they offer. Reading happens outside the tenant's transactions, so
 * other writes may come in between: a result is stored only if the sources are still configured as they were when
 * reading began.
 */
export class Refresher {
  readonly #options: RefresherOptions;
  readonly #semaphore = new Semaphore(atOnce);
  readonly #running = new Map<string, Promise<Refreshed | RefreshSkipped>>();
  readonly #next = new Map<string, Promise<Refreshed | RefreshSkipped>>();

  constructor(options: RefresherOptions) {
    this.#options = options;
  }

  /** Refreshes all servers that are due. Never throws: the outbox already has the next attempt of each. */
  async runDue(now: number): Promise<void> {
    const due = this.#options.sql
      .exec<{ subject: string }>(
        "SELECT subject FROM outbox WHERE task = 'refresh' AND due_at <= ? ORDER BY due_at LIMIT 100",
        now,
      )
      .toArray();
    // Reschedule first: an alarm that fires meanwhile must not find the same servers due.
    for (const { subject } of due) this.#reschedule(subject);
    const refreshOne = ({ subject }: { subject: string }) =>
      this.refreshShared(subject).catch((cause) => {
        console.error(JSON.stringify({ event: "refresh", server: subject, cause: String(cause) }));
      });
    await Promise.all(due.map(refreshOne));
  }

  /** Joins a running refresh or starts one. Enough for a caller that knows of no recent change. */
  refreshShared(server: string): Promise<Refreshed | RefreshSkipped> {
    return this.#running.get(server) ?? this.#start(server);
  }

  /**
   * Waits for a refresh that starts after this call, for a caller that knows of a change: a running refresh may have
   * read the source before the change. All callers that wait meanwhile share the next refresh.
   */
  refreshNew(server: string): Promise<Refreshed | RefreshSkipped> {
    const running = this.#running.get(server);
    if (running === undefined) return this.#start(server);
    const known = this.#next.get(server);
    if (known !== undefined) return known;
    const next = running
      .catch(() => {})
      .then(() => {
        this.#next.delete(server);
        return this.refreshShared(server);
      });
    this.#next.set(server, next);
    return next;
  }

  #start(server: string): Promise<Refreshed | RefreshSkipped> {
    const started = this.#refreshOnce(server).finally(() => this.#running.delete(server));
    this.#running.set(server, started);
    return started;
  }

  async #refreshOnce(server: string, attempt = 1): Promise<Refreshed | RefreshSkipped> {
    const { sql } = this.#options;
    const rows = findLive(sql, server) === undefined ? [] : sourceRows(sql, server);
    if (rows.length === 0) {
      cancelTask(sql, "refresh", server);
      return "no-sources";
    }
    // Scheduled before the first request, so that a retry follows whatever happens.
    this.#reschedule(server);
    const reads = await Promise.all(rows.map((row) => this.#semaphore.run(() => this.#read(row))));
    const put = await this.#store(server, reads);
    if (put !== "superseded" || attempt === tries) return put;
    return this.#refreshOnce(server, attempt + 1);
  }

  async #read(row: SourceRow): Promise<SourceRead> {
    const { fetch, credentials, isBlockedUrl } = this.#options;
    const source = JSON.parse(row.config) as ReadableSource;
    // Check the URL as configured, before a parser normalizes it.
    if (isBlockedUrl(source.url)) {
      return { source, row, read: err({ reason: "refused", message: "Its address is not one that may be asked" }) };
    }
    const remembered = row.remembered === null ? undefined : (JSON.parse(row.remembered) as RememberedEra);
    const request = { ...source, headers: credentials(source), remembered: remembered || undefined };
    return { source, row, read: await introspectSource(request, { fetch, now: Date.now }) };
  }

  #reschedule(server: string): void {
    enqueueTask(
      this.#options.sql,
      "refresh",
      server,
      Date.now() + nextRefreshMs({ ok: false, failures: 2 }, Math.random()),
    );
  }

  async #store(server: string, reads: SourceRead[]): Promise<Refreshed | "superseded"> {
    const prepared = reads.some(({ read }) => read.ok) ? await this.#prepare(server, reads) : undefined;
    if (prepared === undefined) return this.#storeProbesOnly(server, reads);
    if (!prepared.ok) return this.#storeProbesOnly(server, unpublishable(reads, prepared.error));
    let { manifest } = prepared.value;
    for (let attempt = 1; ; attempt += 1) {
      const { rejected, ...accepted } = manifest;
      const notes = {
        warnings: [...prepared.value.warnings, ...rejected.map(rejectionText)],
        details: rejected.filter(({ name }) => !isPlainName(name)).map(rejectionDetail),
      };
      const written = await this.#writeManifest(server, reads, accepted, notes);
      if (written.ok) return written.value;
      const { code, details } = written.error;
      if (code === "ErrorMCPServerNotFound") return "superseded";
      if (code !== "ErrorCapabilityCollision" || attempt === tries) {
        return this.#storeProbesOnly(server, unpublishable(reads, written.error));
      }
      manifest = await withoutCollidingIds(manifest, details?.collisions ?? []);
    }
  }

  /** Stores only the state of the sources: none could be read, or the manifest cannot be published. */
  async #storeProbesOnly(server: string, reads: SourceRead[]): Promise<Refreshed | "superseded"> {
    const written = await this.#writeManifest(server, reads, undefined, { warnings: [], details: [] });
    return written.ok ? written.value : "superseded";
  }

  async #writeManifest(
    server: string,
    reads: SourceRead[],
    manifest: Omit<PreparedManifest, "rejected"> | undefined,
    notes: Notes,
  ): Promise<Result<Refreshed, Failure>> {
    const { warnings } = notes;
    const written = await this.#options.write(server, (at) => this.#record(server, reads, manifest, notes, at));
    return written.ok ? ok({ ...written.value, failures: failuresOf(reads), warnings }) : written;
  }

  /** Publishes the manifest and stores the state of each source, in one transaction. */
  #record(
    server: string,
    reads: SourceRead[],
    manifest: Omit<PreparedManifest, "rejected"> | undefined,
    { warnings, details }: Notes,
    at: string,
  ): Result<Omit<Refreshed, "head" | "failures" | "warnings">, Failure> {
    const { sql, context } = this.#options;
    const configs = JSON.stringify(sourceRows(sql, server).map(({ config }) => config));
    const isSame = configs === JSON.stringify(reads.map(({ row }) => row.config));
    // The server was deleted or its sources were reconfigured during the read: the result is outdated.
    if (findLive(sql, server) === undefined || !isSame) return err(failure("ErrorMCPServerNotFound"));
    const before = generationOf(sql);
    let outcome: Refreshed["outcome"] = "failed";
    if (manifest !== undefined) {
      const request: PublishRequest = {
        ...{ name: server, subject: "introspection", at, manifest },
        isFirstIntrospection: true,
      };
      const published = publish(context, tenantOf(sql), request);
      if (!published.ok) return published;
      outcome = published.value.outcome === "unchanged" ? "unchanged" : "applied";
    }
    const changedSources = reads.filter(({ row, read }, index) =>
      recordProbe(
        sql,
        row,
        index === 0 ? probeResultOf(row.id, read, warnings, details) : probeResultOf(row.id, read, [], []),
        at,
      ),
    );
    if (changedSources.length > 0) this.#logStatus(server, changedSources, at, before);
    enqueueTask(sql, "refresh", server, Date.now() + msUntilNextRefresh(reads));
    const row = findLive(sql, server);
    const digest = row?.digest ?? undefined;
    return ok({ outcome, generation: row?.generation ?? before, digest });
  }

  /** Logs a changed state of sources as a change of the server, in the generation of the publish if there was one. */
  #logStatus(server: string, changedSources: SourceRead[], at: string, before: number): void {
    const { sql, bounds } = this.#options;
    const reasons = changedSources.map(({ row, read }) => {
      const found = read.ok ? "live" : `${probeState(read.error.reason)} (${read.error.reason})`;
      return { path: `/sources/${row.id}`, classification: "cosmetic" as const, message: `source is ${found}` };
    });
    const change = { kind: "server" as const, key: server, classification: "cosmetic" as const, reasons };
    const present = generationOf(sql);
    if (present > before) appendChanges(sql, server, at, [change], present);
    const generation = present > before ? present : recordChanges(sql, server, at, [change], bounds.changes).generation;
    bumpOverlay(sql, server, generation, at);
  }

  async #prepare(
    server: string,
    reads: SourceRead[],
  ): Promise<Result<{ manifest: PreparedManifest; warnings: string[] }, Failure>> {
    const { sql, bounds, fixedFields } = this.#options;
    // The published manifest is large; read it only if a source failed or is incomplete.
    let stored: StoredManifest | undefined;
    const last = () => {
      stored ??= storedManifest(sql, server);
      return stored;
    };
    const sources = reads.flatMap(({ source, read }, index): ReadSource[] => {
      if (read.ok && read.value.incomplete.length === 0) return [{ ...source, reading: read.value }];
      const manifest = last();
      const before = manifest === undefined ? undefined : lastReading(manifest, source.url, index === 0);
      if (!read.ok) return before === undefined ? [] : [{ ...source, reading: before }];
      const reading = before === undefined ? read.value : fillFromLast(read.value, read.value.incomplete, before);
      return [{ ...source, reading }];
    });
    const { manifest, warnings } = sourceManifest(server, sources);
    // Fields published as server.json take precedence over those of the sources.
    const whole = { ...manifest, ...fixedFields(server) };
    const prepared = await prepareManifest(whole, {
      server,
      partial: true,
      bounds,
      documentIssues: [],
      knownTokens: async () => currentTokens(sql, server),
      charactersBeforeLookup: 0,
      loadTokenizer,
      pause: () => scheduler.wait(0),
    });
    if (!prepared.ok) return prepared;
    // All readers of the server see these warnings; the source's own messages are only for its owner.
    const told = reads.flatMap(({ source, read }) =>
      read.ok
        ? [...new Set(read.value.warnings.map(({ list }) => `${source.id}: not all of its ${list} could be read`))]
        : [],
    );
    return ok({ manifest: prepared.value, warnings: [...told, ...warnings] });
  }
}
