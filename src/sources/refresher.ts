import type { Bounds } from "../kernel/bounds.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { Semaphore } from "../kernel/semaphore.ts";
import { sourceOrigin } from "../manifest/compose.ts";
import { readIntake } from "../manifest/intake/intake.ts";
import { type AcceptedManifest, prepareManifest } from "../manifest/prepare.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import type { Head, PublishRequest, Refreshed, RefreshSkipped, RememberedEra } from "../registry/contract.ts";
import { appendChanges, generationOf, recordChanges } from "../registry/sql/change-log.ts";
import { currentTokens } from "../registry/sql/items.ts";
import type { WriteContext } from "../registry/sql/listener.ts";
import { cancelTask, enqueueTask } from "../registry/sql/outbox-table.ts";
import { publish } from "../registry/sql/publish.ts";
import { storedManifest } from "../registry/sql/revisions.ts";
import { bumpOverlay, findLive } from "../registry/sql/servers.ts";
import { type ReadableSource, recordProbe, type SourceRow, sourceRows } from "../registry/sql/source-rows.ts";
import { listNames } from "./contract.ts";
import { introspectSource } from "./introspect.ts";
import { fillFromLast, lastReading } from "./last-reading.ts";
import {
  failuresOf,
  msUntilNextRefresh,
  type Notes,
  noNotes,
  notesOn,
  probeResultOf,
  type SourceRead,
  unpublishable,
  withoutOffers,
} from "./refresh-outcome.ts";
import { nextRefreshMs, probeState } from "./schedule.ts";
import { type ReadSource, sourceManifest } from "./source-manifest.ts";

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
  write: <T extends { generation: number }>(
    server: string,
    work: (at: string) => Result<T, Failure>,
  ) => Promise<Result<T & { head: Head }, Failure>>;
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
    const source = readJson(row.config) as ReadableSource;
    // Check the URL as configured, before a parser normalizes it.
    if (isBlockedUrl(source.url)) {
      return {
        source,
        row,
        read: err({
          reason: "refused",
          message: "The registry will not send requests to this address. Use a public https URL on the default port",
        }),
      };
    }
    const remembered = row.remembered === null ? undefined : (readJson(row.remembered) as RememberedEra);
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
    let current = reads;
    // Each round leaves out a source of which nothing can be published; its last copy takes its place.
    for (let round = 0; round <= reads.length && current.some(({ read }) => read.ok); round += 1) {
      const prepared = await this.#prepare(server, current);
      if (!prepared.ok) return this.#storeProbesOnly(server, unpublishable(current, prepared.error));
      const { offer, refused, why, reads: known } = prepared.value;
      if (!known.some(({ read }) => read.ok)) return this.#storeProbesOnly(server, known);
      if (refused.length > 0) {
        current = withoutOffers(current, refused, why);
        continue;
      }
      const written = await this.#writeManifest(server, known, offer, prepared.value.notes);
      if (written.ok) return written.value;
      const { code, details, message } = written.error;
      if (code === "ErrorMCPServerNotFound") return "superseded";
      if (!Array.isArray(details?.sources)) return this.#storeProbesOnly(server, unpublishable(current, written.error));
      current = withoutOffers(current, details.sources, details.issues?.[0]?.message ?? message);
    }
    return this.#storeProbesOnly(server, current);
  }

  /** Stores only the state of the sources: none could be read, or the manifest cannot be published. */
  async #storeProbesOnly(server: string, reads: SourceRead[]): Promise<Refreshed | "superseded"> {
    const written = await this.#writeManifest(server, reads, undefined, noNotes);
    return written.ok ? written.value : "superseded";
  }

  async #writeManifest(
    server: string,
    reads: SourceRead[],
    offer: Offer | undefined,
    notes: Notes,
  ): Promise<Result<Refreshed, Failure>> {
    const written = await this.#options.write(server, (at) => this.#record(server, reads, offer, notes, at));
    return written.ok ? ok({ ...written.value, failures: failuresOf(reads) }) : written;
  }

  /** Publishes the manifest and stores the state of each source, in one transaction. */
  #record(
    server: string,
    reads: SourceRead[],
    offer: Offer | undefined,
    notes: Notes,
    at: string,
  ): Result<Omit<Refreshed, "head" | "failures">, Failure> {
    const { sql, context } = this.#options;
    const configs = JSON.stringify(sourceRows(sql, server).map(({ config }) => config));
    const isSame = configs === JSON.stringify(reads.map(({ row }) => row.config));
    // The server was deleted or its sources were reconfigured during the read: the result is outdated.
    if (findLive(sql, server) === undefined || !isSame) return err(failure("ErrorMCPServerNotFound"));
    const before = generationOf(sql);
    let outcome: Refreshed["outcome"] = "failed";
    let { warnings, details } = notes;
    if (offer !== undefined) {
      const request: PublishRequest = {
        ...{ name: server, subject: "introspection", at, partial: true, isFirstIntrospection: true },
        ...{ manifest: offer.manifest, placement: { by: "sources", offers: offer.sources } },
      };
      const published = publish(context, request);
      if (!published.ok) return published;
      outcome = published.value.outcome === "unchanged" ? "unchanged" : "applied";
      const left = notesOn(published.value.rejected);
      warnings = [...warnings, ...left.warnings];
      details = [...details, ...left.details];
    }
    const changedSources = reads.filter(({ row, read }, index) =>
      recordProbe(sql, row, probeResultOf(row.id, read, index === 0 ? { warnings, details } : noNotes), at),
    );
    if (changedSources.length > 0) this.#logStatus(server, changedSources, at, before);
    enqueueTask(sql, "refresh", server, Date.now() + msUntilNextRefresh(reads));
    const row = findLive(sql, server);
    const digest = row?.digest ?? undefined;
    return ok({ outcome, generation: row?.generation ?? before, digest, warnings: [...warnings] });
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

  async #prepare(server: string, reads: SourceRead[]): Promise<Result<PreparedOffer, Failure>> {
    const { sql, bounds } = this.#options;
    // The published manifest is large; read it only if a source failed or is incomplete.
    let stored: ReturnType<typeof storedManifest>;
    const lastOf = (id: string, isFirst: boolean): ReadSource["reading"] | undefined => {
      stored ??= storedManifest(sql, server);
      return stored && lastReading(offeredBefore(stored, id), isFirst);
    };
    const known = reads.map((one, index) =>
      hasVanished(one.read, () => lastOf(one.source.id, index === 0)) ? undeclared(one) : one,
    );
    const sources = known.flatMap(({ source, read }, index): ReadSource[] => {
      if (read.ok && read.value.incomplete.length === 0) return [{ ...source, reading: read.value }];
      const before = lastOf(source.id, index === 0);
      if (!read.ok) return before === undefined ? [] : [{ ...source, reading: before }];
      const reading = before === undefined ? read.value : fillFromLast(read.value, read.value.incomplete, before);
      return [{ ...source, reading }];
    });
    const { manifest: value, offers, warnings } = sourceManifest(server, sources);
    const intake = readIntake({ value, issues: [] });
    if (!intake.ok) return intake;
    const prepared = await prepareManifest(intake.value, {
      server,
      partial: true,
      bounds,
      knownTokens: async () => currentTokens(sql, server),
      charactersBeforeLookup: 0,
      loadTokenizer,
      pause: () => scheduler.wait(0),
    });
    if (!prepared.ok) return prepared;
    // Unknown members of a source's items are for its owner to know, not for every reader of the server.
    const { rejected, warnings: _, ...manifest } = prepared.value;
    // All readers of the server see these warnings; the source's own messages are only for its owner.
    const told = known.flatMap(({ source, read }) =>
      read.ok
        ? [...new Set(read.value.warnings.map(({ list }) => `${source.id}: not all of its ${list} could be read`))]
        : [],
    );
    const owners = manifest.capabilities.map(({ path }) => offers.get(path) ?? "");
    const refused = [...new Set(offers.values())].filter((id) => !owners.includes(id));
    const left = notesOn(rejected);
    return ok({
      ...{ reads: known, offer: { manifest, sources: owners }, refused },
      why: rejected[0]?.issues[0]?.message,
      notes: { warnings: [...told, ...warnings, ...left.warnings], details: left.details },
    });
  }
}

/** What sources offer: a manifest, and for each of its items the id of its source. */
interface Offer {
  manifest: AcceptedManifest;
  sources: string[];
}

interface PreparedOffer {
  reads: SourceRead[];
  offer: Offer;
  /** Ids of sources that offer something, all of which was refused, and why. */
  refused: string[];
  why: string | undefined;
  notes: Notes;
}

/** Of the published manifest what one source offered. */
function offeredBefore({ manifest, origins }: NonNullable<ReturnType<typeof storedManifest>>, id: string) {
  const { header, capabilities } = manifest;
  return {
    header: Object.fromEntries(Object.entries(header).filter(([key]) => origins.fromSources.includes(key))),
    capabilities: capabilities.filter((_, at) => origins.of(at) === sourceOrigin(id)),
  };
}

/** A source that announces no list at all, after it offered something, is more likely broken than empty. */
function hasVanished(read: SourceRead["read"], last: () => ReadSource["reading"] | undefined): boolean {
  if (!read.ok || !read.value.declaresNothing) return false;
  const before = last();
  return before !== undefined && listNames.some((list) => before[list].length > 0);
}

function undeclared(one: SourceRead): SourceRead {
  const message = "It declares no capabilities any more; what it offered before is kept";
  return { ...one, read: err({ reason: "undeclared", message }) };
}
