import { readJson } from "../../kernel/read-json.ts";
import { clip } from "../../kernel/text.ts";
import type { LogChange } from "../../manifest/diff.ts";
import { keepSevere } from "../../manifest/flag.ts";
import type { ServerState } from "../contract.ts";
import { recordOf, serverFlags } from "../record.ts";
import type { RegistryRecord } from "../record-schema.ts";
import type { ServerConfig } from "../schema.ts";
import { acknowledgedFlags } from "./acknowledged.ts";
import { appendChanges, recordChanges } from "./change-log.ts";
import type { WriteContext } from "./listener.ts";
import { loggedFlags } from "./log/change-records.ts";
import { cancelTask, enqueueTask } from "./outbox-table.ts";
import { bumpOverlay, findLive, flagsOfRow, type ServerRow, setConfig, shownTokens } from "./servers.ts";
import { sourceRows, stopLooks } from "./source-rows.ts";
import { shownTenant } from "./tenant-name.ts";

export function stateOf({ status = "active", statusMessage }: Pick<ServerConfig, keyof ServerState>): ServerState {
  return { status, statusMessage };
}

export function stateOfRow({ config }: Pick<ServerRow, "config">): ServerState {
  return stateOf(readJson(config) as ServerConfig);
}

export function isSameState(a: ServerState, b: ServerState): boolean {
  return a.status === b.status && a.statusMessage === b.statusMessage;
}

/**
 * The only way to change a server's status. Logs one advisory change, in the generation of the same write if it has one
 * already, and leaves content and digest alone. Returns the generation; undefined if the state is the one that the
 * server has, or the server does not exist.
 */
export function setServerStatus(
  { sql, keep, listener }: WriteContext,
  name: string,
  next: ServerState,
  { at, generation: current }: { at: string; generation?: number },
): number | undefined {
  const row = findLive(sql, name);
  if (row === undefined) return undefined;
  const config = readJson(row.config) as ServerConfig;
  const before = stateOf(config);
  if (isSameState(before, next)) return undefined;
  setConfig(sql, withState(config, next));
  // With the flags of the new message, not of the one before.
  const changes = [{ ...statusChange(name, next), registry: rowRecord(sql, findLive(sql, name) ?? row, next) }];
  if (current !== undefined) appendChanges(sql, name, at, changes, current);
  const generation = current ?? recordChanges(sql, name, at, changes, keep.changes).generation;
  bumpOverlay(sql, name, generation, at);
  listener.statusChanged(name, next, at, generation);
  // Sources are not read while a server is withdrawn.
  if (next.status === "withdrawn") {
    cancelTask(sql, "refresh", name);
    stopLooks(sql, name);
  } else if (before.status === "withdrawn" && sourceRows(sql, name).length > 0) enqueueTask(sql, "refresh", name);
  return generation;
}

/** What is known of a server in a state, for the log. */
function rowRecord(sql: SqlStorage, row: ServerRow, state: ServerState): RegistryRecord {
  const head = {
    flags: flagsOfRow(row),
    acknowledged: acknowledgedFlags(sql, row.name),
    digest: row.digest ?? undefined,
  };
  return recordOf({ tokens: shownTokens(sql, row), flags: keepSevere(serverFlags(head), loggedFlags) }, state);
}

/** The config with another state. Active is the default and is not stored. */
export function withState(config: ServerConfig, { status, statusMessage }: ServerState): ServerConfig {
  const { status: _, statusMessage: __, ...rest } = config;
  return { ...rest, status: status === "active" ? undefined : status, statusMessage } as ServerConfig;
}

export function statusChange(name: string, { status, statusMessage }: ServerState): LogChange {
  const why = statusMessage === undefined ? "" : `: ${clip(statusMessage, maxMessageLength)}`;
  const message = `status set to ${status}${why}`;
  return {
    ...{ kind: "server", key: name, classification: "advisory" },
    reasons: [{ path: "/status", classification: "advisory", message }],
  };
}

/** As much of a message as the log repeats; the server has all of it. */
const maxMessageLength = 200;

/** What a publisher is told whose manifest was stored for a withdrawn server. */
export function withdrawnWarnings(sql: SqlStorage, row: ServerRow | undefined, throughHook: boolean): string[] {
  if (row === undefined || stateOfRow(row).status !== "withdrawn") return [];
  const server = `${shownTenant(sql)}/${row.name}`;
  const remedy = throughHook
    ? 'the event server.status with "status": "active" offers it again'
    : `PATCH /api/mcp/configs/${server} {"status": "active"} offers it again`;
  return [`${server} is withdrawn and stays withdrawn; ${remedy}`];
}
