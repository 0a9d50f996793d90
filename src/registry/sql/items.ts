import type { IdCollision } from "../../kernel/failure.ts";
import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import { placeOfId } from "../../manifest/capability-id.ts";
import { definitionText } from "../../manifest/definition.ts";
import { analysisVersion } from "../../manifest/describe.ts";
import { itemKey } from "../../manifest/diff.ts";
import type { CapabilityFlag, Flag } from "../../manifest/flag.ts";
import type { PreparedCapability } from "../../manifest/prepare.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { StoredCapability } from "../../manifest/stored.ts";
import { boundIds, itemsWithIds, ownIdOf } from "./item-ids.ts";
import type { ServerRow } from "./servers.ts";
import { isNotHidden } from "./switches.ts";

export function readCapability(sql: SqlStorage, server: string, kind: string, digest: string) {
  return sql
    .exec<{ key: string; id: string; declared: string; created_at: string | null }>(
      "SELECT key, id, declared, created_at FROM capability WHERE server = ? AND kind = ? AND digest = ?",
      server,
      kind,
      digest,
    )
    .one();
}

export function closeCapability(
  sql: SqlStorage,
  server: string,
  kind: string,
  digest: string,
  lastRevision: number,
): void {
  sql.exec(
    "UPDATE capability SET last_revision = ? WHERE server = ? AND kind = ? AND digest = ?",
    lastRevision,
    server,
    kind,
    digest,
  );
}

export function insertCapability(
  sql: SqlStorage,
  server: string,
  revision: number,
  item: PreparedCapability,
  at: string,
): void {
  // A version that the server had before becomes current again by reopening its row. Its tokens stay as they are:
  // they follow from the same content, and a row that is to be analysed again still says so.
  insert(
    sql,
    "capability",
    capabilityRow(server, revision, item, at),
    "ON CONFLICT (server, kind, digest) DO UPDATE SET last_revision = NULL, id = excluded.id, own_id = excluded.own_id",
  );
}

/** The row of a new version of an item. */
export function capabilityRow(server: string, revision: number, item: PreparedCapability, at: string) {
  const { kind, digest, key, id, tokens } = item;
  return {
    ...{ server, kind, digest, key, id, tokens },
    declared: item.text,
    own_id: ownIdOf(id, { server, kind, key }),
    flags: JSON.stringify(item.flags),
    created_at: item.createdAt ?? (item.discovered ? at : null),
    first_revision: revision,
    analysis: analysisVersion,
  };
}

/** Token counts of a server's current items, by the text of their definitions. */
export function currentTokens(sql: SqlStorage, server: string): Map<string, number> {
  const rows = sql.exec<{ kind: CapabilityKind; declared: string; tokens: number }>(
    `SELECT kind, declared, tokens FROM capability INDEXED BY capability_current
     WHERE server = ? AND last_revision IS NULL AND analysis = ?`,
    server,
    analysisVersion,
  );
  const known = new Map<string, number>();
  for (const { kind, declared, tokens } of rows) known.set(definitionText(kind, declared), tokens);
  return known;
}

/** The flags that answers about a server show. */
export function currentFlags(sql: SqlStorage, server: string, row: Pick<ServerRow, "flags"> | undefined): Flag[] {
  if (row === undefined) return [];
  const rows = sql.exec<{ flags: string }>(
    "SELECT flags FROM capability WHERE server = ? AND last_revision IS NULL AND flags <> '[]'",
    server,
  );
  const ofItems = rows.toArray().flatMap(({ flags }) => readJson(flags) as Flag[]);
  return [...(readJson(row.flags) as Flag[]), ...ofItems];
}

/** The tenant's current item with this id, unless it is hidden with its source. */
export function findCapability(
  sql: SqlStorage,
  id: string,
): { server: string; capability: StoredCapability } | undefined {
  const row = itemAtPlace(sql, id) ?? itemWhere(sql, "own_id = ?", id);
  if (row === undefined) return undefined;
  const { server, kind, key, digest, tokens } = row;
  const capability: StoredCapability = {
    kind,
    key,
    id,
    digest,
    tokens,
    flags: readJson(row.flags) as Flag[],
    declared: readJson(row.declared) as Record<string, unknown>,
    createdAt: row.created_at ?? undefined,
  };
  return { server, capability };
}

function itemAtPlace(sql: SqlStorage, id: string): CapabilityRow | undefined {
  const place = placeOfId(id);
  if (place === undefined) return undefined;
  return itemWhere(sql, "server = ? AND kind = ? AND key = ? AND id = ?", place.server, place.kind, place.key, id);
}

function itemWhere(sql: SqlStorage, where: string, ...values: string[]): CapabilityRow | undefined {
  const found = `SELECT * FROM capability AS item WHERE ${where} AND last_revision IS NULL AND ${isNotHidden}`;
  return sql.exec<CapabilityRow>(found, ...values).toArray()[0];
}

interface CapabilityRow extends Record<string, SqlStorageValue> {
  server: string;
  kind: CapabilityKind;
  key: string;
  digest: string;
  tokens: number;
  flags: string;
  declared: string;
  created_at: string | null;
}

/** Ids that other servers of the tenant already use. */
export function idCollisions(sql: SqlStorage, server: string, added: readonly PreparedCapability[]): IdCollision[] {
  const wanted = new Map(added.map((item) => [item.id, item]));
  return currentElsewhere(sql, server, [...wanted.keys()]).flatMap((other) => {
    const item = wanted.get(other.id);
    if (item === undefined) return [];
    return [{ id: other.id, item: itemKey(item), takenBy: `${itemKey(other)} of ${other.server}` }];
  });
}

/**
 * Flags that depend on the tenant's other servers: a tool of the same name, or text that mentions another server's
 * tool. The other server is not named: a reader of this server may not be allowed to know of it. Text about the
 * server's own tools is no flag, whoever else has tools of these names.
 */
export function neighbourFlags(
  sql: SqlStorage,
  server: string,
  added: readonly PreparedCapability[],
  own: ReadonlySet<string>,
): CapabilityFlag[] {
  const names = new Set(
    added.flatMap(({ kind, key, mentions }) => [
      ...(kind === "tool" ? [key] : []),
      ...mentions.map(({ name }) => name),
    ]),
  );
  const owners = toolsElsewhere(sql, server, [...names]);
  return added.flatMap((item) => flagsOf(item, owners, own).map((flag) => ({ ...flag, capability: item.id })));
}

function flagsOf(
  { kind, key, mentions }: PreparedCapability,
  owners: ReadonlySet<string>,
  own: ReadonlySet<string>,
): Flag[] {
  const flags: Flag[] = [];
  if (kind === "tool" && owners.has(key)) {
    flags.push({
      rule: "name-collision",
      path: "/name",
      message: "another server of the tenant has a tool of this name",
    });
  }
  const foreign = mentions.filter(({ name }) => !own.has(name) && owners.has(name));
  const mention = foreign.find(({ steers }) => steers) ?? foreign[0];
  if (mention !== undefined) {
    const rule = mention.steers ? "shadowing" : "tool-mention";
    flags.push({ rule, path: "/description", message: mentionMessage(mention.name) });
  }
  return flags;
}

/** Also tells which tool a stored flag is about. */
export function mentionMessage(name: string): string {
  return `the text names ${name}, a tool of another server of the tenant`;
}

interface CurrentItem extends Record<string, SqlStorageValue> {
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
}

/** Keep the bound JSON list below the size limit of one SQL value; a derived id can contain a whole escaped URI. */
const lookupBatchSize = 500;
const lookUpCharacters = 250_000;

/** Current items of the tenant's other servers with one of these ids, in few statements for any number of ids. */
function currentElsewhere(sql: SqlStorage, server: string, ids: string[]): CurrentItem[] {
  return batches(ids).flatMap((some) =>
    sql
      .exec<CurrentItem>(
        `SELECT server, kind, key, id FROM ${itemsWithIds} WHERE server <> ?`,
        ...boundIds(some, server),
        server,
      )
      .toArray(),
  );
}

/** The names that are tools of another server. EXISTS stops at the first match, however many servers have the tool. */
function toolsElsewhere(sql: SqlStorage, server: string, names: string[]): Set<string> {
  const found = batches(names).flatMap((some) =>
    sql
      .exec<{ name: string }>(
        `SELECT value AS name FROM json_each(?) WHERE EXISTS (
           SELECT 1 FROM capability WHERE key = value AND kind = 'tool' AND last_revision IS NULL AND server <> ?)`,
        JSON.stringify(some),
        server,
      )
      .toArray(),
  );
  return new Set(found.map(({ name }) => name));
}

function batches(values: readonly string[]): string[][] {
  const made: string[][] = [];
  let room = 0;
  for (const value of values) {
    if (room < value.length || (made.at(-1)?.length ?? lookupBatchSize) >= lookupBatchSize) {
      made.push([]);
      room = lookUpCharacters;
    }
    made.at(-1)?.push(value);
    room -= value.length;
  }
  return made;
}
