import { type ItemPlace, isIdOfPlace, placeOfId } from "../../manifest/capability-id.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";

/**
 * Most ids follow from where their item is, so they need no index: the item is found by its place. `own_id` is the id of
 * an item where it does not, and null where it does.
 */

export function ownIdOf(id: string, place: ItemPlace): string | null {
  return isIdOfPlace(id, place) ? null : id;
}

/** Joins current items whose ids were chosen: SQL on `wanted`, which has the id as its value. */
export const itemsOfWanted = `CROSS JOIN capability AS item INDEXED BY capability_own_id
  ON item.own_id = wanted.value AND item.last_revision IS NULL`;

/** SQL condition on a row `item` with the columns of a place: it is at `place`, of `boundIds`, and has the id. */
export const isAtPlace = `item.server = place.value ->> 0 AND item.kind = place.value ->> 1
  AND item.key = place.value ->> 2 AND item.id = place.value ->> 3`;

/** Rows of current items with the bound ids, to select from: binds the values of `boundIds`. */
export const itemsWithIds = `(
  SELECT item.* FROM json_each(?) AS wanted ${itemsOfWanted}
  UNION ALL SELECT item.* FROM json_each(?) AS place
    CROSS JOIN capability AS item INDEXED BY capability_current ON ${isAtPlace} AND item.last_revision IS NULL)`;

/** `exceptOf`: items of this server are not found by their place. */
export function boundIds(ids: readonly string[], exceptOf?: string): [ids: string, places: string] {
  const wanted = [...new Set(ids)];
  const places = wanted.flatMap((id) => {
    const place = placeOfId(id);
    if (place === undefined || place.server === exceptOf) return [];
    return [[place.server, place.kind, place.key, id]];
  });
  return [JSON.stringify(wanted), JSON.stringify(places)];
}

export const ownIdColumn = `
  ALTER TABLE capability ADD COLUMN own_id TEXT;
  DROP INDEX capability_id;
  CREATE UNIQUE INDEX capability_own_id ON capability (own_id) WHERE own_id IS NOT NULL AND last_revision IS NULL;
`;

const rowsAtOnce = 5_000;

/** The id follows from the place, and nothing in it is escaped: so it is of most items. */
const isPlain = `id = 'mcp.' || server || '.' || key AND kind = 'tool'
  AND server || key NOT GLOB '*[^A-Za-z0-9_-]*'`;

/** Fills the column of rows that earlier releases wrote. Those of the plainest ids stay as they are. */
export function fillOwnIds(sql: SqlStorage): void {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows = sql
      .exec<{ row: number; server: string; kind: CapabilityKind; key: string; id: string }>(
        `SELECT rowid AS row, server, kind, key, id FROM capability
         WHERE rowid > ? AND NOT (${isPlain}) ORDER BY rowid LIMIT ${rowsAtOnce}`,
        after,
      )
      .toArray();
    for (const { row, id, ...place } of rows) {
      if (!isIdOfPlace(id, place)) sql.exec("UPDATE capability SET own_id = id WHERE rowid = ?", row);
    }
    after = rows.length < rowsAtOnce ? undefined : rows.at(-1)?.row;
  }
}
