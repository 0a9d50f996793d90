import type { DirectoryState } from "../../http/directory-state.ts";
import { compareServers, type ServerRef, type TenantKey } from "../../kernel/names.ts";
import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { readJson } from "../../kernel/read-json.ts";
import { segmentFormat } from "../columns.ts";
import type { SyncAnswer } from "../contract.ts";
import { encodeSegment, partsOf, placeBytes, type SegmentPlace, targetSegmentBytes } from "../encode-segment.ts";
import { type HeldPlace, HeldPlaces, heldPlace, keptSegments } from "../held-places.ts";
import { chunkKey, type Root, rootKey, segmentKey } from "../root.ts";
import type { Place } from "../rows.ts";

interface BuilderOptions {
  storage: ObjectStorage;
  kv: Pick<KVNamespace, "put" | "delete">;
  now: () => number;
  /** Everything public of a server as it is now; a place without rows if nothing is public. */
  readPlace: (server: ServerRef) => Place;
  /** Servers of which something is public, in order of tenant and name. */
  publicPlaces: () => ServerRef[];
  /** Lets other calls of the object run. */
  pause: () => Promise<unknown>;
}

/** KV may show a root for minutes after it was replaced: what it names stays for this long. */
export const keepDroppedMs = 15 * 60_000;
/** Keys collected in one pass. */
const maxCollected = 50;
/** Beyond these, an isolate is told to load the newest root instead of getting a delta. */
const maxDeltaPlaces = 500;
const maxDeltaBytes = 1024 * 1024;
/** Bytes of a changed place before it is read, for the choice of what to merge. */
const typicalPlaceBytes = 4_000;

interface SegmentRow extends Record<string, SqlStorageValue> {
  id: number;
  bytes: number;
  chunks: number;
}

interface WrittenSegment {
  id: number;
  places: HeldPlace[];
}

/**
 * Writes what is public to KV as immutable segments, and the root that names them. Everything it has to remember is in
 * the tables before KV is written, so it may be killed at any step: the next run drops what was half done and starts from
 * the tables. Nothing waits for it.
 */
export class SegmentBuilder {
  readonly #options: BuilderOptions;
  readonly #sql: SqlStorage;
  #held: HeldPlaces | undefined;
  #newestRoot: Root | undefined;
  #isRunning = false;
  #deltas = new Map<string, Uint8Array>();

  constructor(options: BuilderOptions) {
    this.#options = options;
    this.#sql = options.storage.sql;
  }

  state(): DirectoryState {
    return { epoch: this.#meta("epoch").toString(36), generation: this.#meta("public_generation") };
  }

  /** True if KV does not have the current state. */
  get isBehind(): boolean {
    const generation = this.#meta("public_generation");
    return this.#meta("built") < generation || this.#meta("root") < generation;
  }

  /** Starts anew: every segment is written again under new keys, and every isolate loads them. */
  startEpoch(): void {
    this.#options.storage.transactionSync(() => {
      // Later than any before, also if the clock went back.
      this.#setMeta("epoch", Math.max(this.#options.now(), this.#meta("epoch") + 1));
      this.#setMeta("built", -1);
      this.#setMeta("root", -1);
      this.#dropSegments("state <> 'dropped'");
    });
    this.#held = undefined;
    this.#newestRoot = undefined;
    this.#deltas.clear();
  }

  /** Brings KV up to date. Returns false if it was running already. */
  async build(): Promise<boolean> {
    if (this.#isRunning) return false;
    this.#isRunning = true;
    try {
      const { epoch, generation } = this.state();
      if (this.#meta("built") < generation) await this.#writeChanges(epoch, generation);
      if (this.#meta("root") < this.#meta("built") && this.state().epoch === epoch) await this.#writeRoot();
      return true;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Deletes what no root names any more, after the time in which KV may still show a root that does. */
  async collect(): Promise<void> {
    const { kv, now } = this.#options;
    const due = this.#sql
      .exec<{ id: number; epoch: number; chunks: number }>(
        "SELECT id, epoch, chunks FROM segment WHERE state = 'dropped' AND dropped_at <= ? LIMIT ?",
        now() - keepDroppedMs,
        maxCollected,
      )
      .toArray();
    for (const { id, epoch: number, chunks } of due) {
      const epoch = number.toString(36);
      await kv.delete(segmentKey(epoch, id));
      for (let chunk = 0; chunk < chunks; chunk += 1) await kv.delete(chunkKey(epoch, id, chunk));
      this.#sql.exec("DELETE FROM segment WHERE id = ?", id);
    }
  }

  /** When `collect` has something to do; undefined if never. */
  collectAt(): number | undefined {
    const { at } = this.#sql
      .exec<{ at: number | null }>("SELECT min(dropped_at) AS at FROM segment WHERE state = 'dropped'")
      .one();
    return at === null ? undefined : at + keepDroppedMs;
  }

  /** Answers an isolate: see `SegmentDirectory`. */
  sync(known: DirectoryState | undefined, since = known?.generation ?? 0): SyncAnswer {
    // The caller has seen a later state: this object's storage was set back.
    if (known !== undefined && known.epoch === this.state().epoch && since > this.state().generation) this.startEpoch();
    const state = this.state();
    const root = this.#meta("root") < 0 ? undefined : this.#root();
    if (known === undefined) return { ...state, root };
    const newer = root !== undefined && (root.epoch !== known.epoch || root.generation > known.generation);
    const offered = newer ? { root } : {};
    if (known.epoch !== state.epoch) return { ...state, outdated: true, ...offered };
    if (since === state.generation) return { ...state, ...offered };
    const delta = this.#delta(since, state.generation);
    return delta === undefined ? { ...state, outdated: true, ...offered } : { ...state, delta, ...offered };
  }

  #delta(since: number, generation: number): Uint8Array | undefined {
    const key = `${since} ${generation}`;
    const known = this.#deltas.get(key);
    if (known !== undefined) return known;
    const changed = this.#changedSince(since, maxDeltaPlaces + 1);
    if (changed.length > maxDeltaPlaces) return undefined;
    const places: Place[] = [];
    let bytes = 0;
    for (const server of changed) {
      const place = this.#options.readPlace(server);
      places.push(place);
      bytes += placeBytes(place) + place.versions.reduce((sum, { document }) => sum + 3 * document.length, 0);
      if (bytes > maxDeltaBytes) return undefined;
    }
    const { bytes: delta } = encodeSegment(places, "inline");
    // Isolates ask after the same writes from the same states, so their questions are the same.
    if (this.#deltas.size >= 8) this.#deltas.clear();
    this.#deltas.set(key, delta);
    return delta;
  }

  async #writeChanges(epoch: string, generation: number): Promise<void> {
    // Left by a run that was killed: nothing names them.
    this.#options.storage.transactionSync(() => this.#dropSegments("state = 'writing'"));
    const built = this.#meta("built");
    const live = this.#liveSegments();
    const changed = built < 0 ? this.#options.publicPlaces() : this.#changedSince(built);
    const held = this.#heldPlaces();
    const candidates = live.map(({ id, bytes }) => ({ bytes, liveShare: held.liveShare(id) }));
    const kept = built < 0 ? 0 : keptSegments(candidates, typicalPlaceBytes * changed.length);
    const merged = live.slice(kept);
    const servers = withPlaces(
      changed,
      merged.flatMap(({ id }) => this.#placesOf(id)),
    );
    const written = await this.#writeSegments(epoch, servers, kept > 0);
    this.#options.storage.transactionSync(() => {
      // A rebuild began meanwhile: these segments belong to no root.
      if (this.state().epoch !== epoch) return;
      for (const { id } of merged) this.#dropSegments("id = ?", id);
      for (const { id } of written) this.#sql.exec("UPDATE segment SET state = 'live' WHERE id = ?", id);
      this.#setMeta("built", generation);
      // Every place of a merged segment is in a written one, so only a complete merge leaves any behind.
      this.#held = kept === 0 ? new HeldPlaces() : held;
      for (const { id, places } of written) this.#held.add(id, places);
      this.#newestRoot = undefined;
    });
  }

  /** One segment after the other; each place is read when its turn comes. Tombstones are needed if older segments stay. */
  async #writeSegments(
    epoch: string,
    servers: readonly ServerRef[],
    keepsTombstones: boolean,
  ): Promise<WrittenSegment[]> {
    const written: WrittenSegment[] = [];
    let batch: SegmentPlace[] = [];
    let bytes = 0;
    const flush = async () => {
      if (batch.length === 0) return;
      written.push(await this.#writeSegment(epoch, batch));
      batch = [];
      bytes = 0;
      await this.#options.pause();
    };
    for (const server of servers) {
      const place = this.#options.readPlace(server);
      const isEmpty = place.entry === undefined && place.cards.length === 0 && place.versions.length === 0;
      if (isEmpty && !keepsTombstones) continue;
      for (const part of partsOf(place)) {
        const added = placeBytes(part);
        // Two parts of one place are never in the same segment.
        if (bytes + added > targetSegmentBytes || (part.part ?? 0) > 0) await flush();
        batch.push(part);
        bytes += added;
      }
    }
    await flush();
    return written;
  }

  async #writeSegment(epoch: string, places: readonly SegmentPlace[]): Promise<WrittenSegment> {
    const { kv } = this.#options;
    const { bytes, chunks } = encodeSegment(places, "chunks");
    const held = places.map(heldPlace);
    const { id } = this.#sql
      .exec<{ id: number }>(
        "INSERT INTO segment (epoch, state, bytes, chunks, places) VALUES (?, 'writing', ?, ?, ?) RETURNING id",
        ...[Number.parseInt(epoch, 36), bytes.byteLength, chunks.length, JSON.stringify(held)],
      )
      .one();
    // The documents first: who has the segment may ask for them.
    for (const [chunk, content] of chunks.entries()) await kv.put(chunkKey(epoch, id, chunk), content);
    await kv.put(segmentKey(epoch, id), bytes);
    return { id, places: held };
  }

  async #writeRoot(): Promise<void> {
    const root = this.#root();
    await this.#options.kv.put(rootKey, JSON.stringify(root));
    this.#setMeta("root", root.generation);
  }

  #root(): Root {
    this.#newestRoot ??= {
      epoch: this.state().epoch,
      generation: this.#meta("built"),
      format: segmentFormat,
      segments: this.#liveSegments(),
      frequencies: { ...this.#heldPlaces().frequencies },
    };
    return this.#newestRoot;
  }

  #heldPlaces(): HeldPlaces {
    if (this.#held !== undefined) return this.#held;
    const held = new HeldPlaces();
    for (const { id } of this.#liveSegments()) held.add(id, this.#placesOf(id));
    this.#held = held;
    return held;
  }

  /** Oldest first. */
  #liveSegments(): SegmentRow[] {
    return this.#sql
      .exec<SegmentRow>("SELECT id, bytes, chunks FROM segment WHERE state = 'live' ORDER BY id")
      .toArray();
  }

  #placesOf(id: number): HeldPlace[] {
    const { places } = this.#sql.exec<{ places: string }>("SELECT places FROM segment WHERE id = ?", id).one();
    return readJson(places) as HeldPlace[];
  }

  #dropSegments(which: "state <> 'dropped'" | "state = 'writing'" | "id = ?", ...values: number[]): void {
    const statement = "UPDATE segment SET state = 'dropped', places = '[]', dropped_at = ? WHERE";
    this.#sql.exec(`${statement} ${which}`, this.#options.now(), ...values);
  }

  #changedSince(generation: number, limit = -1): ServerRef[] {
    return this.#sql
      .exec<{ tenant: TenantKey; name: string }>(
        "SELECT tenant, name FROM server WHERE changed > ? AND changed > 0 LIMIT ?",
        generation,
        limit,
      )
      .toArray()
      .sort(compareServers);
  }

  #meta(key: "public_generation" | "epoch" | "built" | "root"): number {
    return Number(this.#sql.exec("SELECT value FROM meta WHERE key = ?", key).one().value);
  }

  #setMeta(key: "epoch" | "built" | "root", value: number): void {
    this.#sql.exec("UPDATE meta SET value = ? WHERE key = ?", value, key);
  }
}

/** Changed servers and those of merged segments, each once, in order. */
function withPlaces(changed: readonly ServerRef[], places: readonly HeldPlace[]): ServerRef[] {
  const all = new Map(changed.map((server) => [`${server.tenant}/${server.name}`, server]));
  for (const [tenant, name] of places) all.set(`${tenant}/${name}`, { tenant, name });
  return [...all.values()].sort(compareServers);
}
