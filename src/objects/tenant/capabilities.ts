import type { IdCollision } from "../../domain/failure.ts";
import type { Flag } from "../../domain/issue.ts";
import type { PreparedCapability } from "../../domain/prepare.ts";

export function readCapability(sql: SqlStorage, server: string, kind: string, digest: string) {
  return sql
    .exec<{ key: string; declared: string; created_at: string | null }>(
      "SELECT key, declared, created_at FROM capability WHERE server = ? AND kind = ? AND digest = ?",
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
  flags: Flag[],
): void {
  // A version that was here before comes back by reopening its row.
  sql.exec(
    `INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, created_at, first_revision)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (server, kind, digest) DO UPDATE SET last_revision = NULL, flags = excluded.flags, id = excluded.id`,
    server,
    item.kind,
    item.digest,
    item.key,
    item.id,
    item.text,
    item.tokens,
    JSON.stringify(flags),
    item.createdAt ?? null,
    revision,
  );
}

/** Ids that other servers of the tenant hold already. */
export function idCollisions(sql: SqlStorage, server: string, added: readonly PreparedCapability[]): IdCollision[] {
  return added.flatMap(({ id, kind, key }) => {
    const other = sql
      .exec<{ server: string; kind: string; key: string }>(
        "SELECT server, kind, key FROM capability WHERE id = ? AND last_revision IS NULL AND server <> ?",
        id,
        server,
      )
      .toArray()[0];
    if (other === undefined) return [];
    return [{ id, item: `${kind} ${key}`, takenBy: `${other.kind} ${other.key} of ${other.server}` }];
  });
}

/** Flags that depend on the tenant's other servers: the same name elsewhere, or text that names another's tool. */
export function neighbourFlags(sql: SqlStorage, server: string, item: PreparedCapability): Flag[] {
  const elsewhere = (kind: string, key: string) =>
    sql
      .exec<{ server: string }>(
        "SELECT server FROM capability WHERE key = ? AND kind = ? AND last_revision IS NULL AND server <> ? LIMIT 1",
        key,
        kind,
        server,
      )
      .toArray()[0]?.server;
  const flags: Flag[] = [];
  if (item.kind !== "tool") return flags;
  const twin = elsewhere("tool", item.key);
  if (twin !== undefined) {
    flags.push({ rule: "name-collision", path: "/name", message: `${twin} has a tool of the same name` });
  }
  for (const name of item.mentions) {
    if (name === item.key) continue;
    const owner = elsewhere("tool", name);
    if (owner === undefined) continue;
    flags.push({ rule: "shadowing", path: "/description", message: `the text names ${name}, a tool of ${owner}` });
    break;
  }
  return flags;
}
