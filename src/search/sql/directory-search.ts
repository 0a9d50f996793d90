import type { TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { CapabilityFlag } from "../../manifest/flag.ts";
import { type ServerFacts, statusFlagsIn } from "../../registry/record.ts";
import { type CardServer, cardWithServer, demoteCards } from "../card-records.ts";
import type {
  CapabilityCard,
  CardQuery,
  FoundCards,
  PublicCard,
  RankedCard,
  StoredCard,
  TenantFilter,
} from "../contract.ts";
import type { StatusOf } from "../index/filter.ts";
import type { WordVectors } from "../word-vectors.ts";
import type { CardIndex } from "./card-index.ts";
import { listCards, oneOf } from "./card-table.ts";
import { conditionsOf, findCards } from "./find-cards.ts";

export function findPublicCards(
  sql: SqlStorage,
  query: CardQuery & TenantFilter,
  at: { index: CardIndex; generation: number; vectors: WordVectors | undefined },
): FoundCards<PublicCard<RankedCard>> {
  const { cards, facets } = findCards({ sql, ...at, statusOf: () => statusesOf(sql) }, query);
  return { cards: demoteCards(withServers(sql, cards)), facets };
}

export function publicCards(sql: SqlStorage, ids: readonly string[], whose: TenantFilter): PublicCard[] {
  return withServers(sql, listCards(sql, [oneOf("id", ids), ...conditionsOf(whose)]));
}

function statusesOf(sql: SqlStorage): StatusOf {
  const rows = sql.exec<{ tenant: TenantKey; name: string; status: ServerFacts["status"] }>(
    "SELECT tenant, name, entry ->> '$.status' AS status FROM server WHERE public = 1 AND entry IS NOT NULL",
  );
  const found = new Map(rows.toArray().map(({ tenant, name, status }) => [`${tenant}/${name}`, status]));
  return ({ tenant, name }) => found.get(`${tenant}/${name}`);
}

interface ServerRow extends Record<string, SqlStorageValue> {
  tenant: TenantKey;
  name: string;
  entry: string;
  generation: number;
}

/**
 * Adds what is known of the server at query time, so that a new version or status rewrites none of its cards. Cards of
 * servers that are not public now are left out, even if their items are still indexed.
 */
function withServers<T extends StoredCard>(
  sql: SqlStorage,
  cards: readonly T[],
): PublicCard<Omit<T, keyof StoredCard> & CapabilityCard>[] {
  const places = new Map(cards.map(({ tenant, server }) => [`${tenant}/${server}`, [tenant, server]]));
  const rows = sql.exec<ServerRow>(
    `SELECT server.tenant, server.name, indexed_server.items_generation AS generation,
       json_extract(server.entry, '$.tenant', '$.version', '$.status', '$.statusMessage', '$.stale', '$.pending', '$.flags') AS entry
     FROM json_each(?) AS place
     JOIN server ON server.tenant = place.value ->> 0 AND server.name = place.value ->> 1
     JOIN indexed_server ON indexed_server.tenant = server.tenant AND indexed_server.name = server.name
     WHERE server.public = 1`,
    JSON.stringify([...places.values()]),
  );
  const servers = new Map(rows.toArray().map((row) => [`${row.tenant}/${row.name}`, serverOf(row)]));
  return cards.flatMap((card) => {
    const server = servers.get(`${card.tenant}/${card.server}`);
    return server === undefined ? [] : [{ ...cardWithServer(card, server), generation: server.generation }];
  });
}

function serverOf({ entry, generation }: ServerRow): CardServer & { generation: number } {
  const [tenant, version, status, message, stale, pending, flags] = readJson(entry) as EntryMembers;
  const facts: ServerFacts = {
    status,
    statusMessage: message ?? undefined,
    stale: stale ?? undefined,
    pending: pending ?? undefined,
    statusFlags: statusFlagsIn(flags ?? []),
  };
  return { tenant, version: version ?? undefined, facts, generation };
}

/** In the order of the query. */
type EntryMembers = [
  tenant: string,
  version: string | null,
  status: ServerFacts["status"],
  message: string | null,
  stale: true | null,
  pending: "source" | "review" | null,
  flags: CapabilityFlag[] | null,
];
