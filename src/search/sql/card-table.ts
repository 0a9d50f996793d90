import type { TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Attribute } from "../../manifest/attributes.ts";
import type { Flag } from "../../manifest/flag.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { IndexColumns, StoredCard } from "../contract.ts";

interface CardPlace {
  tenant: TenantKey;
  server: string;
  kind: CapabilityKind;
  key: string;
}

/**
 * Inserts or replaces a card. Its number is higher than any before: those that were written since are found by it. The
 * generation is part of it, because the highest number may belong to a card that was deleted.
 */
export function putCard(sql: SqlStorage, card: StoredCard, { bag, vector }: IndexColumns): void {
  sql.exec(
    `INSERT OR REPLACE INTO card (tenant, server, kind, key, id, digest, tokens, version, title, description, bag, flags,
       deprecated, vector, attributes, number)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
       max((SELECT value + 1 FROM meta WHERE key = 'generation') * ${2 ** numberBits},
         (SELECT coalesce(max(number), 0) + 1 FROM card)))`,
    ...[card.tenant, card.server, card.kind, card.key, card.id, card.digest, card.tokens],
    ...[card.version ?? null, card.title ?? null, card.description ?? null, bag],
    ...[JSON.stringify(card.flags), card.deprecated ?? null, vector, JSON.stringify(card.attributes)],
  );
}

/** Cards that one generation may write before numbers of the next are used. */
const numberBits = 20;

export function dropCard(sql: SqlStorage, { tenant, server, kind, key }: CardPlace): void {
  sql.exec("DELETE FROM card WHERE tenant = ? AND server = ? AND kind = ? AND key = ?", tenant, server, kind, key);
}

/** Drops all cards of a server. */
export function dropCards(sql: SqlStorage, tenant: TenantKey, server: string): void {
  sql.exec("DELETE FROM card WHERE tenant = ? AND server = ?", tenant, server);
}

/** An SQL condition on `card` with its bound values. The SQL text never comes from a caller. */
export interface CardCondition {
  where: string;
  values: SqlStorageValue[];
}

/** A column has one of the values. All values are bound as one JSON parameter, however many there are. */
export function oneOf(column: "id" | "kind" | "server" | "tenant", values: readonly string[]): CardCondition {
  return { where: `card.${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] };
}

/** Cards in order of tenant, server, kind and key. */
export function listCards(sql: SqlStorage, conditions: readonly CardCondition[], limit = -1): StoredCard[] {
  const where = conditions.map((condition) => condition.where).join(" AND ") || "1";
  const rows = sql.exec<CardRow>(
    `SELECT * FROM card WHERE ${where} ORDER BY tenant, server, kind, key LIMIT ?`,
    ...conditions.flatMap(({ values }) => values),
    limit,
  );
  return rows.toArray().map(cardOf);
}

/** Cards by number. */
export function cardsNumbered(sql: SqlStorage, numbers: readonly number[]): Map<number, StoredCard> {
  const rows = sql.exec<CardRow & { number: number }>(
    "SELECT * FROM card WHERE number IN (SELECT value FROM json_each(?))",
    JSON.stringify(numbers),
  );
  return new Map(rows.toArray().map((row) => [row.number, cardOf(row)]));
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
  attributes: string;
}

export function cardOf(row: CardRow): StoredCard {
  const { tenant, server, kind, key, id, digest, tokens, version, title, description } = row;
  const { flags, deprecated, attributes } = row;
  return {
    ...{ tenant, server, kind, key, id, digest, tokens },
    version: version ?? undefined,
    title: title ?? undefined,
    description: description ?? undefined,
    flags: flags === "[]" ? [] : (readJson(flags) as Flag[]),
    deprecated: deprecated ?? undefined,
    attributes: attributes === "[]" ? [] : (readJson(attributes) as Attribute[]),
  };
}

/** Compares two cards by their place in lists. */
export function inListOrder(a: CardPlace, b: CardPlace): number {
  return compare(a.tenant, b.tenant) || compare(a.server, b.server) || compare(a.kind, b.kind) || compare(a.key, b.key);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
