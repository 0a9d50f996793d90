import type { TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Flag } from "../../manifest/flag.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { StoredCard } from "../contract.ts";
import { tokensOf } from "../item-terms.ts";
import { readTermWeights } from "../term-weights.ts";

interface CardPlace {
  tenant: TenantKey;
  server: string;
  kind: CapabilityKind;
  key: string;
}

/** Inserts or replaces a card and its index terms. */
export function putCard(sql: SqlStorage, card: StoredCard, bag: ArrayBuffer): void {
  const { number } = sql
    .exec<{ number: number }>(
      `INSERT INTO card (tenant, server, kind, key, id, digest, tokens, version, title, description, bag, flags,
         deprecated)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
       ON CONFLICT (tenant, server, kind, key) DO UPDATE SET
         id = ?5, digest = ?6, tokens = ?7, version = ?8, title = ?9, description = ?10, bag = ?11, flags = ?12,
         deprecated = ?13
       RETURNING number`,
      ...[card.tenant, card.server, card.kind, card.key, card.id, card.digest, card.tokens],
      ...[card.version ?? null, card.title ?? null, card.description ?? null, bag],
      ...[JSON.stringify(card.flags), card.deprecated ?? null],
    )
    .one();
  const tokens = tokensOf(readTermWeights(bag)).join(" ");
  sql.exec("INSERT OR REPLACE INTO card_text (rowid, terms) VALUES (?, ?)", number, tokens);
}

export function dropCard(sql: SqlStorage, { tenant, server, kind, key }: CardPlace): void {
  drop(sql, "tenant = ? AND server = ? AND kind = ? AND key = ?", tenant, server, kind, key);
}

/** Drops all cards of a server. */
export function dropCards(sql: SqlStorage, tenant: TenantKey, server: string): void {
  drop(sql, "tenant = ? AND server = ?", tenant, server);
}

/** Term weights stored for one item, or for all items of the server if kind or key is absent. */
export function termWeightsAt(
  sql: SqlStorage,
  { tenant, server, kind, key }: Pick<CardPlace, "tenant" | "server"> & Partial<CardPlace>,
): ArrayBuffer[] {
  const one = kind === undefined || key === undefined ? [] : [kind, key];
  const rows = sql.exec<{ bag: ArrayBuffer }>(
    `SELECT bag FROM card WHERE tenant = ? AND server = ? ${one.length === 0 ? "" : "AND kind = ? AND key = ?"}`,
    ...[tenant, server, ...one],
  );
  return rows.toArray().map(({ bag }) => bag);
}

function drop(sql: SqlStorage, which: string, ...values: string[]): void {
  sql.exec(`DELETE FROM card_text WHERE rowid IN (SELECT number FROM card WHERE ${which})`, ...values);
  sql.exec(`DELETE FROM card WHERE ${which}`, ...values);
}

/** Number of cards that contain each token, from the full-text index. Reads every posting of each token. */
export function countTerms(sql: SqlStorage, tokens: readonly string[]): Map<string, number> {
  const rows = sql.exec<{ term: string; doc: number }>(
    "SELECT term, doc FROM card_vocabulary WHERE term IN (SELECT value FROM json_each(?))",
    JSON.stringify(tokens),
  );
  return new Map(rows.toArray().map(({ term, doc }) => [term, doc]));
}

/** An SQL condition on `card` with its bound values. The SQL text never comes from a caller. */
export interface CardCondition {
  where: string;
  values: SqlStorageValue[];
  /** True if an index finds the matching cards. */
  indexed?: boolean;
}

/** A column has one of the values. All values are bound as one JSON parameter, however many there are. */
export function oneOf(column: "id" | "kind" | "server" | "tenant", values: readonly string[]): CardCondition {
  const where = `card.${column} IN (SELECT value FROM json_each(?))`;
  return { where, values: [JSON.stringify(values)], indexed: column === "tenant" };
}

/** Order of cards without a ranking. */
export const inOrder = "card.tenant, card.server, card.kind, card.key";

export function listCards(sql: SqlStorage, conditions: readonly CardCondition[]): StoredCard[] {
  const { where, values } = allOf(conditions);
  const rows = sql.exec<CardRow>(`SELECT * FROM card WHERE ${where} ORDER BY ${inOrder}`, ...values);
  return rows.toArray().map(cardOf);
}

export function allOf(conditions: readonly CardCondition[]): CardCondition {
  return {
    where: conditions.map(({ where }) => where).join(" AND ") || "1",
    values: conditions.flatMap(({ values }) => values),
    indexed: conditions.some(({ indexed }) => indexed),
  };
}

export interface CardRow extends Record<string, SqlStorageValue> {
  tenant: TenantKey;
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  tokens: number;
  version: string | null;
  title: string | null;
  description: string | null;
  flags: string;
  deprecated: string | null;
}

export function cardOf(row: CardRow): StoredCard {
  const { tenant, server, kind, key, id, digest, tokens, version, title, description, flags, deprecated } = row;
  return {
    ...{ tenant, server, kind, key, id, digest, tokens },
    version: version ?? undefined,
    title: title ?? undefined,
    description: description ?? undefined,
    flags: flags === "[]" ? [] : (readJson(flags) as Flag[]),
    deprecated: deprecated ?? undefined,
  };
}
