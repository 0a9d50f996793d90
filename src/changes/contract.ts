import type { Change } from "../registry/change-chain.ts";
import type { ChosenItem, ChosenSubset } from "../sessions/contract.ts";

/** A part of one tenant whose changes somebody follows. */
export interface Topic {
  tenant: string;
  /** For a reader outside the tenant: what is not public any more is not told. */
  onlyPublic: boolean;
  servers: {
    server: string;
    /** The generation at which it was chosen. */
    since: number;
    /** The generation up to which its reader says to have seen everything. */
    after: number;
    /** It was read as a public server: then its loss may be told to those outside. */
    wasPublic: boolean;
    items: Pick<ChosenItem, "kind" | "key" | "id">[];
  }[];
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
    servers: servers.map(({ server, since, wasPublic }) => ({
      server,
      since,
      after: Object.hasOwn(after, tenant) ? (after[tenant] ?? 0) : 0,
      wasPublic,
      items: (items.get(`${tenant}/${server}`) ?? []).map(({ kind, key, id }) => ({ kind, key, id })),
    })),
  }));
}
