import type { CapabilityCard, CardQuery } from "../domain/capability-card.ts";
import { matchQuery, type SearchText } from "../domain/search-text.ts";
import type { CapabilityKind } from "../schemas/index.ts";

/**
 * The tables `card` and `card_text`, which a tenant has of its own items and the directory of public ones. `card_text`
 * keeps no text, only which words are where, under the number of the card. That number is a declared key because a
 * rowid that is not may be renumbered, and would then point at another item's words.
 */

export interface CardPlace {
  tenant: string;
  server: string;
  kind: CapabilityKind;
  key: string;
}

export type RankedCard = CapabilityCard & { score: number };

/** Puts an item into the index, in place of what was there under its kind and key. */
export function putCard(sql: SqlStorage, card: CapabilityCard, text: SearchText): void {
  const { number } = sql
    .exec<{ number: number }>(
      `INSERT INTO card (tenant, server, kind, key, id, digest, tokens, version, title, description)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
       ON CONFLICT (tenant, server, kind, key) DO UPDATE SET
         id = ?5, digest = ?6, tokens = ?7, version = ?8, title = ?9, description = ?10
       RETURNING number`,
      ...[card.tenant, card.server, card.kind, card.key, card.id, card.digest, card.tokens],
      ...[card.version ?? null, card.title ?? null, card.description ?? null],
    )
    .one();
  sql.exec(
    `INSERT OR REPLACE INTO card_text (rowid, name, title, description, parameters, server)
     VALUES (?, ?, ?, ?, ?, ?)`,
    number,
    text.name,
    text.title,
    text.description,
    text.parameters,
    text.server,
  );
}

export function dropCard(sql: SqlStorage, { tenant, server, kind, key }: CardPlace): void {
  drop(sql, "tenant = ? AND server = ? AND kind = ? AND key = ?", tenant, server, kind, key);
}

/** Drops all of one server's. */
export function dropCards(sql: SqlStorage, tenant: string, server: string): void {
  drop(sql, "tenant = ? AND server = ?", tenant, server);
}

function drop(sql: SqlStorage, which: string, ...values: string[]): void {
  sql.exec(`DELETE FROM card_text WHERE rowid IN (SELECT number FROM card WHERE ${which})`, ...values);
  sql.exec(`DELETE FROM card WHERE ${which}`, ...values);
}

/** A condition on `card`, worded by code and never by a caller, with the values it takes. */
export interface CardCondition {
  where: string;
  values: SqlStorageValue[];
}

/** A column that has one of the values. However many there are, they are bound as one. */
export function oneOf(column: "id" | "kind" | "tenant", values: readonly string[]): CardCondition {
  return { where: `card.${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] };
}

/** A hit in the name counts most; in the server's words, which all its items share, least. */
const rank = "-bm25(card_text, 4.0, 2.0, 1.0, 0.5, 0.5)";
const inOrder = "card.tenant, card.server, card.kind, card.key";

/** The best first; where the text has nothing to look for, all of them in order. */
export function findCards(
  sql: SqlStorage,
  { text, kinds, limit }: CardQuery,
  conditions: readonly CardCondition[] = [],
): RankedCard[] {
  const match = matchQuery(text);
  const ranked = match !== undefined;
  const { where, values } = allOf([
    ...(ranked ? [{ where: "card_text MATCH ?", values: [match] }] : []),
    ...(kinds === undefined ? [] : [oneOf("kind", kinds)]),
    ...conditions,
  ]);
  const hits = `SELECT card.number, ${ranked ? rank : "0.0"} AS score
    FROM ${ranked ? "card_text JOIN card ON card.number = card_text.rowid" : "card"}
    WHERE ${where} ORDER BY ${ranked ? "score DESC, " : ""}${inOrder} LIMIT ?`;
  // The words to show are read for the few that are left, not carried through the sorting.
  const rows = sql.exec<CardRow & { score: number }>(
    `SELECT card.*, hit.score FROM (${hits}) AS hit JOIN card ON card.number = hit.number
     ORDER BY hit.score DESC, ${inOrder}`,
    ...values,
    limit,
  );
  return rows.toArray().map((row) => ({ ...cardOf(row), score: row.score }));
}

export function listCards(sql: SqlStorage, conditions: readonly CardCondition[]): CapabilityCard[] {
  const { where, values } = allOf(conditions);
  const rows = sql.exec<CardRow>(`SELECT * FROM card WHERE ${where} ORDER BY ${inOrder}`, ...values);
  return rows.toArray().map(cardOf);
}

function allOf(conditions: readonly CardCondition[]): CardCondition {
  return {
    where: conditions.map(({ where }) => where).join(" AND ") || "1",
    values: conditions.flatMap(({ values }) => values),
  };
}

interface CardRow extends Record<string, SqlStorageValue> {
  tenant: string;
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  tokens: number;
  version: string | null;
  title: string | null;
  description: string | null;
}

function cardOf({
  tenant,
  server,
  kind,
  key,
  id,
  digest,
  tokens,
  version,
  title,
  description,
}: CardRow): CapabilityCard {
  return {
    ...{ tenant, server, kind, key, id, digest, tokens },
    ...(version === null ? {} : { version }),
    ...(title === null ? {} : { title }),
    ...(description === null ? {} : { description }),
  };
}
