import type { ListName } from "../formats/mcp/describe-item.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { createWorkerPace } from "../kernel/platform/worker-pace.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { Semaphore } from "../kernel/semaphore.ts";
import { itemKey } from "../manifest/diff.ts";
import { intakeSteps } from "../manifest/intake/intake.ts";
import { prepareManifest } from "../manifest/prepare.ts";
import { sections } from "../manifest/schema/manifest.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import type { Refreshed, RefreshSkipped, RememberedEra } from "../registry/contract.ts";
import { appendChanges, generationOf, recordChanges } from "../registry/sql/change-log.ts";
import { countBesideSources, itemsOfSources, syncHidden } from "../registry/sql/hidden-items.ts";
import { currentTokens } from "../registry/sql/items.ts";
import { cancelTask, finishTask, putOffTask } from "../registry/sql/outbox-table.ts";
import type { StagedPublish } from "../registry/sql/publish/stage.ts";
import { publish } from "../registry/sql/publish.ts";
import { bumpOverlay, findLive } from "../registry/sql/servers.ts";
import { readCopy, writeCopy } from "../registry/sql/source-copies.ts";
import {
  type ReadableSource,
  readableRows,
  recordProbe,
  type SourceRow,
  serversToLookAt,
  stopLooks,
} from "../registry/sql/source-rows.ts";
import { stateOfRow } from "../registry/sql/status.ts";
import { introspectSource } from "./introspect.ts";
import { copyOf, type Offer, offersOf, type PreparedOffer, publishOf } from "./offers.ts";
import { ReadingPlaces } from "./reading-places.ts";
import {
  failuresOf,
  hasVanished,
  msUntilNextRefresh,
  type Notes,
  noNotes,
  notesOn,
  offeredItems,
  probeResultOf,
  type SourceRead,
  undeclared,
  unpublishable,
  withoutOffers,
} from "./refresh-outcome.ts";
import type { RefresherOptions } from "./refresher-options.ts";
import { nextRefreshMs, probeState } from "./schedule.ts";
import { type ReadSource, sourceManifest } from "./source-manifest.ts";
import { recordUnchanged } from "./unchanged-look.ts";

/** A refresh that offers more items is costly. */
const heavyItems = 2_000;

/** Of the sources that failed last time, or gave up their place. */
const slowAtOnce = 2;
const tries = 3;

/**
 * Reads the sources of servers and publishes what they offer. Reading happens outside the tenant's transactions, so
 * other writes may come in between: a result is stored only if the sources are still configured as they were when
 * reading began.
 */
export class Refresher {
  readonly #options: RefresherOptions;
  readonly #places = new ReadingPlaces();
  readonly #slow = new Semaphore(slowAtOnce);
  readonly #running = new Map<string, Promise<Refreshed | RefreshSkipped>>();
  readonly #next = new Map<string, Promise<Refreshed | RefreshSkipped>>();

  constructor(options: RefresherOptions) {
    this.#options = options;
  }

  /** Refreshes all servers that are due. Never throws: the outbox already has the next attempt of each. */
  async runDue(now: number): Promise<void> {
    const { sql } = this.#options;
    const asked = sql
      .exec<{ subject: string }>(
        "SELECT subject FROM outbox WHERE task = 'refresh' AND due_at <= ? ORDER BY due_at LIMIT 100",
        now,
      )
      .toArray();
    const due = new Set([...asked.map(({ subject }) => subject), ...serversToLookAt(sql, now)]);
    const refreshOne = (server: string) =>
      this.refreshShared(server).catch((cause) => {
        console.error(JSON.stringify({ event: "refresh", server, cause: String(cause) }));
      });
    await Promise.all([...due].map(refreshOne));
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
    const live = findLive(sql, server);
    // A withdrawn server keeps its last content; a refresh is enqueued when it is offered again.
    const isRead = live !== undefined && stateOfRow(live).status !== "withdrawn";
    const rows = isRead ? readableRows(sql, server) : [];
    if (rows.length === 0) {
      cancelTask(sql, "refresh", server);
      stopLooks(sql, server);
      return "no-sources";
    }
    const asked = this.#putOff(server);
    const reads = await Promise.all(rows.map((row) => this.#inTurn(row)));
    const put = await this.#storeInTurn(server, reads);
    // It stays due, and is looked at again a minute later.
    if (put === "busy") return put;
    // Unless it was asked for again meanwhile: this reading may be older than what is told of.
    if (put !== "superseded") finishTask(sql, "refresh", server, asked);
    if (put !== "superseded" || attempt === tries) return put;
    return this.#refreshOnce(server, attempt + 1);
  }

  /** What many items were offered needs a place: preparing them is what costs. */
  async #storeInTurn(server: string, reads: SourceRead[]): Promise<Refreshed | "superseded" | "busy"> {
    if (offeredItems(reads) <= heavyItems) return this.#store(server, reads);
    const leave = await this.#options.enter();
    if (leave === undefined) return "busy";
    try {
      return await this.#store(server, reads);
    } finally {
      leave();
    }
  }

  /**
   * A source that failed last time may hang until its time is up: those have two places of their own, so that they hold
   * up nobody but each other. There a source that gave up its place is asked again, with all the time there is.
   */
  async #inTurn(row: SourceRow): Promise<SourceRead> {
    const read =
      row.state === "live" || row.state === "pending"
        ? await this.#places.run((hurry) => this.#read(row, hurry))
        : "gave-up";
    return read === "gave-up" ? this.#slow.run(() => this.#read(row)) : read;
  }

  async #read(row: SourceRow, hurry?: AbortSignal): Promise<SourceRead> {
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
    return { source, row, read: await introspectSource(request, { fetch, now: Date.now, hurry }) };
  }

  /**
   * A request for a refresh stays until the refresh is done, so that a crash does not lose it; an alarm meanwhile must not
   * find it due. Returns its version, 0 if there is none.
   */
  #putOff(server: string): number {
    const dueAt = Date.now() + nextRefreshMs({ ok: false, failures: 2 }, Math.random());
    return putOffTask(this.#options.sql, "refresh", server, dueAt);
  }

  async #store(server: string, reads: SourceRead[]): Promise<Refreshed | "superseded"> {
    let current = reads;
    // Sources of which not even the last copy can be published.
    const without = new Set<string>();
    const leaveOut = (ids: readonly string[], why: string | undefined) => {
      for (const { source, read } of current) if (!read.ok && ids.includes(source.id)) without.add(source.id);
      current = withoutOffers(current, ids, why);
    };
    // Each round leaves out a source of which nothing can be published; its last copy takes its place.
    const fromCopies = !reads.some(({ read }) => read.ok) && this.#lacksCopied(server, reads);
    const hasNews = (some: SourceRead[]) => fromCopies || some.some(({ read }) => read.ok);
    for (let round = 0; round <= 2 * reads.length && hasNews(current); round += 1) {
      const prepared = await this.#prepare(server, current, without);
      if (!prepared.ok) return this.#storeProbesOnly(server, unpublishable(current, prepared.error));
      const { offer, refused, why, reads: known } = prepared.value;
      if (!hasNews(known)) return this.#storeProbesOnly(server, known);
      if (refused.length > 0) {
        leaveOut(refused, why);
        continue;
      }
      const unchanged = await this.#recordUnchanged(server, known, prepared.value);
      if (unchanged !== undefined) return unchanged;
      const written = await this.#writeManifest(server, known, offer, prepared.value.notes);
      if (written.ok) return written.value;
      const { code, details, message } = written.error;
      if (code === "ErrorMCPServerNotFound") return "superseded";
      if (!Array.isArray(details?.sources)) return this.#storeProbesOnly(server, unpublishable(current, written.error));
      leaveOut(details.sources, details.issues?.[0]?.message ?? message);
    }
    return this.#storeProbesOnly(server, current);
  }

  /**
   * True if a copy has an item that is not published: another source had its URI, and was removed or moved while this
   * one cannot be read.
   */
  #lacksCopied(server: string, reads: SourceRead[]): boolean {
    const { sql } = this.#options;
    const sources = reads.flatMap(({ source: { id, url } }): ReadSource[] => {
      const copy = readCopy(sql, server, id);
      return copy === undefined
        ? []
        : [{ id, url: copy.address, copy, offer: copy.offer, isFormer: copy.address !== url }];
    });
    const published = new Map(
      sources.map(({ id }) => [id, new Set(itemsOfSources(sql, server, [id]).map(itemKey))] as const),
    );
    const hidden = new Set(sources.filter(({ isFormer }) => isFormer === true).map(({ id }) => id));
    const { manifest, offers } = sourceManifest(server, sources);
    return [...offers].some(([path, { source, list }]) => {
      const { kind, key } = sections[list];
      const item = (manifest[list] as Record<string, unknown>[])[Number(path.slice(`/${list}/`.length))] ?? {};
      return !hidden.has(source) && published.get(source)?.has(itemKey({ kind, key: key(item) })) !== true;
    });
  }

  /** Stores only the state of the sources: none could be read, or the manifest cannot be published. */
  async #storeProbesOnly(server: string, reads: SourceRead[]): Promise<Refreshed | "superseded"> {
    const written = await this.#writeManifest(server, reads, undefined, noNotes);
    return written.ok ? written.value : "superseded";
  }

  /** undefined if there is more to do than to note the time. */
  async #recordUnchanged(
    server: string,
    reads: SourceRead[],
    { offer, notes }: Pick<PreparedOffer, "offer" | "notes">,
  ): Promise<Refreshed | undefined> {
    const { sql, writeQuietly } = this.#options;
    if (notes.warnings.length > 0 || notes.details.length > 0) return undefined;
    return writeQuietly((at) => recordUnchanged(sql, server, { reads, copies: offer.copies }, at));
  }

  async #writeManifest(
    server: string,
    reads: SourceRead[],
    offer: Offer | undefined,
    notes: Notes,
  ): Promise<Result<Refreshed, Failure>> {
    const work = (at: string, staged?: StagedPublish | "if-large") =>
      this.#record(server, reads, offer, notes, at, staged);
    const { write, publish: publishOffer } = this.#options;
    const written = await (offer === undefined
      ? write(server, (at) => work(at))
      : publishOffer(publishOf(server, offer), work));
    return written.ok ? ok({ ...written.value, failures: failuresOf(reads) }) : written;
  }

  /** Publishes the manifest and stores the state of each source, in one transaction. */
  #record(
    server: string,
    reads: SourceRead[],
    offer: Offer | undefined,
    notes: Notes,
    at: string,
    staged?: StagedPublish | "if-large",
  ): Result<Omit<Refreshed, "head" | "failures">, Failure> {
    const { sql, context } = this.#options;
    const configs = JSON.stringify(readableRows(sql, server).map(({ config }) => config));
    const isSame = configs === JSON.stringify(reads.map(({ row }) => row.config));
    // The server was deleted or its sources were reconfigured during the read: the result is outdated.
    if (findLive(sql, server) === undefined || !isSame) return err(failure("ErrorMCPServerNotFound"));
    const before = generationOf(sql);
    let outcome: Refreshed["outcome"] = "failed";
    let { warnings, details } = notes;
    if (offer !== undefined) {
      const { last_synced: lastSynced = null } = findLive(sql, server) ?? {};
      const published = publish(context, { ...publishOf(server, offer), at }, staged);
      if (!published.ok) return published;
      const isRead = reads.some(({ read }) => read.ok);
      // Published from copies alone: nothing is newer than it was.
      if (!isRead) sql.exec("UPDATE server SET last_synced = ? WHERE name = ?", lastSynced, server);
      const unchanged = isRead ? "unchanged" : "failed";
      outcome = published.value.outcome === "unchanged" ? unchanged : "applied";
      const left = notesOn(published.value.rejected);
      warnings = [...warnings, ...left.warnings];
      details = [...details, ...left.details];
      for (const { source, address, copy } of offer.copies) writeCopy(sql, { server, source, address }, copy, at);
    }
    const when = { at, nextAt: Date.parse(at) + msUntilNextRefresh(reads) };
    const changedSources = reads.filter(({ row, read }, index) =>
      recordProbe(sql, row, probeResultOf(row.id, read, index === 0 ? { warnings, details } : noNotes), when),
    );
    if (changedSources.length > 0) this.#logStatus(server, changedSources, at, before);
    syncHidden(context, server);
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

  async #prepare(
    server: string,
    reads: SourceRead[],
    without: ReadonlySet<string>,
  ): Promise<Result<PreparedOffer, Failure>> {
    const { sql, bounds } = this.#options;
    const copies = new Map(reads.map(({ source: { id } }) => [id, readCopy(sql, server, id)]));
    const copyHere = ({ id, url }: ReadableSource) => {
      const copy = copies.get(id);
      return copy?.address === url ? copy : undefined;
    };
    const known = reads.map((one) => (hasVanished(one.read, copyHere(one.source)) ? undeclared(one) : one));
    const most = bounds.capabilities - countBesideSources(sql, server);
    const published = known.filter(({ source, read }) => read.ok || !without.has(source.id));
    const sources = offersOf(published, copies, most);
    const { manifest: value, offers, names, warnings } = sourceManifest(server, sources);
    const pace = createWorkerPace();
    const intake = await pace.run(intakeSteps({ value, issues: [] }));
    if (!intake.ok) return intake;
    const prepared = await prepareManifest(intake.value, {
      server,
      partial: true,
      bounds,
      knownTokens: async () => currentTokens(sql, server),
      charactersBeforeLookup: 0,
      loadTokenizer,
      pace,
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
    const owners = manifest.capabilities.map(({ path }) => offers.get(path)?.source ?? "");
    const refused = [...new Set([...offers.values()].map(({ source }) => source))].filter((id) => !owners.includes(id));
    const bad = new Set(rejected.map(({ path }) => refusalKey(offers.get(path))));
    const isRead = new Set(known.flatMap(({ source, read }) => (read.ok ? [source.id] : [])));
    const newCopies = sources.flatMap(({ id, url, offer }) => {
      if (!isRead.has(id)) return [];
      const isRefused = (list: ListName, own: string) => bad.has(refusalKey({ source: id, list, own }));
      return [{ source: id, address: url, copy: copyOf(offer, names.get(id) ?? {}, isRefused) }];
    });
    const left = notesOn(rejected);
    return ok({
      ...{ reads: known, offer: { manifest, sources: owners, copies: newCopies }, refused },
      why: rejected[0]?.issues[0]?.message,
      notes: { warnings: [...told, ...warnings, ...left.warnings], details: left.details },
    });
  }
}

function refusalKey(place: { source: string; list: ListName; own: string } | undefined): string {
  return place === undefined ? "" : JSON.stringify([place.source, place.list, place.own]);
}
