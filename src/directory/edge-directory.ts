import { type DirectoryState, reaches } from "../http/directory-state.ts";
import { type CacheApi, logStorageError } from "../kernel/platform/cache-api.ts";
import { confirmMs, freshMs, trustMs } from "../kernel/platform/freshness.ts";
import type { SegmentDirectory, SyncAnswer } from "./contract.ts";
import { readDocuments } from "./read-documents.ts";
import { chunkKey, parseRoot, type Root, rootKey, segmentKey } from "./root.ts";
import { decodeSegment, type Segment } from "./segment.ts";
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

/** How often an isolate looks for writes that others in its data centre made. */
const writtenCheckMs = freshMs;
const writtenSeconds = 90;
/** A root is replaced at most this often, unless it has become useless: until then deltas bring it up to date. */
const rootMs = 10_000;
/** After a failed load. */
const retryMs = 2_000;
/** Work in the background that takes longer has died with its request. */
const callMs = 5_000;
const loadMs = 30_000;
const segmentSeconds = 86_400;
const writtenKey = "directory/written";

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
  readonly #fallbacks: Partial<Record<Fallback, number>> = {};
  #loaded: LoadedRoot | undefined;
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
    return readDocuments(loaded, versions, async (key) => {
      const cached = await this.#cached(key);
      const bytes = cached ?? (await this.#stored(key));
      if (cached === undefined && bytes !== undefined) {
        this.#inBackground(this.#options.edge.writeBytes(key, bytes, segmentSeconds));
      }
      return bytes;
    });
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

  /** Other isolates of the data centre leave the time of their last write in its cache. */
  async #noticeWrites(): Promise<void> {
    const { edge, now } = this.#options;
    if (now() - this.#writtenCheckedAt <= writtenCheckMs) return;
    this.#writtenCheckedAt = now();
    const written = Number((await edge.read(writtenKey)) ?? 0);
    if (written > this.#confirmedAt) this.#writes += 1;
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
    try {
      const answer = await this.#options.directory().sync({ ...stateOf(loaded.root) });
      if (this.#loaded !== loaded) return;
      const isCurrent = this.#apply(loaded, answer);
      if (isCurrent) this.#confirmed(at, writes);
      if (answer.root !== undefined && (!isCurrent || at - loaded.at > rootMs)) this.#load(answer.root);
    } catch (cause) {
      logStorageError("directory sync", cause);
    }
  }

  /** Puts the delta on top of the root. False if the isolate cannot have the object's state. */
  #apply(loaded: LoadedRoot, { epoch, generation, delta, outdated }: SyncAnswer): boolean {
    if (outdated) {
      // What was narrowed since is not known here, so nothing of the view may be shown.
      this.#view = undefined;
      return false;
    }
    const known = this.#view;
    if (known?.epoch === epoch && known.generation >= generation) return true;
    if (delta === undefined) {
      this.#view = new DirectoryView({ epoch, generation }, loaded.segments);
      return true;
    }
    const segment = decodeSegment(alignedBytes(delta));
    if (!segment.ok) {
      logStorageError("directory delta", segment.error);
      return false;
    }
    const changed = this.#withForms(segment.value);
    const bytes = loaded.segments.reduce((sum, one) => sum + one.bytes, changed.bytes);
    this.#isTooLarge = bytes > this.#options.capacity;
    this.#view = this.#isTooLarge ? undefined : new DirectoryView({ epoch, generation }, [...loaded.segments, changed]);
    return !this.#isTooLarge;
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
    const before = this.#view;
    if (this.#view !== undefined && this.#view.epoch === answer.epoch && this.#view.generation > answer.generation) {
      return false;
    }
    this.#view = undefined;
    if (!this.#apply(loaded, answer)) {
      this.#view = before;
      return false;
    }
    this.#loaded = loaded;
    this.#confirmed(at, writes);
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
      const loaded = known.get(id) ?? (await this.#loadSegment(root.epoch, id));
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

  async #loadSegment(epoch: string, id: number): Promise<LoadedSegment | undefined> {
    const key = segmentKey(epoch, id);
    let problem = "missing";
    for (const from of ["cache", "kv"] as const) {
      const value = await (from === "cache" ? this.#cached(key) : this.#stored(key));
      if (value === undefined) continue;
      const segment = decodeSegment(alignedBytes(value));
      if (segment.ok) {
        if (from === "kv") this.#inBackground(this.#options.edge.writeBytes(key, value, segmentSeconds));
        return this.#withForms(segment.value, (chunk) => chunkKey(epoch, id, chunk));
      }
      problem = segment.error;
    }
    logStorageError(key, problem);
    return undefined;
  }

  /** Keys are never used for another content, so a copy may be kept for long. */
  #cached(key: string): Promise<Uint8Array | undefined> {
    return this.#options.edge.readBytes(key);
  }

  async #stored(key: string): Promise<Uint8Array | undefined> {
    const value = await this.#options.kv.get(key, "arrayBuffer").catch((cause) => logStorageError("KV read", cause));
    return value == null ? undefined : new Uint8Array(value);
  }

  #withForms(segment: Segment, keyOf?: (chunk: number) => string): LoadedSegment {
    let bytes = segment.bytes;
    const forms = new Map<string, unknown>();
    for (const form of this.#forms) {
      const built = form.build(segment);
      forms.set(form.name, built);
      bytes += form.bytesOf(built);
    }
    return { segment, forms, bytes, chunkKey: keyOf };
  }

  #inBackground(work: Promise<unknown>): void {
    this.#options.keepAlive(work.catch(() => {}));
  }
}

function stateOf({ epoch, generation }: DirectoryState): DirectoryState {
  return { epoch, generation };
}

/** Typed arrays need values that start at a multiple of eight; those from RPC may not. */
function alignedBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}
