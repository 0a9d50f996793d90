import { type DirectoryState, isAsNewAs, parseState, reaches, stateText } from "../http/directory-state.ts";
import { type CacheApi, logStorageError } from "../kernel/platform/cache-api.ts";
import { confirmMs, freshMs, trustMs } from "../kernel/platform/freshness.ts";
import type { SegmentDirectory, SyncAnswer } from "./contract.ts";
import { type Delta, nextSince, withDelta } from "./deltas.ts";
import { parseRoot, type Root, rootKey } from "./root.ts";
import { alignedBytes, decodeSegment } from "./segment.ts";
import { SegmentStore } from "./segment-store.ts";
import { DirectoryView, type LoadedSegment, type SegmentForm } from "./view.ts";

interface EdgeDirectoryOptions {
  kv: Pick<KVNamespace, "get">;
  edge: CacheApi;
  directory: () => SegmentDirectory;
  now: () => number;
  /** Bytes for segments and their forms. With 0 the object answers everything. */
  capacity: number;
  /** The compact forms that rooms keep of each segment. */
  forms: readonly SegmentForm<unknown>[];
  /** Lets a promise settle after the response was sent. */
  keepAlive: (promise: Promise<unknown>) => void;
}

/** How new the view of a reader must be. */
export interface DirectoryNeed {
  /** `Cache-Control: no-cache`: the object answers. */
  strong?: boolean;
  /** `Rollcall-Min-Directory-Generation`. */
  min?: DirectoryState;
}

/** Why the object has to answer, for the metrics. */
type Fallback = "off" | "strong" | "loading" | "unconfirmed" | "too large" | "behind";

/** How often an isolate looks for writes that others in its data centre made, and for states that those have. */
const writtenCheckMs = freshMs;
const writtenSeconds = 90;
/** A root is replaced at most this often, unless it has become useless: until then deltas bring it up to date. */
const rootMs = 30_000;
/** After a failed load. */
const retryMs = 2_000;
/** Work in the background that takes longer has died with its request. */
const callMs = 5_000;
const loadMs = 30_000;
const writtenKey = "directory/written";
/** The newest state that an isolate of the data centre has. */
const shownKey = "directory/shown";

/** A root whose segments are all in memory. */
interface LoadedRoot {
  root: Root;
  segments: LoadedSegment[];
  at: number;
}

/**
 * The isolate's copy of everything public. Segments come from KV and are replaced one by one in the background; the
 * directory's object says what has changed since, once a minute and after each write through this isolate. Whatever is
 * missing, unreadable or too old, `current` says undefined, and the reader asks the object.
 */
export class EdgeDirectory {
  readonly #options: EdgeDirectoryOptions;
  readonly #forms: readonly SegmentForm<unknown>[];
  readonly #store: SegmentStore;
  readonly #fallbacks: Partial<Record<Fallback, number>> = {};
  #loaded: LoadedRoot | undefined;
  /** What has changed since the root, oldest first. The view is made of both. */
  #deltas: readonly Delta[] = [];
  #view: DirectoryView | undefined;
  /** When the object last said that the view is current, by the clock before the question. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #writes = 0;
  #syncedWrites = 0;
  #writtenCheckedAt = Number.NEGATIVE_INFINITY;
  /** Times before which nobody else starts the same work. A request that dies may leave work undone. */
  #confirmAfter = Number.NEGATIVE_INFINITY;
  #loadAfter = Number.NEGATIVE_INFINITY;
  #isTooLarge = false;

  constructor(options: EdgeDirectoryOptions) {
    this.#options = options;
    this.#forms = options.forms;
    this.#store = new SegmentStore({ ...options, inBackground: (work) => this.#inBackground(work) });
  }

  /**
   * The view to answer from, or undefined: then ask the object. Never waits for KV; waits for one short call of the
   * object where this data centre has written since the last one.
   */
  async current({ strong = false, min }: DirectoryNeed = {}): Promise<DirectoryView | undefined> {
    if (this.#options.capacity === 0) return this.#fallBack("off");
    if (strong) return this.#fallBack("strong");
    if (this.#view === undefined) {
      this.#load();
      return this.#fallBack(this.#isTooLarge ? "too large" : "loading");
    }
    await this.#noticeWrites();
    if (this.#writes !== this.#syncedWrites || this.#isBelow(min)) await this.#askObject();
    const age = this.#options.now() - this.#confirmedAt;
    if (age > confirmMs) this.#confirm();
    if (this.#view === undefined || this.#writes !== this.#syncedWrites || age > trustMs) {
      return this.#fallBack("unconfirmed");
    }
    return this.#isBelow(min) ? this.#fallBack("behind") : this.#view;
  }

  /**
   * For an answer that is kept: true while the answer made from this state is the one to give. Keep the state, not the
   * view, which would hold its segments in memory.
   */
  isCurrent({ epoch, generation }: DirectoryState): boolean {
    const { now } = this.#options;
    if (this.#view?.generation !== generation || this.#view.epoch !== epoch) return false;
    if (this.#writes !== this.#syncedWrites || now() - this.#confirmedAt > trustMs) return false;
    return now() - this.#writtenCheckedAt <= writtenCheckMs;
  }

  /** The view of this moment, if it may be used without asking anyone. */
  peek(): DirectoryView | undefined {
    return this.#view !== undefined && this.isCurrent(this.#view) ? this.#view : undefined;
  }

  /**
   * The view, if the object has confirmed it, without the latest writes of this data centre: for a reader who knows of those
   * by another way.
   */
  confirmed(): DirectoryView | undefined {
    const age = this.#options.now() - this.#confirmedAt;
    if (this.#view === undefined || age > trustMs) return undefined;
    if (age > confirmMs) this.#confirm();
    return this.#view;
  }

  /** Milliseconds since the object confirmed what this isolate has; undefined if it has nothing. */
  get age(): number | undefined {
    return this.#view && Math.max(0, this.#options.now() - this.#confirmedAt);
  }

  /** Call after a write through this isolate: readers of this data centre then see it. */
  noteWrite(): void {
    if (this.#options.capacity === 0) return;
    this.#writes += 1;
    const { edge, now } = this.#options;
    this.#inBackground(edge.write(writtenKey, String(now()), writtenSeconds));
  }

  /** The documents of versions of one segment (their server.json); undefined if one is missing: then ask the object. */
  documents(loaded: LoadedSegment, versions: readonly number[]): Promise<string[] | undefined> {
    return this.#store.documents(loaded, versions);
  }

  /** For `/healthz`, `Server-Timing` and the metrics. */
  status() {
    const { capacity } = this.#options;
    const view = this.#view;
    const segments = [...(view?.segments ?? [])];
    const sizes: Record<string, number> = { segments: segments.reduce((sum, { segment }) => sum + segment.bytes, 0) };
    for (const form of this.#forms) {
      sizes[form.name] = segments.reduce((sum, segment) => sum + form.bytesOf(segment.form(form)), 0);
    }
    return {
      state: view && { epoch: view.epoch, generation: view.generation },
      age: this.age,
      capacity,
      bytes: sizes,
      segments: segments.length,
      fallbacks: { ...this.#fallbacks },
    };
  }

  #fallBack(reason: Fallback): undefined {
    this.#fallbacks[reason] = (this.#fallbacks[reason] ?? 0) + 1;
  }

  #isBelow(min: DirectoryState | undefined): boolean {
    return this.#view !== undefined && !reaches(this.#view, min);
  }

  /**
   * Other isolates of the data centre leave the time of their last write in its cache, and the state that they show: nobody
   * should see an older one here.
   */
  async #noticeWrites(): Promise<void> {
    const { edge, now } = this.#options;
    if (now() - this.#writtenCheckedAt <= writtenCheckMs) return;
    this.#writtenCheckedAt = now();
    const [written, shown] = await Promise.all([edge.read(writtenKey), edge.read(shownKey)]);
    const state = parseState(shown ?? "");
    const isBehind = this.#view !== undefined && state !== undefined && !isAsNewAs(this.#view, state);
    if (Number(written ?? 0) > this.#confirmedAt || isBehind) this.#writes += 1;
  }

  #confirm(): void {
    const { now } = this.#options;
    if (now() < this.#confirmAfter) return;
    this.#confirmAfter = now() + callMs;
    this.#inBackground(this.#askObject());
  }

  /**
   * Readers who need it ask each for themselves: a request must not wait for a call of another request, which ends with
   * it. Answers may come in any order.
   */
  async #askObject(): Promise<void> {
    const loaded = this.#loaded;
    if (loaded === undefined) return;
    const at = this.#options.now();
    const writes = this.#writes;
    const [view, isAfterWrite] = [this.#view, writes !== this.#syncedWrites];
    const since = this.#view === undefined ? loaded.root.generation : nextSince(this.#deltas, this.#view.generation);
    try {
      const answer = await this.#options.directory().sync(stateOf(loaded.root), since);
      if (this.#loaded !== loaded) return;
      const isCurrent = this.#apply(loaded, answer, since);
      if (isCurrent) this.#confirmed(at, writes);
      if (this.#view !== view && !isAfterWrite) this.#tellOthers();
      if (answer.root !== undefined && (!isCurrent || at - loaded.at > rootMs)) this.#load(answer.root);
    } catch (cause) {
      logStorageError("directory sync", cause);
    }
  }

  /**
   * Puts the delta, which has what changed after `since`, on top of the root and of the deltas before it. False if the isolate
   * cannot have the object's state.
   */
  #apply(loaded: LoadedRoot, { epoch, generation, delta, outdated }: SyncAnswer, since: number): boolean {
    if (outdated) {
      // What was narrowed since is not known here, so nothing of the view may be shown.
      this.#view = undefined;
      return false;
    }
    const known = this.#view;
    if (known?.epoch === epoch && known.generation >= generation) return true;
    // Only on top of what this isolate has up to there. A view that was dropped meanwhile had more.
    if ((known?.generation ?? loaded.root.generation) < since) return false;
    const before = known === undefined ? [] : this.#deltas;
    if (delta === undefined) {
      this.#deltas = before;
    } else {
      const segment = decodeSegment(alignedBytes(delta));
      if (!segment.ok) {
        logStorageError("directory delta", segment.error);
        return false;
      }
      this.#deltas = withDelta(before, { since, segment: this.#store.withForms(segment.value) });
    }
    const segments = [...loaded.segments, ...this.#deltas.map(({ segment }) => segment)];
    this.#isTooLarge = segments.reduce((sum, one) => sum + one.bytes, 0) > this.#options.capacity;
    this.#view = this.#isTooLarge ? undefined : new DirectoryView({ epoch, generation }, segments, known);
    return !this.#isTooLarge;
  }

  /** What is shown here is to be shown by every isolate of the data centre. After a write through one of them, they ask anyway. */
  #tellOthers(): void {
    if (this.#view === undefined) return;
    this.#inBackground(this.#options.edge.write(shownKey, stateText(this.#view), writtenSeconds));
  }

  /** Loads a root in the background; the newest in KV if none is given. */
  #load(root?: Root): void {
    const { now } = this.#options;
    if (now() < this.#loadAfter) return;
    this.#loadAfter = now() + loadMs;
    const load = async () => {
      const isLoaded = await this.#loadRoot(root).catch((cause) => {
        logStorageError("directory load", cause);
        return false;
      });
      this.#loadAfter = isLoaded ? Number.NEGATIVE_INFINITY : now() + retryMs;
    };
    this.#inBackground(load());
  }

  /** False if no root could be loaded: the isolate keeps what it has. */
  async #loadRoot(given: Root | undefined): Promise<boolean> {
    const { directory, now } = this.#options;
    let root = given ?? (await this.#storedRoot());
    // KV may be minutes late: its root may name segments that are gone or that it does not show yet, or be too old for
    // a delta. The object has the newest root, so a second attempt is enough unless the builder is at work.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      root ??= (await directory().sync(undefined)).root;
      const loaded = root && (await this.#segmentsOf(root));
      const at = now();
      const writes = this.#writes;
      const answer = loaded && (await directory().sync(stateOf(loaded.root)));
      if (loaded !== undefined && answer !== undefined && !answer.outdated) {
        return this.#take(loaded, answer, at, writes);
      }
      if (this.#isTooLarge) return false;
      root = answer?.root;
    }
    return false;
  }

  #take(loaded: LoadedRoot, answer: SyncAnswer, at: number, writes: number): boolean {
    const [before, deltas] = [this.#view, this.#deltas];
    if (before !== undefined && before.epoch === answer.epoch && before.generation > answer.generation) return false;
    this.#view = undefined;
    if (!this.#apply(loaded, answer, loaded.root.generation)) {
      this.#view = before;
      this.#deltas = deltas;
      return false;
    }
    this.#loaded = loaded;
    this.#confirmed(at, writes);
    this.#tellOthers();
    return true;
  }

  #confirmed(at: number, writes: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, at);
    this.#syncedWrites = Math.max(this.#syncedWrites, writes);
  }

  async #storedRoot(): Promise<Root | undefined> {
    const text = await this.#options.kv
      .get(rootKey, { cacheTtl: 30 })
      .catch((cause) => logStorageError("KV read", cause));
    return text == null ? undefined : parseRoot(text);
  }

  /** All segments of a root, those in memory already included; undefined if one is missing or does not fit. */
  async #segmentsOf(root: Root): Promise<LoadedRoot | undefined> {
    const wanted = new Set(root.segments.map(({ id }) => id));
    const isSameEpoch = this.#loaded?.root.epoch === root.epoch;
    const known = new Map(
      (isSameEpoch ? (this.#loaded?.root.segments ?? []) : [])
        .map(({ id }, at) => [id, this.#loaded?.segments[at]] as const)
        .filter(([id]) => wanted.has(id)),
    );
    const segments: LoadedSegment[] = [];
    let bytes = 0;
    for (const { id } of root.segments) {
      const loaded = known.get(id) ?? (await this.#store.load(root.epoch, id));
      if (loaded === undefined) return undefined;
      segments.push(loaded);
      bytes += loaded.bytes;
      this.#isTooLarge = bytes > this.#options.capacity;
      if (this.#isTooLarge) return undefined;
      this.#makeRoom(segments, bytes);
    }
    return { root, segments, at: this.#options.now() };
  }

  /** Two roots are in memory while one replaces the other. If both do not fit, the object answers until the new one is loaded. */
  #makeRoom(segments: readonly LoadedSegment[], bytes: number): void {
    const isShared = new Set(segments);
    const held = (this.#view?.segments ?? []).reduce(
      (sum, { loaded }) => (isShared.has(loaded) ? sum : sum + loaded.bytes),
      0,
    );
    if (bytes + held <= this.#options.capacity) return;
    this.#view = undefined;
    this.#loaded = undefined;
  }

  #inBackground(work: Promise<unknown>): void {
    this.#options.keepAlive(work.catch(() => {}));
  }
}

function stateOf({ epoch, generation }: DirectoryState): DirectoryState {
  return { epoch, generation };
}
