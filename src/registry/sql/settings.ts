import { meetsPrecondition, type Precondition } from "../../kernel/etag.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { changedItems, type NewChange } from "../../manifest/diff.ts";
import { type Claims, claimIssues } from "../../manifest/intake/claims.ts";
import { warningTexts } from "../../manifest/prepare.ts";
import { type ConfigMembers, changeConfig } from "../config-change.ts";
import type { ConfigOutcome, SettingsOutcome, Switch } from "../contract.ts";
import type { ServerConfig } from "../schema.ts";
import { forgetAcknowledged } from "./acknowledged.ts";
import { updateAttributeCounts } from "./attribute-counts.ts";
import { recordChanges } from "./change-log.ts";
import { followSources } from "./follow-sources.ts";
import { currentFlags } from "./items.ts";
import type { WriteContext } from "./listener.ts";
import { cancelTask } from "./outbox-table.ts";
import { staleFailure } from "./publish/judge.ts";
import { dropBodyIfOrphan } from "./revisions.ts";
import {
  bumpOverlay,
  configFlags,
  findLive,
  isRetitled,
  type ServerRow,
  setConfig,
  shownTokens,
  tagOf,
} from "./servers.ts";
import { dropCopies } from "./source-copies.ts";
import { dropSources, syncSources } from "./source-rows.ts";
import { isSameState, setServerStatus, stateOf, stateOfRow, withState } from "./status.ts";
import { applySwitches, checkDisabledSize, isNotHidden } from "./switches.ts";
import { shownTenant } from "./tenant-name.ts";

/** Writes to a server's settings; of its manifest they change at most what its sources bring. Each runs inside one transaction of the tenant's object. */

export function createServer(
  { sql, keep, listener }: WriteContext,
  given: ServerConfig,
  at: string,
): Result<SettingsOutcome, Failure> {
  const config = asShown(sql, given);
  const taken = findLive(sql, config.name);
  if (taken !== undefined) return err(alreadyExists(taken, config));
  const change: NewChange = { kind: "server", key: config.name, classification: "additive", reasons: [] };
  const { generation } = recordChanges(sql, config.name, at, [change], keep.changes);
  sql.exec(
    `INSERT INTO server (name, config, visibility, generation, created_at, updated_at, public_since, flags)
     VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)
     ON CONFLICT (name) DO UPDATE SET config = ?2, visibility = ?3, digest = NULL, overlay = overlay + 1,
       generation = ?4, last_synced = NULL, flags = ?7, summary = '{}', created_at = ?5, updated_at = ?5,
       deleted_at = NULL, public_since = ?6`,
    config.name,
    JSON.stringify(config),
    config.visibility,
    generation,
    at,
    config.visibility === "public" ? generation : null,
    JSON.stringify(configFlags(config)),
  );
  if (config.visibility === "public") listener.becamePublic(config.name, at, generation);
  syncSources(sql, config, at);
  return ok({ generation, changed: true, narrowed: false });
}

function alreadyExists(row: ServerRow, { tenant, name }: ServerConfig): Failure {
  if (stateOfRow(row).status !== "withdrawn") return failure("ErrorMCPServerExists");
  const hint = `The server is withdrawn; PATCH /api/mcp/configs/${tenant}/${name} {"status": "active"} offers it again`;
  return failure("ErrorMCPServerExists", undefined, { hint });
}

/**
 * Stores a config of which more than the status changed. The one function for the status changes that; both share a
 * generation.
 */
function replaceConfig(
  write: WriteContext,
  before: ServerRow,
  next: ServerConfig,
  at: string,
  isStaged: boolean,
): SettingsOutcome {
  const { sql, keep, listener } = write;
  const { name } = before;
  const config = withState(next, stateOfRow(before));
  const narrowed = before.visibility === "public" && config.visibility === "tenant";
  const classification = narrowed ? "breaking" : "cosmetic";
  const message = narrowed ? "visibility narrowed to the tenant" : "settings changed";
  const change: NewChange = {
    ...{ kind: "server", key: name, classification },
    reasons: [{ path: narrowed ? "/visibility" : "", classification, message }],
  };
  const { generation } = recordChanges(sql, name, at, [change], keep.changes);
  const publicSince = config.visibility === "public" ? (before.public_since ?? generation) : null;
  setConfig(sql, config);
  sql.exec("UPDATE server SET public_since = ? WHERE name = ?", publicSince, name);
  bumpOverlay(sql, name, generation, at);
  if (narrowed) listener.becamePrivate(name);
  if (isRetitled(sql, before)) listener.titleChanged(name);
  if (publicSince === generation) listener.becamePublic(name, at, generation);
  const followed = followSources(write, config, at, generation);
  setServerStatus(write, name, stateOf(next), { at, generation });
  return { generation, changed: true, narrowed: narrowed || isStaged || followed.narrowed };
}

/** Another spelling of the tenant is no change of the config. */
function asShown(sql: SqlStorage, config: ServerConfig): ServerConfig {
  return { ...config, tenant: shownTenant(sql) };
}

/** Changes the members of a config that somebody names. */
export function changeSettings(
  write: WriteContext,
  name: string,
  { members, claims, warnings }: ConfigMembers,
  { at, since, precondition }: { at: string; since?: number; precondition?: Precondition },
): Result<ConfigOutcome, Failure> {
  const { sql } = write;
  // With what was staged for it the server has moved on from the tag that the precondition held for.
  const row = requireServer(sql, name, since === undefined ? precondition : undefined);
  if (!row.ok) return row;
  const current = readJson(row.value.config) as ServerConfig;
  const next = changeConfig(current, members, write.keep.configBytes);
  if (!next.ok) return next;
  const { config, changed } = next.value;
  // An absent status is active: saying so changes nothing.
  const isSame = isSameState(stateOf(current), stateOf(config));
  const differing = changed.filter((member) => !(isSame && member === "status"));
  if (differing.length === 0) {
    const { generation } = row.value;
    // What is set already was warned of when it came.
    return ok({ generation, changed: false, narrowed: false, config: current, members: [], warnings: [] });
  }
  const told = [...warnings, ...claimWarnings(sql, row.value, claims)];
  const state = stateOf(config);
  const outcome = { config: withState(config, state), members: differing, warnings: told };
  if (differing.every((member) => member === "status" || member === "statusMessage")) {
    const generation = setServerStatus(write, name, state, { at }) ?? row.value.generation;
    return ok({ ...outcome, generation, changed: true, narrowed: false });
  }
  return ok({ ...outcome, ...replaceConfig(write, row.value, config, at, since !== undefined) });
}

function claimWarnings(sql: SqlStorage, row: ServerRow, claims: Claims): string[] {
  const { digest, name } = row;
  const says = { digest: digest ?? undefined, tokens: shownTokens(sql, row), flags: currentFlags(sql, name, row) };
  return warningTexts(claimIssues(claims, says, ""));
}

/** Makes a server public as of a generation. Its visibility must already be set. */
export function makePublic({ sql, listener }: WriteContext, name: string, at: string, generation: number): void {
  sql.exec("UPDATE server SET public_since = ? WHERE name = ?", generation, name);
  listener.becamePublic(name, at, generation);
}

/** Leaves a tombstone with the generation of the deletion, so that an older head can never win over it. */
export function deleteServer(
  write: WriteContext,
  name: string,
  at: string,
  precondition?: Precondition,
): Result<SettingsOutcome, Failure> {
  const { sql, keep, listener } = write;
  const found = requireServer(sql, name, precondition);
  if (!found.ok) return found;
  const from = found.value.digest;
  const change: NewChange = {
    kind: "server",
    key: name,
    classification: "removed",
    reasons: [],
    from: from ?? undefined,
  };
  const { generation } = recordChanges(sql, name, at, [change], keep.changes);
  purge(write, name);
  sql.exec("UPDATE server SET digest = NULL, public_since = NULL, deleted_at = ? WHERE name = ?", at, name);
  dropSources(sql, name);
  cancelTask(sql, "refresh", name);
  listener.removed(name, at, generation);
  bumpOverlay(sql, name, generation, at);
  return ok({ generation, changed: true, narrowed: true });
}

/** Deletes a server's revisions, items, switches and copies of sources. */
function purge({ sql, listener }: WriteContext, name: string): void {
  const digests = sql.exec<{ digest: string }>("SELECT DISTINCT digest FROM revision WHERE server = ?", name).toArray();
  sql.exec("DELETE FROM revision WHERE server = ?", name);
  sql.exec("DELETE FROM capability WHERE server = ?", name);
  sql.exec("DELETE FROM disabled WHERE server = ?", name);
  forgetAcknowledged(sql, name);
  dropCopies(sql, name);
  listener.cleared(name);
  for (const { digest } of digests) dropBodyIfOrphan(sql, name, digest);
}

export function switchItems(
  { sql, keep, listener }: WriteContext,
  name: string,
  switches: readonly Switch[],
  at: string,
  precondition?: Precondition,
): Result<SettingsOutcome, Failure> {
  const found = requireServer(sql, name, precondition);
  if (!found.ok) return found;
  const unknown = switches.filter(({ kind, key }) => !hasItem(sql, name, kind, key));
  if (unknown.length > 0) {
    const message = `${name} has no ${unknown.map(({ kind, key }) => `${kind} ${JSON.stringify(key)}`).join(", ")}`;
    return err(failure("ErrorCapabilityNotFound", message));
  }
  const tooManyDisabled = checkDisabledSize(sql, name, switches);
  if (tooManyDisabled !== undefined) return err(tooManyDisabled);
  const changes = applySwitches(sql, name, switches);
  if (changes.length === 0) return ok({ generation: found.value.generation, changed: false, narrowed: false });
  const { generation } = recordChanges(sql, name, at, changes, keep.changes);
  bumpOverlay(sql, name, generation, at);
  updateAttributeCounts(sql, name, changes);
  listener.itemsChanged(name, changedItems(changes));
  return ok({
    generation,
    changed: true,
    narrowed: changes.some(({ classification }) => classification === "breaking"),
  });
}

function hasItem(sql: SqlStorage, server: string, kind: string, key: string): boolean {
  return (
    sql
      .exec(
        `SELECT 1 FROM capability AS item WHERE key = ? AND kind = ? AND last_revision IS NULL AND server = ?
           AND ${isNotHidden}`,
        key,
        kind,
        server,
      )
      .toArray().length > 0
  );
}

function requireServer(sql: SqlStorage, name: string, precondition?: Precondition): Result<ServerRow, Failure> {
  const row = findLive(sql, name);
  if (row === undefined) return err(failure("ErrorMCPServerNotFound"));
  if (precondition !== undefined && !meetsPrecondition(precondition, tagOf(row))) {
    return err(staleFailure(row.digest));
  }
  return ok(row);
}
