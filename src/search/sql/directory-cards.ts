import type { ServerRef } from "../../kernel/names.ts";
import type { PublicItems } from "../contract.ts";
import { dropCard, dropCards, putCard } from "./card-table.ts";

/** Applies a batch of item changes. The caller has checked that the directory has no later generation of the server. */
export function applyItems(sql: SqlStorage, place: Place, items: PublicItems): void {
  const { tenant, name } = place;
  const known = sql
    .exec<{ public_since: number }>(
      "SELECT public_since FROM indexed_server WHERE tenant = ? AND name = ?",
      tenant,
      name,
    )
    .toArray()[0];
  if (known === undefined || known.public_since < items.publicSince) {
    // The server was private or deleted in between, and the directory got no item changes meanwhile. Compare
    // generations instead of sending a drop flag: a first batch that arrives twice must not undo the second.
    dropCards(sql, tenant, name);
    sql.exec(
      `INSERT INTO indexed_server (tenant, name, public_since, items_generation) VALUES (?1, ?2, ?3, ?3)
       ON CONFLICT (tenant, name) DO UPDATE SET public_since = ?3, items_generation = ?3`,
      tenant,
      name,
      items.publicSince,
    );
  }
  for (const { kind, key, indexed } of items.changed) {
    const at = { tenant, server: name, kind, key };
    if (indexed === undefined) dropCard(sql, at);
    else putCard(sql, { ...indexed.card, ...at }, indexed);
  }
  if (items.complete) {
    sql.exec(
      "UPDATE indexed_server SET items_generation = ? WHERE tenant = ? AND name = ?",
      place.generation,
      tenant,
      name,
    );
  }
}

/** Removes all items of a server that is no longer public. */
export function dropItems(sql: SqlStorage, { tenant, name }: ServerRef): void {
  dropCards(sql, tenant, name);
  sql.exec("DELETE FROM indexed_server WHERE tenant = ? AND name = ?", tenant, name);
}

interface Place extends ServerRef {
  generation: number;
}
