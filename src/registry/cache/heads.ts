import type { Freshness } from "../../http/request.ts";
import { BoundedCache } from "../../kernel/bounded-cache.ts";
import type { ServerRef } from "../../kernel/names.ts";
import { type CacheApi, logStorageError } from "../../kernel/platform/cache-api.ts";
import type { AnswerSource, Usage } from "../../kernel/platform/usage.ts";
import { type Head, isAtLeastAsNew, type RegistryTenant } from "../contract.ts";
import { headKey } from "./keys.ts";

/** What is known of a server: its head, or that there is none as of a generation of the tenant. */
export interface Resolved {
  head: Head | undefined;
  asOf: number;
  source: AnswerSource;
}

/** The least a data centre may show of a server from now on. */
interface Floor {
  generation: number;
  asOf: number;
  until: number;
}

/** What the Cache API holds for a server: the head it last saw, and the floor set by writes and strong reads. */
interface EdgeEntry {
  head: Head;
  storedAt: number;
  floor?: Floor;
}

const memoryMs = 2_000;
const edgeMs = 15_000;
const floorMs = 90_000;
/** The lowest KV allows. With the layers above it keeps every data centre within 80 s. */
const kvCacheTtlSeconds = 30;
const memoryBytes = 16 * 1024 * 1024;
const shownEntries = 20_000;

interface HeadsOptions {
  edge: CacheApi;
  kv: Pick<KVNamespace, "get">;
  tenant: (name: string) => Pick<RegistryTenant, "head">;
  now: () => number;
  usage: Usage;
  /** Something was written through this isolate. */
  onWrite?: () => void;
}

/**
 * Heads by memory, Cache API, KV and at last the object, each trusted for as long as the freshness contract allows.
 * What this data centre has shown never goes back: a head below the floor is discarded and the object asked.
 */
export class Heads {
  readonly #options: HeadsOptions;
  readonly #memory = new BoundedCache<{ resolved: Resolved; at: number }>(memoryBytes);
  readonly #highestShown = new BoundedCache<{ generation: number; asOf: number }>(shownEntries);

  constructor(options: HeadsOptions) {
    this.#options = options;
  }

  /** The memory layer alone, without a promise. The same object for as long as nothing newer is known. */
  peek(ref: ServerRef, freshness: Freshness): Resolved | undefined {
    if (freshness.strong) return undefined;
    const entry = this.#memory.get(headKey(ref.tenant, ref.name));
    if (entry === undefined || this.#options.now() - entry.at > memoryMs) return undefined;
    if (entry.resolved.asOf < freshness.minGeneration) return undefined;
    this.#options.usage.memory += 1;
    return entry.resolved;
  }

  async resolve(ref: ServerRef, freshness: Freshness): Promise<Resolved> {
    const remembered = this.peek(ref, freshness);
    if (remembered !== undefined) return remembered;
    if (!freshness.strong) {
      const cached = await this.#fromCaches(ref, freshness.minGeneration);
      if (cached !== undefined) return cached;
    }
    return this.#fromObject(ref);
  }

  /** A write left this head behind: it is the least that this data centre shows from now on. */
  async confirm(head: Head): Promise<void> {
    this.#options.onWrite?.();
    await this.#raiseFloor(head);
  }

  /** Makes a head that the object just confirmed the least this data centre shows. */
  async #raiseFloor(head: Head): Promise<void> {
    const key = headKey(head.tenant, head.name);
    const now = this.#options.now();
    this.#remember(key, { head, asOf: head.asOf });
    // Another isolate may have confirmed something newer: look first. Two that look at the same instant can still
    // leave the older entry; the loser is corrected by its own floor check on the next read, at worst 15 s later.
    const entry = await this.#edgeEntry(key);
    const newest = this.#highestShown.get(key);
    if (entry !== undefined && !isAtLeastAsNew(head, entry.head)) return;
    if (newest !== undefined && !isAtLeastAsNew(head, newest)) return;
    await this.#writeEdge(key, { head, storedAt: now, floor: { ...stamp(head), until: now + floorMs } });
  }

  async #fromCaches(ref: ServerRef, minGeneration: number): Promise<Resolved | undefined> {
    const { kv, now } = this.#options;
    const key = headKey(ref.tenant, ref.name);
    const entry = await this.#edgeEntry(key);
    const floor = this.#floor(key, entry);
    if (entry !== undefined && now() - entry.storedAt <= edgeMs) {
      const head = ifAboveFloor(entry.head, floor, minGeneration);
      if (head !== undefined) return this.#answer(key, head, "edge");
    }
    const stored = await kv
      .get<Head>(key, { type: "json", cacheTtl: kvCacheTtlSeconds })
      .catch((cause) => logStorageError("KV read", cause));
    // KV takes its time, and a write may have been confirmed meanwhile: judge by what is known now.
    const later = this.#floor(key, await this.#edgeEntry(key));
    // A miss in KV is never an answer: the object may know better.
    const head = stored == null ? undefined : ifAboveFloor(stored, later, minGeneration);
    if (head === undefined) return undefined;
    const renewed = later && { ...later, until: now() + floorMs };
    await this.#writeEdge(key, { head, storedAt: now(), floor: renewed });
    return this.#answer(key, head, "kv");
  }

  async #fromObject(ref: ServerRef): Promise<Resolved> {
    const { head, generation } = await this.#options.tenant(ref.tenant).head(ref.name);
    const key = headKey(ref.tenant, ref.name);
    if (head === undefined) {
      this.#remember(key, { head: undefined, asOf: generation });
      return { head: undefined, asOf: generation, source: "object" };
    }
    await this.#raiseFloor(head);
    return this.#answer(key, head, "object");
  }

  #answer(key: string, head: Head, source: AnswerSource): Resolved {
    this.#remember(key, { head, asOf: head.asOf });
    return { head, asOf: head.asOf, source };
  }

  /** Keeps the newest: an older answer that was under way when a write finished must not replace it. */
  #remember(key: string, resolved: Omit<Resolved, "source">): void {
    const shown = this.#highestShown.get(key);
    const mark = { generation: resolved.head?.generation ?? 0, asOf: resolved.asOf };
    if (shown !== undefined && !isAtLeastAsNew(mark, shown)) return;
    const kept = { ...resolved, source: "memory" as const };
    this.#memory.set(key, { resolved: kept, at: this.#options.now() }, sizeOf(resolved.head));
    if (resolved.head !== undefined) this.#highestShown.set(key, mark);
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
    return text === undefined ? undefined : (JSON.parse(text) as EdgeEntry);
  }

  #writeEdge(key: string, entry: EdgeEntry): Promise<void> {
    return this.#options.edge.write(key, JSON.stringify(entry), floorMs / 1_000);
  }
}

/** Roughly what a head takes: most are small, and a few carry long lists. */
function sizeOf(head: Head | undefined): number {
  return 512 + 96 * (head?.disabled.length ?? 0) + 384 * (head?.flags.length ?? 0);
}

function stamp(head: Head): { generation: number; asOf: number } {
  return { generation: head.generation, asOf: head.asOf };
}

/** The head if it may be shown, confirmed as late as the floor says the same state was. */
function ifAboveFloor(head: Head, floor: Floor | undefined, minGeneration: number): Head | undefined {
  if (floor !== undefined && head.generation < floor.generation) return undefined;
  const asOf = floor?.generation === head.generation ? Math.max(head.asOf, floor.asOf) : head.asOf;
  if (asOf < minGeneration) return undefined;
  return asOf === head.asOf ? head : { ...head, asOf };
}
