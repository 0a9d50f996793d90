import type { Change } from "./change.ts";
import type { ChosenItem, ChosenSubset } from "./session.ts";

/** A part of one tenant whose changes somebody follows. */
export interface Topic {
  tenant: string;
  /** For a reader outside the tenant: what is not public any more is not told. */
  onlyPublic: boolean;
  servers: { server: string; since: number; items: Pick<ChosenItem, "kind" | "key" | "id">[] }[];
}

/** A change to a followed capability, or one to its server that takes it away. */
export interface TopicChange extends Change {
  tenant: string;
  /** The capability's id; absent where its whole server is concerned. */
  id?: string;
}

/** The topics of a subset, one a tenant. `after` moves them on: generations up to which a reader has seen everything. */
export function topicsOf(
  subset: ChosenSubset,
  holds: (tenant: string) => boolean,
  after: Readonly<Record<string, number>> = {},
): Topic[] {
  const items = Map.groupBy(subset.items, ({ tenant, server }) => `${tenant}/${server}`);
  return [...Map.groupBy(subset.servers, ({ tenant }) => tenant)].map(([tenant, servers]) => ({
    tenant,
    onlyPublic: !holds(tenant),
    servers: servers.map(({ server, since }) => ({
      server,
      since: Math.max(since, Object.hasOwn(after, tenant) ? (after[tenant] ?? 0) : 0),
      items: (items.get(`${tenant}/${server}`) ?? []).map(({ kind, key, id }) => ({ kind, key, id })),
    })),
  }));
}
