import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { ServerListener } from "../../registry/sql/listener.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { HookCredentials, HookKey, NewHook } from "../contract.ts";
import type { Hook, HookEventType, HookFormat } from "../schema.ts";

export interface HookRow extends Record<string, SqlStorageValue> {
  id: string;
  server: string;
  events: string;
  format: HookFormat;
  signature: Hook["signature"];
  keys: string;
  enabled: number;
  description: string | null;
  created_at: string;
  created_by: string;
  manifest_sequence: number;
  status_sequence: number;
}

export function insertHook(sql: SqlStorage, hook: NewHook, at: string, subject: string): void {
  const { id, server, events, format, signature, key, description = null } = hook;
  insert(sql, "hook", {
    ...{ id, server, format, signature, description },
    events: JSON.stringify(events),
    keys: JSON.stringify([key]),
    enabled: 1,
    created_at: at,
    created_by: subject,
  });
}

export function findHook(sql: SqlStorage, id: string): HookRow | undefined {
  return sql.exec<HookRow>("SELECT * FROM hook WHERE id = ?", id).toArray()[0];
}

export function listHooks(sql: SqlStorage): HookRow[] {
  return sql.exec<HookRow>("SELECT * FROM hook ORDER BY created_at, id").toArray();
}

export function countHooks(sql: SqlStorage): number {
  return Number(sql.exec("SELECT count(*) AS hooks FROM hook").one().hooks);
}

export function changeHook(sql: SqlStorage, id: string, change: { enabled?: boolean; description?: string }): void {
  const { enabled, description } = change;
  if (enabled !== undefined) sql.exec("UPDATE hook SET enabled = ? WHERE id = ?", enabled ? 1 : 0, id);
  if (description !== undefined) sql.exec("UPDATE hook SET description = ? WHERE id = ?", description, id);
}

/** Adds a key as the first. Earlier keys stay valid until the overlap ends, or until they expire if that is sooner. */
export function rotateKeys(sql: SqlStorage, row: HookRow, key: HookKey, overlapMs: number, now: number): void {
  const until = now + overlapMs;
  const kept = validKeys(row, now).map((old) => ({ ...old, until: Math.min(old.until ?? until, until) }));
  const keys = [key, ...kept.filter((old) => old.until > now)].slice(0, maxKeys);
  sql.exec("UPDATE hook SET keys = ? WHERE id = ?", JSON.stringify(keys), row.id);
}

/** Limited because every message is checked against each key. */
const maxKeys = 4;

export function deleteHook(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM hook WHERE id = ?", id);
  sql.exec("DELETE FROM hook_delivery WHERE hook = ?", id);
}

function deleteHooksOf(sql: SqlStorage, server: string): void {
  sql.exec("DELETE FROM hook_delivery WHERE hook IN (SELECT id FROM hook WHERE server = ?)", server);
  sql.exec("DELETE FROM hook WHERE server = ?", server);
}

export function validKeys({ keys }: Pick<HookRow, "keys">, now: number): HookKey[] {
  return (readJson(keys) as HookKey[]).filter(({ until }) => until === undefined || until > now);
}

export function hookOf(sql: SqlStorage, row: HookRow, now: number): Hook {
  const { id, server, format, signature, description, created_at: createdAt, created_by: createdBy } = row;
  return {
    tenant: shownTenant(sql),
    id,
    server,
    events: readJson(row.events) as HookEventType[],
    format,
    signature,
    enabled: row.enabled === 1,
    description: description ?? undefined,
    createdAt,
    createdBy,
    keys: validKeys(row, now).map((key) => ({
      id: key.id,
      until: key.until === undefined ? undefined : new Date(key.until).toISOString(),
    })),
  };
}

export function credentialsOf(row: HookRow, now: number): HookCredentials {
  const events = readJson(row.events) as HookEventType[];
  return { server: row.server, events, format: row.format, enabled: row.enabled === 1, keys: validKeys(row, now) };
}

/** Deletes the hooks of a server that its owner deleted, so that its publisher cannot restore it. */
export function hookRows(sql: SqlStorage): ServerListener {
  return { removed: (server) => deleteHooksOf(sql, server) };
}
