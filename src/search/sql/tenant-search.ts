import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { CapabilityCard, CardQuery, RankedCard } from "../contract.ts";
import type { WordVectors } from "../word-vectors.ts";
import { countTerms, listCards, oneOf } from "./card-table.ts";
import { findCards } from "./find-cards.ts";

export function findTenantCards(sql: SqlStorage, query: CardQuery, vectors: WordVectors | undefined): RankedCard[] {
  const cards = findCards(sql, query, [], { vectors, count: countTerms });
  const servers = serversOf(sql, cards);
  const tenant = shownTenant(sql);
  return cards.map((card) => ({ ...card, tenant, version: card.version ?? servers.get(card.server)?.version }));
}

export function tenantCards(sql: SqlStorage, ids: readonly string[]): (CapabilityCard & { public: boolean })[] {
  const cards = listCards(sql, [oneOf("id", ids)]);
  const servers = serversOf(sql, cards);
  const tenant = shownTenant(sql);
  return cards.map((card) => {
    const server = servers.get(card.server);
    return { ...card, tenant, version: card.version ?? server?.version, public: server?.public ?? false };
  });
}

/**
 * Server fields that cards show. Read at query time and not stored with the card: each new version of a server would
 * otherwise rewrite all its cards.
 */
function serversOf(sql: SqlStorage, cards: readonly CapabilityCard[]) {
  const names = [...new Set(cards.map(({ server }) => server))];
  const rows = sql.exec<{ name: string; version: string | null; public: number }>(
    `SELECT name, public_since IS NOT NULL AS public,
       iif(json_type(config, '$.version') = 'text', json_extract(config, '$.version'),
         json_extract(summary, '$.version')) AS version
     FROM server WHERE name IN (SELECT value FROM json_each(?))`,
    JSON.stringify(names),
  );
  return new Map(
    rows
      .toArray()
      .map(({ name, version, public: listed }) => [name, { public: listed === 1, version: version ?? undefined }]),
  );
}
