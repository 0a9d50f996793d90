import type { TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import { attributesOf } from "../../manifest/attributes.ts";
import { deprecationOf } from "../../manifest/deprecation.ts";
import type { ItemRef } from "../../manifest/diff.ts";
import type { Flag } from "../../manifest/flag.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { itemFlagsIn } from "../../registry/record.ts";
import { acknowledgedFlags } from "../../registry/sql/acknowledged.ts";
import type { ServerListener } from "../../registry/sql/listener.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import { findLive, flagsOfRow, shownTitle } from "../../registry/sql/servers.ts";
import { tenantOf } from "../../registry/sql/tenant-name.ts";
import { cardWords } from "../card-words.ts";
import type { IndexColumns, ItemChange, StoredCard } from "../contract.ts";
import { itemTermWeights, type ServerWords } from "../item-terms.ts";
import { itemVector } from "../load-word-vectors.ts";
import { type CardRow, cardOf, dropCard, dropCards, putCard } from "./card-table.ts";
import { forgetPending, markItemPending, markItemsPending } from "./pending-items.ts";

/** Keeps a tenant's cards in sync with its servers, and marks the items to send to the directory. */
export function searchCards(sql: SqlStorage): ServerListener {
  return {
    itemsChanged: (server, items) => refreshCards(sql, server, items),
    titleChanged: (server) => refreshServer(sql, server),
    becamePublic: (server, _at, generation) => markItemsPending(sql, tenantOf(sql), server, generation),
    becamePrivate: (server) => forgetPending(sql, server),
    cleared: (server) => dropServerCards(sql, server),
  };
}

/**
 * Updates the cards of these items, drops those of removed and disabled items, and marks the items of a public server
 * as pending for the directory. Called in the transaction that changed the items, after the server's row is updated.
 */
function refreshCards(sql: SqlStorage, server: string, slots: Iterable<ItemRef>): void {
  const row = findLive(sql, server);
  if (row === undefined) return;
  const tenant = tenantOf(sql);
  const words = serverWords(server, shownTitle(row));
  const flagsOf = itemFlagsIn({ flags: flagsOfRow(row), acknowledged: acknowledgedFlags(sql, server) });
  for (const { kind, key } of slots) {
    const item = currentItem(sql, server, { kind, key });
    if (item === undefined) dropCard(sql, { tenant, server, kind, key });
    else putCard(sql, ...indexed(tenant, words, item, flagsOf({ ...item, flags: readJson(item.flags) as Flag[] })));
    if (row.public_since !== null) markItemPending(sql, server, { kind, key }, row.generation);
  }
}

/**
 * Updates the cards of all current and indexed items of a server. Needed when its title changes: items are found by it
 * too.
 */
function refreshServer(sql: SqlStorage, server: string): void {
  const slots = sql.exec<{ kind: CapabilityKind; key: string }>(
    `SELECT kind, key FROM capability WHERE server = ?1 AND last_revision IS NULL
     UNION SELECT kind, key FROM card WHERE tenant = ?2 AND server = ?1`,
    server,
    tenantOf(sql),
  );
  refreshCards(sql, server, slots.toArray());
}

/** Writes the cards of items with something to be known of them again. Other cards are right as they are. */
export function fillCardRecords(sql: SqlStorage): void {
  const items = sql.exec<{ server: string; kind: CapabilityKind; key: string }>(
    `SELECT capability.server, kind, key FROM capability JOIN server ON server.name = capability.server
     WHERE last_revision IS NULL AND (capability.flags <> '[]' OR declared LIKE '%deprecated%'
       OR id IN (SELECT value ->> 'capability' FROM json_each(server.flags)))`,
  );
  for (const [server, slots] of Map.groupBy(items.toArray(), (item) => item.server)) {
    refreshCards(sql, server, slots);
    enqueueTask(sql, "directory", server);
  }
}

/** Rebuilds the index from current items, and enqueues public servers for the directory. */
export function rebuildCards(sql: SqlStorage): void {
  sql.exec("DELETE FROM card");
  const servers = sql.exec<{ name: string; public_since: number | null }>(
    "SELECT name, public_since FROM server WHERE deleted_at IS NULL",
  );
  for (const { name, public_since } of servers.toArray()) {
    refreshServer(sql, name);
    if (public_since !== null) enqueueTask(sql, "directory", name);
  }
}

function dropServerCards(sql: SqlStorage, server: string): void {
  dropCards(sql, tenantOf(sql), server);
  forgetPending(sql, server);
}

/** An item as sent to the directory, from the tenant's index; undefined if the item is removed or disabled. */
export function indexedItem(sql: SqlStorage, server: string, { kind, key }: ItemRef): ItemChange["indexed"] {
  return sql
    .exec<CardRow & { bag: ArrayBuffer; vector: ArrayBuffer | null }>(
      "SELECT * FROM card WHERE tenant = ? AND server = ? AND kind = ? AND key = ?",
      ...[tenantOf(sql), server, kind, key],
    )
    .toArray()
    .map((row) => ({ card: cardOf(row), bag: row.bag, vector: row.vector ?? itemVector(row.bag) }))[0];
}

function serverWords(name: string, title: string | undefined): ServerWords {
  return title === undefined ? { name } : { name, title };
}

interface ItemRow extends Record<string, SqlStorageValue> {
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  tokens: number;
  flags: string;
  declared: string;
}

function currentItem(sql: SqlStorage, server: string, { kind, key }: ItemRef): ItemRow | undefined {
  return sql
    .exec<ItemRow>(
      `SELECT kind, key, id, digest, tokens, flags, declared FROM capability
       WHERE server = ?1 AND kind = ?2 AND key = ?3 AND last_revision IS NULL
         AND NOT EXISTS (SELECT 1 FROM disabled WHERE server = ?1 AND kind = ?2 AND key = ?3)`,
      server,
      kind,
      key,
    )
    .toArray()[0];
}

function indexed(
  tenant: TenantKey,
  server: ServerWords,
  item: ItemRow,
  flags: Flag[],
): [card: StoredCard, columns: IndexColumns] {
  const { kind, key, id, digest, tokens } = item;
  const declared = readJson(item.declared) as Record<string, unknown>;
  const deprecated = deprecationOf(declared);
  const content = { tenant, server: server.name, kind, key, id, digest, tokens, ...cardWords(declared) };
  const bag = itemTermWeights({ key, declared }, server);
  return [
    { ...content, flags, deprecated, attributes: attributesOf(declared) },
    { bag, vector: itemVector(bag) },
  ];
}
