import type { TenantKey } from "../../kernel/names.ts";
import type { CapabilityCard, CardQuery, PublicCard, RankedCard, TenantFilter } from "../contract.ts";
import type { WordVectors } from "../word-vectors.ts";
import { type CardCondition, listCards, oneOf, type StoredCard } from "./card-table.ts";
import { findCards } from "./find-cards.ts";
import { termCounts } from "./term-counts.ts";

export function findPublicCards(
  sql: SqlStorage,
  query: CardQuery & TenantFilter,
  vectors: WordVectors | undefined,
): PublicCard<RankedCard>[] {
  return withServers(sql, findCards(sql, query, conditionsOf(query), { vectors, count: termCounts }));
}

export function publicCards(sql: SqlStorage, ids: readonly string[], whose: TenantFilter): PublicCard[] {
  return withServers(sql, listCards(sql, [oneOf("id", ids), ...conditionsOf(whose)]));
}

function conditionsOf({ tenants, exceptTenants }: TenantFilter): CardCondition[] {
  const conditions: CardCondition[] = [];
  if (tenants !== undefined) conditions.push(oneOf("tenant", tenants));
  if (exceptTenants !== undefined && exceptTenants.length > 0) {
    const { where, values } = oneOf("tenant", exceptTenants);
    conditions.push({ where: `NOT ${where}`, values });
  }
  return conditions;
}

type Shown<T extends StoredCard> = Omit<T, "tenant"> & CapabilityCard;

interface ServerRow extends Record<string, SqlStorageValue> {
  tenant: TenantKey;
  name: string;
  spelling: string;
  version: string | null;
  generation: number;
}

/**
 * Adds version and generation of the server at query time, so that a new server version rewrites none of its cards, and
 * the spelling of its tenant. Cards of servers that are not public now are left out, even if their items are still indexed.
 */
function withServers<T extends StoredCard>(sql: SqlStorage, cards: readonly T[]): PublicCard<Shown<T>>[] {
  const places = new Map(cards.map(({ tenant, server }) => [`${tenant}/${server}`, [tenant, server]]));
  const rows = sql.exec<ServerRow>(
    `SELECT server.tenant, server.name, json_extract(server.entry, '$.tenant') AS spelling,
       json_extract(server.entry, '$.version') AS version,
       indexed_server.items_generation AS generation
     FROM json_each(?) AS place
     JOIN server ON server.tenant = place.value ->> 0 AND server.name = place.value ->> 1
     JOIN indexed_server ON indexed_server.tenant = server.tenant AND indexed_server.name = server.name
     WHERE server.public = 1`,
    JSON.stringify([...places.values()]),
  );
  const servers = new Map(rows.toArray().map((row) => [`${row.tenant}/${row.name}`, row]));
  return cards.flatMap((card) => {
    const server = servers.get(`${card.tenant}/${card.server}`);
    if (server === undefined) return [];
    const { spelling: tenant, version, generation } = server;
    return [{ ...card, tenant, version: card.version ?? version ?? undefined, generation }];
  });
}
