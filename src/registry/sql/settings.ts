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
import { updateAttributeCounts } from "./attribute-counts.ts";
import { recordChanges } from "./change-log.ts";
import { currentFlags } from "./items.ts";
import type { WriteContext } from "./listener.ts";
import { cancelTask } from "./outbox-table.ts";
import { staleFailure } from "./publish.ts";
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
import { dropSources, syncSources } from "./source-rows.ts";
import { applySwitches, checkDisabledSize } from "./switches.ts";
import { shownTenant } from "./tenant-name.ts";
import { findWithdrawn } from "./withdraw.ts";

/** Writes to a server that leave its manifest unchanged. Each runs inside one transaction of the tenant's object. */

export function createServer(write: WriteContext, given: ServerConfig, at: string): Result<SettingsOutcome, Failure> {
  const { sql, keep, listener } = write;
  const config = asShown(sql, given);
  if (findLive(sql, config.name) !== undefined) return err(failure("ErrorMCPServerExists"));
  // Registering does not restore a withdrawn server: the new server only has the same name.
  purge(write, config.name);
  const change: NewChange = { kind: "server", key: config.name, classification: "additive", reasons: [] };
  const { generation } = recordChanges(sql, config.name, at, [change], keep.changes);
  sql.exec(
    `INSERT INTO server (name, config, visibility, generation, created_at, updated_at, public_since, flags)
     VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)
     ON CONFLICT (name) DO UPDATE SET config = ?2, visibility = ?3, digest = NULL, overlay = overlay + 1,
       generation = ?4, last_synced = NULL, flags = ?7, summary = '{}', created_at = ?5, updated_at = ?5,
       deleted_at = NULL, withdrawn = 0, public_since = ?6`,
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

export function replaceConfig(
  { sql, keep, listener }: WriteContext,
  given: ServerConfig,
  at: string,
  precondition?: Precondition,
): Result<SettingsOutcome, Failure> {
  const config = asShown(sql, given);
  const found = requireServer(sql, config.name, precondition);
  if (!found.ok) return found;
  const text = JSON.stringify(config);
  if (found.value.config === text) return ok({ generation: found.value.generation, changed: false, narrowed: false });
  const narrowed = found.value.visibility === "public" && config.visibility === "tenant";
  const classification = narrowed ? "breaking" : "cosmetic";
  const message = narrowed ? "visibility narrowed to the tenant" : "settings changed";
  const change: NewChange = {
    kind: "server",
    key: config.name,
    classification,
    reasons: [{ path: narrowed ? "/visibility" : "", classification, message }],
  };
  const { generation } = recordChanges(sql, config.name, at, [change], keep.changes);
  const publicSince = config.visibility === "public" ? (found.value.public_since ?? generation) : null;
  setConfig(sql, config);
  sql.exec("UPDATE server SET public_since = ? WHERE name = ?", publicSince, config.name);
  bumpOverlay(sql, config.name, generation, at);
  if (narrowed) listener.becamePrivate(config.name);
  if (isRetitled(sql, found.value)) listener.titleChanged(config.name);
  if (publicSince === generation) listener.becamePublic(config.name, at, generation);
  syncSources(sql, config, at);
  return ok({ generation, changed: true, narrowed });
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
  { at, precondition }: { at: string; precondition?: Precondition },
): Result<ConfigOutcome, Failure> {
  const { sql } = write;
  const row = requireServer(sql, name, precondition);
  if (!row.ok) return row;
  const current = readJson(row.value.config) as ServerConfig;
  const next = changeConfig(current, members, write.keep.configBytes);
  if (!next.ok) return next;
  const { config, changed } = next.value;
  if (changed.length === 0) {
    const { generation } = row.value;
    // What is set already was warned of when it came.
    return ok({ generation, changed: false, narrowed: false, config, members: [], warnings: [] });
  }
  const told = [...warnings, ...claimWarnings(sql, row.value, claims)];
  const replaced = replaceConfig(write, config, at);
  return replaced.ok ? ok({ ...replaced.value, config, members: changed, warnings: told }) : replaced;
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
  const withdrawn = findWithdrawn(sql, name);
  const found = withdrawn === undefined ? requireServer(sql, name, precondition) : ok(withdrawn);
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
  sql.exec(
    "UPDATE server SET digest = NULL, public_since = NULL, deleted_at = ?, withdrawn = 0 WHERE name = ?",
    at,
    name,
  );
  dropSources(sql, name);
  cancelTask(sql, "refresh", name);
  listener.removed(name, "deleted", at, generation);
  bumpOverlay(sql, name, generation, at);
  return ok({ generation, changed: true, narrowed: true });
}

/** Deletes a server's revisions, items and switches. */
function purge({ sql, listener }: WriteContext, name: string): void {
  const digests = sql.exec<{ digest: string }>("SELECT DISTINCT digest FROM revision WHERE server = ?", name).toArray();
  sql.exec("DELETE FROM revision WHERE server = ?", name);
  sql.exec("DELETE FROM capability WHERE server = ?", name);
  sql.exec("DELETE FROM disabled WHERE server = ?", name);
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
        "SELECT 1 FROM capability WHERE key = ? AND kind = ? AND last_revision IS NULL AND server = ?",
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
