import type { MemoryBudget, MemoryCache } from "../../kernel/memory-budget.ts";
import type { ServerRef, TenantKey } from "../../kernel/names.ts";
import type { AnswerSource, Usage } from "../../kernel/platform/usage.ts";
import type { StoredCapability } from "../../manifest/stored.ts";
import type { Bodies } from "./bodies.ts";

/** An item, and its place among the items of its manifest, which hidden ranges of a head refer to. */
interface PlacedItem {
  capability: StoredCapability;
  at: number;
}

/** How long an object's word that there is no such item counts. */
const missingMs = 2_000;
/** Ids of items that are made here are shorter; others are asked for each time. */
const longestMissing = 512;

/** A manifest with more items is remembered item by item, as they are asked for. */
const mostNeighbours = 256;

interface IsolateClock {
  now: () => number;
  /** Number of writes through this isolate. */
  writes: () => number;
}

/** When the object was asked, and how much this isolate had written by then. */
interface Asked {
  at: number;
  writes: number;
}

/**
 * Items of manifests by server, digest and id, and which server of a tenant has an id: one capability can be read without
 * its tenant's object. A digest never means other content. Where an id was may be outdated: the caller looks it up in
 * the current manifest and asks the object if it is gone.
 */
export class CurrentItems {
  readonly #bodies: Bodies;
  readonly #usage: Usage;
  readonly #items: MemoryCache<PlacedItem>;
  readonly #servers: MemoryCache<string>;
  readonly #missing: MemoryCache<Asked & { generation: number }>;
  readonly #clock: IsolateClock;

  constructor(bodies: Bodies, memory: MemoryBudget, usage: Usage, clock: IsolateClock) {
    this.#bodies = bodies;
    this.#usage = usage;
    this.#clock = clock;
    this.#missing = memory.cache("unknown ids", { share: 1 / 16 });
    this.#items = memory.cache("items");
    this.#servers = memory.cache("servers of ids", { share: 1 / 8 });
  }

  /** The name of the server that had this id when it was last seen. */
  serverOf(tenant: TenantKey, id: string): string | undefined {
    return this.#servers.get(`${tenant} ${id}`);
  }

  /** To be called before the object is asked for an id: a write during the question makes its answer old. */
  asked(): Asked {
    return { at: this.#clock.now(), writes: this.#clock.writes() };
  }

  /** The object said that the tenant has no item with this id: so it is for two seconds, unless this isolate writes. */
  noteMissing(tenant: TenantKey, id: string, generation: number, asked: Asked): void {
    if (id.length > longestMissing) return;
    this.#missing.set(`${tenant} ${id}`, { ...asked, generation }, 100 + 2 * id.length);
  }

  /** The generation at which the object said so; undefined if the object must be asked. */
  missingAsOf(tenant: TenantKey, id: string): number | undefined {
    const found = this.#missing.get(`${tenant} ${id}`);
    const { now, writes } = this.#clock;
    return found !== undefined && now() - found.at <= missingMs && writes() === found.writes
      ? found.generation
      : undefined;
  }

  remember({ tenant, name }: ServerRef, id: string): void {
    if (this.serverOf(tenant, id) !== name) this.#servers.set(`${tenant} ${id}`, name, 2 * name.length);
  }

  /** undefined if the manifest is not retained or has no such item. The caller must have checked permission. */
  async get(ref: ServerRef, digest: string, id: string): Promise<(PlacedItem & { source: AnswerSource }) | undefined> {
    const key = `${ref.tenant}/${ref.name} ${digest} `;
    const known = this.#items.get(key + id);
    if (known !== undefined) {
      this.#usage.memory += 1;
      return { ...known, source: "memory" };
    }
    const body = await this.#bodies.get(ref, digest);
    if (body === undefined) return undefined;
    const { capabilities } = body.manifest;
    const isSmall = capabilities.length <= mostNeighbours;
    let found: PlacedItem | undefined;
    for (const [at, capability] of capabilities.entries()) {
      const isWanted = capability.id === id;
      if (!isWanted && !isSmall) continue;
      const item = { capability, at };
      if (isWanted) found = item;
      this.#items.set(key + capability.id, item, 512 + 2 * JSON.stringify(capability).length);
    }
    return found && { ...found, source: body.source };
  }
}
