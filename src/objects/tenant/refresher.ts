import type { Bounds } from "../../domain/bounds.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Head } from "../../domain/head.ts";
import { type PreparedManifest, prepareManifest, withoutTakenIds } from "../../domain/prepare.ts";
import type { Result } from "../../domain/result.ts";
import { loadTokenizer } from "../../domain/tokens.ts";
import { lastReading, withLast } from "../../formats/mcp/last-reading.ts";
import { type ReadSource, sourceManifest } from "../../formats/mcp/source-manifest.ts";
import { introspectSource } from "../../sources/introspect.ts";
import type { RememberedEra, SourceFailure, SourceReading } from "../../sources/introspection.ts";
import { probeState } from "../../sources/probe.ts";
import { nextRefreshMs } from "../../sources/refresh-schedule.ts";
import { recordChanges, tenantOf } from "./change-log.ts";
import { owe } from "./outbox.ts";
import { publish } from "./publish.ts";
import { storedManifest } from "./revisions.ts";
import { findLive, touch } from "./servers.ts";
import { noteFinding, type ReadableSource, type SourceFinding, type SourceRow, sourceRows } from "./sources.ts";

/** What became of one look at a server's sources. */
export interface Refreshed {
  outcome: "applied" | "unchanged" | "failed";
  generation: number;
  digest?: string;
  head: Head;
  /** Why each source that could not be read could not. */
  failures: { id: string; reason: string; message: string }[];
  warnings: string[];
}

export interface RefresherOptions {
  sql: SqlStorage;
  bounds: Bounds;
  /** Guarded: it goes to addresses that publishers wrote. */
  fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** Headers with which a source lets the registry in; none where it needs none. */
  credentials: (source: ReadableSource) => Record<string, string>;
  write: <T extends { generation: number }>(
    server: string,
    work: (at: string) => Result<T, Failure>,
  ) => Promise<Result<T & { head: Head }, Failure>>;
}

type Read = { source: ReadableSource; row: SourceRow; read: Result<SourceReading, SourceFailure> };

/** How many sources are read at once; each takes a few connections, and a Worker has six. */
const atOnce = 4;
const tries = 3;

/**
 * Reads the sources of servers and publishes what they offer. Outside the transactions of the tenant: while a source is
 * being read, others write. What was read is put down only if the settings are still those it was read for.
 */
export class Refresher {
  readonly #options: RefresherOptions;
  readonly #running = new Map<string, Promise<Refreshed | undefined>>();

  constructor(options: RefresherOptions) {
    this.#options = options;
  }

  /** All that are due. Never throws: a source that cannot be read has its next try in the outbox. */
  async runDue(now: number): Promise<void> {
    const due = this.#options.sql
      .exec<{ subject: string }>(
        "SELECT subject FROM outbox WHERE task = 'refresh' AND due_at <= ? ORDER BY due_at LIMIT 100",
        now,
      )
      .toArray();
    // Put off first: an alarm that rings meanwhile must not find them due and start them again.
    for (const { subject } of due) this.#putOff(subject);
    await inTurns(due, atOnce, async ({ subject }) => {
      await this.refresh(subject).catch((cause) => {
        console.error(JSON.stringify({ event: "refresh", server: subject, cause: String(cause) }));
      });
    });
  }

  /** One look, shared by all who ask for it meanwhile. Undefined where there is nothing to read. */
  refresh(server: string): Promise<Refreshed | undefined> {
    const running = this.#running.get(server);
    if (running !== undefined) return running;
    const started = this.#look(server).finally(() => this.#running.delete(server));
    this.#running.set(server, started);
    return started;
  }

  async #look(server: string): Promise<Refreshed | undefined> {
    const { sql, fetch, credentials } = this.#options;
    const rows = findLive(sql, server) === undefined ? [] : sourceRows(sql, server);
    if (rows.length === 0) {
      sql.exec("DELETE FROM outbox WHERE task = 'refresh' AND subject = ?", server);
      return undefined;
    }
    // Before anything is asked: whatever happens below, it is tried again.
    this.#putOff(server);
    const asked = rows.map(({ config }) => config);
    const reads: Read[] = [];
    await inTurns(rows, atOnce, async (row) => {
      const source = JSON.parse(row.config) as ReadableSource;
      const remembered = row.remembered === null ? undefined : (JSON.parse(row.remembered) as RememberedEra);
      const request = { ...source, headers: credentials(source), ...(remembered ? { remembered } : {}) };
      reads.push({ source, row, read: await introspectSource(request, { fetch, now: Date.now }) });
    });
    reads.sort((a, b) => rows.indexOf(a.row) - rows.indexOf(b.row));

    const changedMeanwhile =
      findLive(sql, server) === undefined ||
      JSON.stringify(sourceRows(sql, server).map(({ config }) => config)) !== JSON.stringify(asked);
    if (changedMeanwhile) {
      owe(sql, "refresh", server, Date.now());
      return undefined;
    }
    return this.#putDown(server, reads);
  }

  #putOff(server: string): void {
    owe(this.#options.sql, "refresh", server, Date.now() + nextRefreshMs({ ok: false, failures: 2 }, Math.random()));
  }

  async #putDown(server: string, reads: Read[]): Promise<Refreshed> {
    const anyRead = reads.some(({ read }) => read.ok);
    const prepared = anyRead ? await this.#prepare(server, reads) : undefined;
    let manifest = prepared?.manifest;
    for (let attempt = 1; ; attempt += 1) {
      const { rejected = [], ...accepted } = manifest ?? {};
      const warnings = [...(prepared?.warnings ?? []), ...rejected.map(rejectionText)];
      const written = await this.#options.write(server, (at) =>
        this.#record(server, reads, manifest === undefined ? undefined : (accepted as PreparedManifest), warnings, at),
      );
      if (written.ok) return { ...written.value, failures: failuresOf(reads), warnings };
      const { code, details, message } = written.error;
      if (manifest === undefined || code !== "ErrorCapabilityCollision" || attempt === tries) throw new Error(message);
      manifest = await withoutTakenIds(manifest, details?.collisions ?? []);
    }
  }

  /** In one transaction: what the sources offer, and what asking each of them found. */
  #record(
    server: string,
    reads: Read[],
    manifest: Omit<PreparedManifest, "rejected"> | undefined,
    warnings: string[],
    at: string,
  ): Result<Omit<Refreshed, "head" | "failures" | "warnings">, Failure> {
    const { sql, bounds } = this.#options;
    const row = findLive(sql, server);
    if (row === undefined) throw new Error(`${server} is gone`);
    let outcome: Refreshed["outcome"] = "failed";
    if (manifest !== undefined) {
      const request = { name: server, subject: "introspection", at, manifest };
      const published = publish(sql, tenantOf(sql), request, bounds);
      if (!published.ok) return published;
      outcome = published.value.outcome === "unchanged" ? "unchanged" : "applied";
    }
    const moved = reads.filter(({ row: source, read }, index) =>
      noteFinding(sql, source, findingOf(source.id, read, index === 0 ? warnings : []), at),
    );
    if (moved.length > 0) {
      const reasons = moved.map(({ row: source, read }) => {
        const found = read.ok ? "live" : `${probeState(read.error.reason)} (${read.error.reason})`;
        return { path: `/sources/${source.id}`, classification: "cosmetic" as const, message: `source is ${found}` };
      });
      const change = { kind: "server" as const, key: server, classification: "cosmetic" as const, reasons };
      const { generation } = recordChanges(sql, server, at, [change], bounds.changes);
      touch(sql, server, generation, at);
    }
    owe(sql, "refresh", server, Date.now() + untilNext(reads));
    const now = findLive(sql, server);
    const digest = now?.digest ?? undefined;
    const generation = now?.generation ?? row.generation;
    return { ok: true, value: { outcome, generation, ...(digest === undefined ? {} : { digest }) } };
  }

  async #prepare(server: string, reads: Read[]): Promise<{ manifest: PreparedManifest; warnings: string[] }> {
    const { sql, bounds } = this.#options;
    const last = storedManifest(sql, server);
    const sources = reads.flatMap(({ source, read }, index): ReadSource[] => {
      const before = last === undefined ? undefined : lastReading(last, source.url, index === 0);
      if (!read.ok) return before === undefined ? [] : [{ ...source, reading: before }];
      const reading = before === undefined ? read.value : withLast(read.value, read.value.incomplete, before);
      return [{ ...source, reading }];
    });
    const { manifest, warnings } = sourceManifest(server, sources);
    const prepared = await prepareManifest(manifest, {
      server,
      partial: true,
      bounds,
      documentIssues: [],
      knownTokens: new Map((last?.capabilities ?? []).map(({ digest, tokens }) => [digest, tokens])),
      loadTokenizer,
      pause: () => scheduler.wait(0),
    });
    if (!prepared.ok)
      throw new Error(`what the sources of ${server} offer cannot be published: ${prepared.error.message}`);
    const told = reads.flatMap(({ source, read }) =>
      read.ok ? read.value.warnings.map(({ list, message }) => `${source.id}: ${list}: ${message}`) : [],
    );
    return { manifest: prepared.value, warnings: [...told, ...warnings] };
  }
}

function findingOf(id: string, read: Result<SourceReading, SourceFailure>, warnings: string[]): SourceFinding {
  const shown = warnings.slice(0, mostWarnings);
  if (read.ok) return { id, state: "live", remembered: read.value.remembered, warnings: shown };
  const { reason, message } = read.error;
  return { id, state: probeState(reason), error: reason, message, warnings: shown };
}

/** They are part of every head. */
const mostWarnings = 20;

function failuresOf(reads: Read[]): Refreshed["failures"] {
  return reads.flatMap(({ source, read }) =>
    read.ok ? [] : [{ id: source.id, reason: read.error.reason, message: read.error.message }],
  );
}

/** The soonest that any of them wants, but never sooner for a dead one than its patience says. */
function untilNext(reads: Read[]): number {
  return Math.min(
    ...reads.map(({ row, read }) =>
      nextRefreshMs(
        read.ok ? { ok: true, ttlMs: read.value.ttlMs } : { ok: false, failures: row.failures + 1 },
        Math.random(),
      ),
    ),
  );
}

function rejectionText({ name, issues }: { name?: string; issues: { message: string }[] }): string {
  return `${name ?? "an item"} was left out: ${issues[0]?.message}`.slice(0, 300);
}

/** Some at once, the next as soon as one is done. */
async function inTurns<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
}
