import { type Failure, failure } from "../kernel/failure.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { AcceptedManifest } from "../manifest/prepare.ts";
import type { ServerConfig, ServerStatus } from "../registry/schema.ts";
import { generationOf } from "../registry/sql/change-log.ts";
import type { WriteContext } from "../registry/sql/listener.ts";
import { publish } from "../registry/sql/publish.ts";
import { findLive, findRow } from "../registry/sql/servers.ts";
import { replaceConfig } from "../registry/sql/settings.ts";
import { httpSources } from "../registry/sql/source-rows.ts";
import { findWithdrawn, setWithdrawnStatus, withdrawServer } from "../registry/sql/withdraw.ts";
import type { AppliedEvent, PublisherEvent } from "./contract.ts";
import type { HookRow } from "./sql/hooks.ts";

interface EventContext {
  hook: HookRow;
  at: string;
  write: WriteContext;
}

/**
 * Applies a publisher's event so that the highest sequence wins, in whatever order events arrive. Manifest and status
 * have separate sequences: an older status must not be lost because a newer manifest came first. A removal concerns
 * both, so a late removal still resets a status that was set before it.
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
      return inSequence(sql, "status", event, arrival, () => setStatus(sql, event.status, arrival));
    case "server.removed": {
      // Withdraw first: the status is then reset without a change of its own, and one event is one generation.
      const removed = inSequence(sql, "manifest", event, arrival, () => withdraw(sql, arrival));
      if (!removed.ok) return removed;
      const reset = inSequence(sql, "status", event, arrival, () => setStatus(sql, "active", arrival));
      return reset.ok && removed.value.outcome !== "stale" ? removed : reset;
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
  if (sequence <= last) return ok(outcomeNow(sql, hook.server, "stale"));
  const applied = apply();
  if (applied.ok) sql.exec(`UPDATE hook SET ${aspect}_sequence = ? WHERE id = ?`, sequence, hook.id);
  return applied;
}

function takeManifest(
  sql: SqlStorage,
  manifest: AcceptedManifest,
  { hook, at, write }: EventContext,
): Result<AppliedEvent, Failure> {
  const published = publish(write, {
    ...{ name: hook.server, subject: `hook ${hook.id}`, at, manifest },
    ...{ placement: { by: "push" }, partial: false },
  });
  if (!published.ok) return published;
  const outcome = published.value.outcome === "unchanged" ? "unchanged" : "applied";
  return ok({ ...outcomeNow(sql, hook.server, outcome), published: published.value });
}

function queueRefresh(sql: SqlStorage, { hook }: EventContext): Result<AppliedEvent, Failure> {
  const row = findLive(sql, hook.server);
  const sources = row === undefined ? [] : httpSources((readJson(row.config) as ServerConfig).sources);
  if (sources.length === 0) {
    return err(
      failure(
        "ErrorNoSources",
        `${hook.server} has no MCP sources to read. Send manifest.published, or add \`sources\` to its config`,
      ),
    );
  }
  return ok(outcomeNow(sql, hook.server, "queued"));
}

function setStatus(
  sql: SqlStorage,
  status: ServerStatus,
  { hook, at, write }: EventContext,
): Result<AppliedEvent, Failure> {
  const row = findLive(sql, hook.server);
  if (row === undefined) {
    const withdrawn = findWithdrawn(sql, hook.server);
    if (withdrawn !== undefined) setWithdrawnStatus(sql, withdrawn, status);
    return ok(outcomeNow(sql, hook.server, "unchanged"));
  }
  const { status: before = "active", ...config } = readJson(row.config) as ServerConfig;
  if (before === status) return ok(outcomeNow(sql, hook.server, "unchanged"));
  const next = (status === "active" ? config : { ...config, status }) as ServerConfig;
  const replaced = replaceConfig(write, next, at);
  return replaced.ok ? ok(outcomeNow(sql, hook.server, "applied")) : replaced;
}

function withdraw(sql: SqlStorage, { hook, at, write }: EventContext): Result<AppliedEvent, Failure> {
  if (findLive(sql, hook.server) === undefined) return ok(outcomeNow(sql, hook.server, "unchanged"));
  withdrawServer(write, hook.server, at);
  return ok(outcomeNow(sql, hook.server, "applied"));
}

/** The outcome with the server's current generation and digest. */
function outcomeNow(sql: SqlStorage, server: string, outcome: AppliedEvent["outcome"]): AppliedEvent {
  const row = findRow(sql, server);
  const digest = row?.digest ?? undefined;
  return { outcome, generation: row?.generation ?? generationOf(sql), digest };
}
