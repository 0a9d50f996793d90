import { readJson } from "../../kernel/read-json.ts";
import type { CapabilityFlag } from "../../manifest/flag.ts";
import type { AcknowledgedFlag, ProbeState } from "../../registry/contract.ts";
import { type ServerFacts, serverFlags, sourceFacts, statusFlagsIn } from "../../registry/record.ts";
import type { ServerStatus } from "../../registry/schema.ts";
import { acknowledgedFlags } from "../../registry/sql/acknowledged.ts";
import { boundIds, isAtPlace, itemsOfWanted } from "../../registry/sql/item-ids.ts";
import { shownTenant, tenantOf } from "../../registry/sql/tenant-name.ts";
import { type CardServer, cardWithServer, demoteCards } from "../card-records.ts";
import type { CapabilityCard, CardQuery, FoundCards, StoredCard } from "../contract.ts";
import type { StatusOf } from "../index/filter.ts";
import type { WordVectors } from "../word-vectors.ts";
import type { CardIndex } from "./card-index.ts";
import { type CardRow, cardOf, inListOrder } from "./card-table.ts";
import { findCards } from "./find-cards.ts";

export function findTenantCards(
  sql: SqlStorage,
  query: CardQuery,
  at: { index: CardIndex; generation: number; vectors: WordVectors | undefined },
): FoundCards {
  const { cards, facets } = findCards({ sql, ...at, statusOf: () => statusesOf(sql) }, query);
  const servers = serversOf(sql, cards);
  return { cards: demoteCards(cards.map((card) => cardWithServer(card, servers(card)))), facets };
}

function statusesOf(sql: SqlStorage): StatusOf {
  const rows = sql.exec<{ name: string; status: ServerStatus | null }>(
    "SELECT name, config ->> '$.status' AS status FROM server WHERE deleted_at IS NULL",
  );
  const found = new Map(rows.toArray().map(({ name, status }) => [name, status ?? "active"]));
  return ({ name }) => found.get(name);
}

export function tenantCards(sql: SqlStorage, ids: readonly string[]): (CapabilityCard & { public: boolean })[] {
  const cards = cardsWithIds(sql, ids);
  const servers = serversOf(sql, cards);
  return cards.map((card) => {
    const server = servers(card);
    return { ...cardWithServer(card, server), public: server.public };
  });
}

/** In the order of lists. */
function cardsWithIds(sql: SqlStorage, ids: readonly string[]): StoredCard[] {
  const tenant = tenantOf(sql);
  const [, places] = boundIds(ids);
  const atPlaces = `SELECT item.* FROM json_each(?) AS place CROSS JOIN card AS item ON item.tenant = ? AND ${isAtPlace}`;
  const found = sql.exec<CardRow>(atPlaces, places, tenant).toArray();
  const known = new Set(found.map(({ id }) => id));
  const others = [...new Set(ids)].filter((id) => !known.has(id));
  if (others.length > 0) {
    const withOwn = `SELECT card.* FROM json_each(?) AS wanted ${itemsOfWanted} CROSS JOIN card
      ON card.tenant = ? AND card.server = item.server AND card.kind = item.kind AND card.key = item.key`;
    found.push(...sql.exec<CardRow>(withOwn, JSON.stringify(others), tenant).toArray());
  }
  return found.map(cardOf).sort(inListOrder);
}

interface TenantServer extends CardServer {
  public: boolean;
}

interface ReadRow {
  status: ProbeState;
  lastSynced: string | null;
}

interface ServerRow extends Record<string, SqlStorageValue> {
  name: string;
  version: string | null;
  public: number;
  status: ServerStatus | null;
  message: string | null;
  flags: string;
  sources: string;
}

/**
 * Server fields that cards show. Read at query time and not stored with the card: each new version, status or reading of a
 * server would otherwise rewrite all its cards.
 */
function serversOf(sql: SqlStorage, cards: readonly StoredCard[]): (card: StoredCard) => TenantServer {
  const names = [...new Set(cards.map(({ server }) => server))];
  const rows = sql.exec<ServerRow>(
    `SELECT name, public_since IS NOT NULL AS public,
       iif(json_type(config, '$.version') = 'text', json_extract(config, '$.version'),
         json_extract(summary, '$.version')) AS version,
       config ->> '$.status' AS status, config ->> '$.statusMessage' AS message,
       iif(config ->> '$.statusMessage' IS NULL, '[]', flags) AS flags,
       (SELECT json_group_array(json_object('status', state, 'lastSynced', last_synced))
        FROM source WHERE source.server = server.name) AS sources
     FROM server WHERE name IN (SELECT value FROM json_each(?))`,
    JSON.stringify(names),
  );
  const tenant = shownTenant(sql);
  const found = new Map(
    rows
      .toArray()
      .map((row) => [row.name, serverOf(tenant, row, row.message === null ? [] : acknowledgedFlags(sql, row.name))]),
  );
  return ({ server }) => found.get(server) ?? { tenant, public: false, facts: { status: "active" } };
}

function serverOf(tenant: string, row: ServerRow, acknowledged: AcknowledgedFlag[]): TenantServer {
  const { version, public: listed, status, message, sources } = row;
  const facts: ServerFacts = {
    status: status ?? "active",
    statusMessage: message ?? undefined,
    statusFlags: statusFlagsIn(serverFlags({ flags: readJson(row.flags) as CapabilityFlag[], acknowledged })),
    ...sourceFacts(
      (readJson(sources) as ReadRow[]).map(({ status: state, lastSynced }) => ({
        status: state,
        lastSynced: lastSynced ?? undefined,
      })),
    ),
  };
  return { tenant, public: listed === 1, version: version ?? undefined, facts };
}
