import type { DirectoryState } from "../../http/directory-state.ts";
import type { Freshness } from "../../http/request.ts";
import type { MemoryBudget, MemoryCache } from "../../kernel/memory-budget.ts";
import { type ServerRef, type TenantKey, tenantKey } from "../../kernel/names.ts";
import { type CacheApi, logStorageError } from "../../kernel/platform/cache-api.ts";
import { confirmMs, edgeMs, freshMs, trustMs } from "../../kernel/platform/freshness.ts";
import type { AnswerSource, Usage } from "../../kernel/platform/usage.ts";
import { readJson } from "../../kernel/read-json.ts";
import { type AsOf, type Head, type HeadStamp, isAtLeastAsNew, type RegistryTenant } from "../contract.ts";
import { headKey, raisedKey } from "./keys.ts";

/** The head of a server, or undefined if the tenant had no such server at generation `asOf`. */
export interface Resolved {
  head: Head | undefined;
  asOf: number;
  source: AnswerSource;
}

/** The oldest state of a server that a data centre may still show, until the floor expires. */
interface Floor {
  generation: number;
  asOf: number;
  until: number;
}

/** A head in memory. */
interface Remembered {
  resolved: Resolved;
  /** When it was last known to be the one to show. */
  at: number;
  /** When another layer was asked for it, by the clock before the question. */
  readAt: number;
}

/** Value in the Cache API for a server: the head last read, and the floor set by writes and strong reads. */
interface EdgeEntry {
  head: Head;
  storedAt: number;
  floor?: Floor;
  /** When the tenant's object last answered that this is the head, by the clock before the question. */
  confirmedAt?: number;
}

const floorMs = 90_000;
/** The minimum that KV allows. */
const kvCacheTtlSeconds = 30;
/** A question in the background that takes longer has died with its request. */
const callMs = 5_000;

type PublicGeneration = (ref: ServerRef) => number | undefined;

interface HeadsOptions {
  edge: CacheApi;
  kv: Pick<KVNamespace, "get">;
  tenant: (key: TenantKey) => Pick<RegistryTenant, "head" | "afterRestore">;
  now: () => number;
  usage: Usage;
  memory: MemoryBudget;
  /** Lets a promise settle after the response was sent. */
  keepAlive: (promise: Promise<unknown>) => void;
  /** Generation of a server in a confirmed copy of everything public; undefined if there is none, or it is not public. */
  publicGeneration: PublicGeneration;
  /** The same of a copy that has every write of this data centre: brings it up to date, or only looks whether it is. */
  currentGeneration: { ask: (ref: ServerRef) => Promise<number | undefined>; peek: PublicGeneration };
  /** Called on every write made through this isolate. */
  onWrite?: (tenant: TenantKey) => void;
}

/**
 * Reads heads from memory, the Cache API, KV and finally the tenant's object. Each layer is trusted for as long as the
 * freshness contract (docs/explanation/freshness.md) allows. A data centre never goes back to an older state than it has shown: a
 * head below the floor is discarded and the object is asked.
 */
export class Heads {
  readonly #options: HeadsOptions;
  readonly #memory: MemoryCache<Remembered>;
  readonly #highestShown: MemoryCache<HeadStamp>;
  /** The last time that another isolate, or this one, raised a head in a way that the directory does not know of. */
  #raisedAt = Number.NEGATIVE_INFINITY;
  #raisedCheckedAt = Number.NEGATIVE_INFINITY;
  /** Heads that are being confirmed in the background, with the time before which nobody else asks. */
  readonly #confirming = new Map<string, number>();

  constructor(options: HeadsOptions) {
    this.#options = options;
    this.#memory = options.memory.cache("heads");
    this.#highestShown = options.memory.cache("highest generations shown", { reserved: 1 / 6 });
  }

  /**
   * The memory layer only, synchronously. Returns the same object until the entry is replaced, so callers can compare
   * by identity.
   */
  peek(ref: ServerRef, freshness: Freshness): Resolved | undefined {
    if (freshness.strong) return undefined;
    const entry = this.#memory.get(headKey(ref.tenant, ref.name));
    if (entry === undefined || entry.resolved.asOf < freshness.minGeneration) return undefined;
    if (this.#options.now() - entry.at > freshMs && !this.#renew(ref, entry)) return undefined;
    this.#options.usage.memory += 1;
    return entry.resolved;
  }

  async resolve(ref: ServerRef, freshness: Freshness): Promise<Resolved> {
    const remembered = this.peek(ref, freshness);
    if (remembered !== undefined) return remembered;
    if (!freshness.strong) {
      const renewed = await this.#renewed(ref, freshness);
      if (renewed !== undefined) return renewed;
      const cached = await this.#fromCaches(ref, freshness.minGeneration);
      if (cached !== undefined) return cached;
    }
    return this.#fromObject(ref, freshness);
  }

  /**
   * Call after a write with the head that it produced: this data centre shows no older head from then on. `directory` is a state
   * of the directory that has the write, if one is known.
   */
  async confirm(head: Head, directory?: DirectoryState): Promise<void> {
    this.#options.onWrite?.(tenantKey(head.tenant));
    await this.#raiseFloor(head, { by: directory === undefined ? "unlisted write" : "listed write" });
  }

  /**
   * A head of a public server stays in memory while a copy of everything public, which has every write of this data centre, shows the
   * same generation: then no layer has to be read. That copy knows neither writes that the directory missed nor later
   * confirmations of the same state, so a head that was read before one of those is read again; and once in a minute, in case the
   * directory never learns of a write.
   */
  #renew(ref: ServerRef, entry: Remembered, generation?: number): boolean {
    const { now, currentGeneration } = this.#options;
    const { head } = entry.resolved;
    if (now() - entry.readAt > confirmMs) return false;
    if (head === undefined || head.visibility !== "public" || head.deleted) return false;
    if (now() - this.#raisedCheckedAt > freshMs || entry.readAt <= this.#raisedAt) return false;
    if ((generation ?? currentGeneration.peek(ref)) !== head.generation) return false;
    entry.at = now();
    return true;
  }

  /** The same, after the copy and the time of the last raise were brought up to date. */
  async #renewed(ref: ServerRef, freshness: Freshness): Promise<Resolved | undefined> {
    const { now, edge, currentGeneration } = this.#options;
    const key = headKey(ref.tenant, ref.name);
    if (this.#memory.get(key)?.resolved.head?.visibility !== "public") return undefined;
    const generation = await currentGeneration.ask(ref);
    if (generation === undefined) return undefined;
    if (now() - this.#raisedCheckedAt > freshMs) {
      const at = now();
      this.#raisedAt = Math.max(this.#raisedAt, Number((await edge.read(raisedKey)) ?? 0));
      this.#raisedCheckedAt = at;
    }
    const entry = this.#memory.get(key);
    if (entry === undefined || !this.#renew(ref, entry, generation)) return undefined;
    return this.peek(ref, freshness);
  }

  async #noteRaised(): Promise<void> {
    this.#raisedAt = this.#options.now();
    await this.#options.edge.write(raisedKey, String(this.#raisedAt), floorMs / 1_000);
  }

  /**
   * Stores a head that came from the object, as the floor of this data centre. `confirmedAt` is unknown after a write: a later
   * one may have passed it on the way.
   */
  async #raiseFloor(head: Head, { by, confirmedAt }: { by: Raise; confirmedAt?: number }): Promise<void> {
    const key = headKey(tenantKey(head.tenant), head.name);
    const now = this.#options.now();
    this.#remember(key, { head, asOf: head.asOf }, confirmedAt ?? now);
    // Another isolate may have stored a newer head, so read the entry first. Two isolates that read at the same instant
    // can still leave the older head; the isolate with the newer one rejects it by its own floor on the next read, at
    // worst 15 s later.
    const entry = await this.#edgeEntry(key);
    const newest = this.#highestShown.get(key);
    if (entry !== undefined && !isAtLeastAsNew(head, entry.head)) return;
    if (newest !== undefined && !isAtLeastAsNew(head, newest)) return;
    const floor = { ...stamp(head), until: now + floorMs };
    await this.#writeEdge(key, { head, storedAt: now, floor, confirmedAt });
    // Not before the head is stored: who reads it again must find it.
    if (mayBeNews(head, by, entry?.head) || (by !== "listed write" && this.#isAheadOfCopy(head)))
      await this.#noteRaised();
  }

  /** True if this isolate's copy of everything public, and so maybe others, would confirm the head before this one. */
  #isAheadOfCopy(head: Head): boolean {
    const shown = this.#options.publicGeneration({ tenant: tenantKey(head.tenant), name: head.name });
    return shown !== undefined && shown < head.generation;
  }

  async #fromCaches(ref: ServerRef, minGeneration: number): Promise<Resolved | undefined> {
    const { kv, now } = this.#options;
    const key = headKey(ref.tenant, ref.name);
    const readAt = now();
    const entry = await this.#edgeEntry(key);
    const floor = this.#floor(key, entry);
    if (entry !== undefined && now() - entry.storedAt <= edgeMs) {
      const head = ifAboveFloor(entry.head, floor, minGeneration);
      if (head !== undefined)
        return this.#isConfirmed(ref, head, entry) ? this.#answer(key, head, "edge", readAt) : undefined;
    }
    const stored = await kv
      .get(key, { cacheTtl: kvCacheTtlSeconds })
      .then((text) => (text === null ? null : (readJson(text) as Head)))
      .catch((cause) => logStorageError("KV read", cause));
    // A write may have been confirmed during the KV read, so compute the floor again.
    const latest = await this.#edgeEntry(key);
    const later = this.#floor(key, latest);
    // A miss in KV does not mean that the server does not exist: only the object can tell.
    const head = stored == null ? undefined : ifAboveFloor(stored, later, minGeneration);
    if (head === undefined || !this.#isConfirmed(ref, head, latest)) return undefined;
    const renewed = later && { ...later, until: now() + floorMs };
    const confirmedAt = latest?.head.generation === head.generation ? latest.confirmedAt : undefined;
    const put = this.#writeEdge(key, { head, storedAt: now(), floor: renewed, confirmedAt });
    const raised = put.then(() => (this.#isAheadOfCopy(head) ? this.#noteRaised() : undefined));
    this.#options.keepAlive(raised.then(() => this.#repairFloor(key, head)));
    return this.#answer(key, head, "kv", readAt);
  }

  /**
   * What is public is confirmed with this isolate's copy of it, everything else by its tenant's object once in a minute: for
   * the next readers, in the background.
   */
  #isConfirmed(ref: ServerRef, head: Head, entry: EdgeEntry | undefined): boolean {
    const { now, keepAlive, publicGeneration } = this.#options;
    const shown = head.visibility === "public" && !head.deleted ? publicGeneration(ref) : undefined;
    if (shown !== undefined && head.generation >= shown) return true;
    if (entry?.confirmedAt === undefined || entry.head.generation !== head.generation) return false;
    const age = now() - entry.confirmedAt;
    if (age > trustMs) return false;
    const key = headKey(ref.tenant, ref.name);
    if (age > confirmMs && now() >= (this.#confirming.get(key) ?? 0)) {
      this.#confirming.set(key, now() + callMs);
      const asked = this.#fromObject(ref, { strong: true, minGeneration: 0 });
      keepAlive(asked.catch(() => {}).finally(() => this.#confirming.delete(key)));
    }
    return true;
  }

  async #fromObject(ref: ServerRef, { strong, minGeneration }: Freshness): Promise<Resolved> {
    const askedAt = this.#options.now();
    const key = headKey(ref.tenant, ref.name);
    const { head, generation } = await this.#askObject(ref, key);
    if (head === undefined) {
      this.#remember(key, { head: undefined, asOf: generation }, askedAt);
      return { head: undefined, asOf: generation, source: "object" };
    }
    const raised = this.#raiseFloor(head, { by: "read", confirmedAt: askedAt });
    // A caller who asked for a fresher state may tell others about it, so the floor must stand before the response.
    if (strong || minGeneration > 0) await raised;
    else this.#options.keepAlive(raised.then(() => this.#repairFloor(key, head)));
    return this.#answer(key, head, "object", askedAt);
  }

  /**
   * An object that answers twice with less than was shown was set back to an earlier point in time. It then goes on above
   * what was shown, so that its answer is the newest everywhere.
   */
  async #askObject(ref: ServerRef, key: string): ReturnType<RegistryTenant["head"]> {
    const tenant = this.#options.tenant(ref.tenant);
    const isBehind = (answer: AsOf<{ head?: Head }>) => {
      const shown = this.#highestShown.get(key);
      if (shown === undefined) return false;
      return answer.generation < shown.asOf || (answer.head?.generation ?? 0) < shown.generation;
    };
    const answer = await tenant.head(ref.name);
    if (!isBehind(answer)) return answer;
    const again = await tenant.head(ref.name);
    const shown = this.#highestShown.get(key);
    if (!isBehind(again) || shown === undefined) return again;
    await tenant.afterRestore({ name: ref.name, ...shown });
    return tenant.head(ref.name);
  }

  /**
   * A put of `head` that no response waited for may land after that of a later write, and undo it. Then the floor is stored
   * again, with the newer head as one that nobody may trust: how old it is by now is not known here.
   */
  async #repairFloor(key: string, head: Head): Promise<void> {
    const newest = this.#memory.get(key)?.resolved.head;
    if (newest === undefined || isAtLeastAsNew(head, newest)) return;
    const entry = await this.#edgeEntry(key);
    if (entry !== undefined && isAtLeastAsNew(entry.head, newest)) return;
    const floor = { ...stamp(newest), until: this.#options.now() + floorMs };
    await this.#writeEdge(key, { head: newest, storedAt: 0, floor });
  }

  #answer(key: string, head: Head, source: AnswerSource, readAt: number): Resolved {
    this.#remember(key, { head, asOf: head.asOf }, readAt);
    return { head, asOf: head.asOf, source };
  }

  /** Keeps the newest state: an older read that was in flight when a write finished must not replace it. */
  #remember(key: string, resolved: Omit<Resolved, "source">, readAt: number): void {
    const shown = this.#highestShown.get(key);
    const { generation = 0, overlay = 0 } = resolved.head ?? {};
    const mark = { generation, asOf: resolved.asOf, overlay };
    if (shown !== undefined && !isAtLeastAsNew(mark, shown)) return;
    const known = this.#memory.get(key)?.resolved;
    const read = { ...resolved, source: "memory" as const };
    // The same object for the same state, so that responses made from it stay valid.
    const text = JSON.stringify(read);
    const kept = known !== undefined && JSON.stringify(known) === text ? known : read;
    this.#memory.set(key, { resolved: kept, at: this.#options.now(), readAt }, 512 + 2 * text.length);
    if (resolved.head !== undefined) this.#highestShown.set(key, mark, 0);
  }

  #floor(key: string, entry: EdgeEntry | undefined): Floor | undefined {
    const now = this.#options.now();
    const shown = this.#highestShown.get(key);
    const floors = [
      ...(shown === undefined ? [] : [{ ...shown, until: now + floorMs }]),
      ...(entry?.floor !== undefined && entry.floor.until > now ? [entry.floor] : []),
    ];
    return floors.reduce<Floor | undefined>(
      (highest, floor) => (highest && isAtLeastAsNew(highest, floor) ? highest : floor),
      undefined,
    );
  }

  async #edgeEntry(key: string): Promise<EdgeEntry | undefined> {
    const text = await this.#options.edge.read(key);
    return text === undefined ? undefined : (readJson(text) as EdgeEntry);
  }

  #writeEdge(key: string, entry: EdgeEntry): Promise<void> {
    return this.#options.edge.write(key, JSON.stringify(entry), floorMs / 1_000);
  }
}

/** Why the floor is raised: after a write, whether the directory is known to have it. */
type Raise = "read" | "listed write" | "unlisted write";

/**
 * True if isolates that compare their heads with the directory's copy might not learn of this one. `stored` is what the
 * data centre had; nothing there does not mean that no isolate has a head.
 */
function mayBeNews(head: Head, by: Raise, stored: Head | undefined): boolean {
  if (stored?.generation === head.generation) return stored.asOf < head.asOf;
  if (by !== "read") return by === "unlisted write";
  return stored !== undefined || (head.visibility === "public" && head.asOf > head.generation);
}

function stamp(head: Head): { generation: number; asOf: number } {
  return { generation: head.generation, asOf: head.asOf };
}

/**
 * The head, or undefined if it is below the floor or `minGeneration`. If head and floor have the same generation they
 * are the same state, so the later `asOf` of the two applies.
 */
function ifAboveFloor(head: Head, floor: Floor | undefined, minGeneration: number): Head | undefined {
  if (floor !== undefined && head.generation < floor.generation) return undefined;
  const asOf = floor?.generation === head.generation ? Math.max(head.asOf, floor.asOf) : head.asOf;
  if (asOf < minGeneration) return undefined;
  return asOf === head.asOf ? head : { ...head, asOf };
}
