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

/** A manifest with more items is remembered item by item, as they are asked for. */
const mostNeighbours = 256;

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

  constructor(bodies: Bodies, memory: MemoryBudget, usage: Usage) {
    this.#bodies = bodies;
    this.#usage = usage;
    this.#items = memory.cache("items");
    this.#servers = memory.cache("servers of ids", { share: 1 / 8 });
  }

  /** The name of the server that had this id when it was last seen. */
  serverOf(tenant: TenantKey, id: string): string | undefined {
    return this.#servers.get(`${tenant} ${id}`);
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
