import { type Failure, failure } from "../kernel/failure.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { AcceptedManifest } from "../manifest/prepare.ts";
import type { PublishRequest, ServerState } from "../registry/contract.ts";
import type { ServerConfig } from "../registry/schema.ts";
import { generationOf } from "../registry/sql/change-log.ts";
import type { WriteContext } from "../registry/sql/listener.ts";
import type { StagedPublish } from "../registry/sql/publish/stage.ts";
import { publish } from "../registry/sql/publish.ts";
import { findLive, findRow } from "../registry/sql/servers.ts";
import { httpSources } from "../registry/sql/source-rows.ts";
import { setServerStatus, stateOf } from "../registry/sql/status.ts";
import type { AppliedEvent, PublisherEvent } from "./contract.ts";
import type { HookRow } from "./sql/hooks.ts";

interface EventContext {
  hook: HookRow;
  at: string;
  write: WriteContext;
  /** What was found and written before, of an event with a manifest. */
  staged?: StagedPublish | "if-large";
}

/**
 * Applies a publisher's event so that the highest sequence wins, in whatever order events arrive. Manifest and status
 * have separate sequences: an older status must not be lost because a newer manifest came first. A removal is a status:
 * manifests that come after it are stored, and the server stays withdrawn.
 */
export function applyEvent(
  sql: SqlStorage,
  event: PublisherEvent,
  arrival: EventContext,
): Result<AppliedEvent, Failure> {
  switch (event.type) {
    case "manifest.published":
      return inSequence(sql, "manifest", event, arrival, () => takeManifest(sql, event.manifest, arrival));
    case "manifest.changed":
      return inSequence(sql, "manifest", event, arrival, () => queueRefresh(sql, arrival));
    case "server.status":
    case "server.removed": {
      const status = event.type === "server.removed" ? "withdrawn" : event.status;
      const state = { status, statusMessage: event.statusMessage };
      return inSequence(sql, "status", event, arrival, () => ok(setStatus(sql, state, arrival)));
    }
  }
}

function inSequence(
  sql: SqlStorage,
  aspect: "manifest" | "status",
  { sequence }: PublisherEvent,
  { hook }: EventContext,
  apply: () => Result<AppliedEvent, Failure>,
): Result<AppliedEvent, Failure> {
  const last = aspect === "manifest" ? hook.manifest_sequence : hook.status_sequence;
  // A GitHub event has no sequence but the time of its arrival, and clocks go back. It only says that something changed.
  if (sequence <= last && hook.format !== "github") return ok(outcomeNow(sql, hook.server, "stale"));
  const applied = apply();
  if (applied.ok) sql.exec(`UPDATE hook SET ${aspect}_sequence = ? WHERE id = ?`, Math.max(sequence, last), hook.id);
  return applied;
}

function takeManifest(
  sql: SqlStorage,
  manifest: AcceptedManifest,
  { hook, at, write, staged }: EventContext,
): Result<AppliedEvent, Failure> {
  const published = publish(write, { ...publishRequest(hook, manifest), at }, staged);
  if (!published.ok) return published;
  const outcome = published.value.outcome === "unchanged" ? "unchanged" : "applied";
  return ok({ ...outcomeNow(sql, hook.server, outcome), published: published.value });
}

/** The publish that an event with a manifest asks for. */
export function publishRequest(
  { id, server }: Pick<HookRow, "id" | "server">,
  manifest: AcceptedManifest,
): Omit<PublishRequest, "at"> {
  return {
    ...{ name: server, subject: `hook ${id}`, manifest },
    ...{ placement: { by: "push" }, partial: false, throughHook: true },
  };
}

function queueRefresh(sql: SqlStorage, { hook }: EventContext): Result<AppliedEvent, Failure> {
  const row = findLive(sql, hook.server);
  const config = row && (readJson(row.config) as ServerConfig);
  if (config === undefined || httpSources(config.sources).length === 0) {
    const message = `${hook.server} has no MCP sources to read. Send manifest.published, or add \`sources\` to its config`;
    return err(failure("ErrorNoSources", message));
  }
  if (stateOf(config).status !== "withdrawn") return ok(outcomeNow(sql, hook.server, "queued"));
  const warning = `${config.tenant}/${hook.server} is withdrawn: its sources are read when an event server.status says that it is active`;
  return ok({ ...outcomeNow(sql, hook.server, "unchanged"), warnings: [warning] });
}

function setStatus(sql: SqlStorage, state: ServerState, { hook, at, write }: EventContext): AppliedEvent {
  const generation = setServerStatus(write, hook.server, state, { at });
  return outcomeNow(sql, hook.server, generation === undefined ? "unchanged" : "applied");
}

/** The outcome with the server's current generation and digest. */
function outcomeNow(sql: SqlStorage, server: string, outcome: AppliedEvent["outcome"]): AppliedEvent {
  const row = findRow(sql, server);
  const digest = row?.digest ?? undefined;
  return { outcome, generation: row?.generation ?? generationOf(sql), digest };
}
