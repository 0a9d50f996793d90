import type { ChangeFeed, ChangesTenant, FollowedItems } from "../changes/contract.ts";
import { type TenantKey, tenantKey, tenantPattern } from "../kernel/names.ts";
import type { StreamEvent } from "../kernel/sse.ts";
import type { ChosenSubset } from "./contract.ts";

/** Changes to a session's chosen capabilities. An event id holds the generation reached in each tenant. */
export class FollowedSubset implements ChangeFeed {
  readonly #topics: Map<TenantKey, FollowedItems>;
  readonly #positions: Map<TenantKey, number>;
  readonly #tenantOf: (key: TenantKey) => Pick<ChangesTenant, "changesOf">;

  constructor(topics: readonly FollowedItems[], tenantOf: (key: TenantKey) => Pick<ChangesTenant, "changesOf">) {
    this.#topics = new Map(topics.map((topic) => [topic.tenant, topic]));
    this.#positions = new Map(topics.map(({ tenant, servers }) => [tenant, lowestPosition(servers)]));
    this.#tenantOf = tenantOf;
  }

  get tenants(): TenantKey[] {
    return [...this.#topics.keys()];
  }

  get position(): string {
    return positionsText(this.#positions);
  }

  async next(tenant: TenantKey) {
    const topic = this.#topics.get(tenant);
    if (topic === undefined) return { events: [], more: false };
    const { changes, upTo, generation } = await this.#tenantOf(tenant).changesOf(topic);
    const events = changes.map((change, index): StreamEvent => {
      // An id promises that all changes up to its generation were sent: true only for the generation's last change.
      const last = changes[index + 1]?.generation !== change.generation;
      this.#advanceTo(tenant, last ? change.generation : change.generation - 1);
      return { id: this.position, name: "change", data: change };
    });
    this.#advanceTo(tenant, upTo);
    for (const server of topic.servers) server.after = upTo;
    return { events, more: upTo < generation };
  }

  #advanceTo(tenant: TenantKey, generation: number): void {
    this.#positions.set(tenant, Math.max(this.#positions.get(tenant) ?? 0, generation));
  }
}

/** A tenant's position is the lowest position of its servers. */
function lowestPosition(servers: FollowedItems["servers"]): number {
  return Math.min(...servers.map(({ since, after }) => Math.max(since, after)));
}

/** One topic per tenant of a subset. `after` has the generations up to which the reader has seen all changes. */
export function topicsOf(
  subset: ChosenSubset,
  holds: (tenant: TenantKey) => boolean,
  after: Readonly<Record<string, number>> = {},
): FollowedItems[] {
  const items = Map.groupBy(subset.items, ({ tenant, server }) => `${tenantKey(tenant)}/${server}`);
  return [...Map.groupBy(subset.servers, ({ tenant }) => tenantKey(tenant))].map(([tenant, servers]) => ({
    tenant,
    onlyPublic: !holds(tenant),
    servers: servers.map(({ server, since, wasPublic }) => ({
      server,
      since,
      after: Object.hasOwn(after, tenant) ? (after[tenant] ?? 0) : 0,
      wasPublic,
      items: (items.get(`${tenant}/${server}`) ?? []).map(({ kind, key, id }) => ({ kind, key, id })),
    })),
  }));
}

/** An event id: the generation that a reader has reached in each tenant, such as `acme:12,io.github.acme:7`. */
export function positionsText(positions: ReadonlyMap<TenantKey, number>): string {
  return [...positions].map(([tenant, generation]) => `${tenant}:${generation}`).join(",");
}

/** undefined if the text is not such an id. */
export function parsePositions(text: string): Record<string, number> | undefined {
  if (text.length > 8_192) return undefined;
  const positions: Record<string, number> = Object.create(null);
  for (const part of text.split(",")) {
    const [, tenant = "", generation] = /^([^:]*):(\d{1,15})$/.exec(part) ?? [];
    if (!tenantPattern.test(tenant)) return undefined;
    positions[tenantKey(tenant)] = Number(generation);
  }
  return positions;
}
