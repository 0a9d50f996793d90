import type { ChangeCounts, NewChange } from "../../domain/change.ts";
import { classifyHeader } from "../../domain/classify/classify.ts";
import { itemChanges, slotOf } from "../../domain/diff.ts";
import { meetsPrecondition, type Precondition } from "../../domain/etag.ts";
import { type Failure, failure } from "../../domain/failure.ts";
import type { Flag } from "../../domain/issue.ts";
import type { PreparedCapability, PreparedManifest } from "../../domain/prepare.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { summarise } from "../../domain/server-summary.ts";
import { ServerConfig } from "../../schemas/index.ts";
import { closeCapability, idCollisions, insertCapability, neighbourFlags, readCapability } from "./capabilities.ts";
import { recordChanges } from "./change-log.ts";
import { insertRevision, type Layout, pruneRevisions, revisionAt } from "./revisions.ts";
import { findRow, type ServerRow, touch } from "./servers.ts";
import { applySwitches } from "./switches.ts";

export interface PublishRequest {
  name: string;
  subject: string;
  at: string;
  manifest: PreparedManifest;
  precondition?: Precondition;
}

export interface PublishOutcome {
  outcome: "created" | "changed" | "unchanged";
  generation: number;
  changes: ChangeCounts;
  flags: (Flag & { capability?: string })[];
}

const none: ChangeCounts = { breaking: 0, additive: 0, cosmetic: 0, removed: 0 };

/**
 * Moves a server to a new manifest: one transaction, called inside it. Reads and writes as much as changed, not as
 * much as there is: the layout of the last revision says what stayed.
 */
export function publish(
  sql: SqlStorage,
  tenant: string,
  request: PublishRequest,
  keep: { revisions: number; changes: number },
): Result<PublishOutcome, Failure> {
  const { name, manifest, at } = request;
  const row = findRow(sql, name);
  const live = row?.deleted_at === null ? row : undefined;
  if (request.precondition !== undefined) {
    const current = live && { overlay: live.overlay, ...(live.digest === null ? {} : { digest: live.digest }) };
    if (!meetsPrecondition(request.precondition, current)) {
      return err(failure("ErrorPreconditionFailed", undefined, current === undefined ? {} : { current: live?.digest }));
    }
  }

  const switches = manifest.capabilities.flatMap(({ kind, key, enabled }) =>
    enabled === undefined ? [] : [{ kind, key, enabled }],
  );
  if (live !== undefined && live.digest === manifest.digest) {
    const changes = applySwitches(sql, name, switches);
    sql.exec("UPDATE server SET last_synced = ? WHERE name = ?", at, name);
    if (changes.length === 0)
      return ok({ outcome: "unchanged", generation: live.generation, changes: none, flags: [] });
    const { generation, counts } = recordChanges(sql, name, at, changes, keep.changes);
    touch(sql, name, generation, at);
    return ok({ outcome: "changed", generation, changes: counts, flags: [] });
  }

  const previous = live === undefined ? undefined : revisionAt(sql, name, live.revision);
  const number = (row?.revision ?? 0) + 1;
  const difference = compare(sql, name, previous?.layout ?? [], manifest.capabilities);
  const unannounced = previous && unannouncedChange(previous.header, manifest.header, difference.changes);
  if (unannounced !== undefined && policyOf(live) === "refuse") {
    return err(failure("ErrorSameVersion", unannounced, { current: live?.digest }));
  }
  const collisions = idCollisions(sql, name, difference.added);
  if (collisions.length > 0) {
    const first = collisions[0];
    const message = `${first?.id} of ${name} (${first?.item}) is taken by ${first?.takenBy}`;
    return err(failure("ErrorCapabilityCollision", message, { collisions }));
  }

  const flags: PublishOutcome["flags"] =
    unannounced === undefined ? [] : [{ rule: "same-version", path: "/version", message: unannounced }];
  const { changes } = difference;
  const header = classifyHeader(previous?.header ?? {}, manifest.header);
  // A header alone, or a new order of the same items, is still a change that the log must show.
  if (changes.length === 0 || (live !== undefined && header.reasons.length > 0)) {
    const classification = live === undefined ? "additive" : header.classification;
    const { reasons } = header;
    changes.push({ kind: "server", key: name, classification, to: manifest.digest, reasons: live ? reasons : [] });
  }
  changes.push(...applySwitches(sql, name, switches));
  const { generation, counts } = recordChanges(sql, name, at, changes, keep.changes);

  for (const { kind, digest } of difference.gone) closeCapability(sql, name, kind, digest, number - 1);
  const neighbours = neighbourFlags(sql, name, difference.added);
  for (const capability of difference.added) {
    const found = [...capability.flags, ...(neighbours.get(capability) ?? [])];
    insertCapability(sql, name, number, capability, found);
    flags.push(...found.map((flag) => ({ ...flag, capability: `${capability.kind} ${capability.key}` })));
  }

  insertRevision(sql, {
    server: name,
    number,
    digest: manifest.digest,
    generation,
    at,
    subject: request.subject,
    changes: counts,
    header: manifest.header,
    layout: manifest.capabilities.map(({ kind, digest }) => [kind, digest]),
  });
  const config = live?.config ?? JSON.stringify(ServerConfig.parse({ tenant, name }));
  sql.exec(
    `INSERT INTO server (name, config, visibility, digest, revision, generation, last_synced, flags, summary,
       created_at, updated_at)
     VALUES (?1, ?2, 'tenant', ?3, ?4, ?5, ?6, ?7, ?8, ?6, ?6)
     ON CONFLICT (name) DO UPDATE SET
       config = ?2, visibility = iif(deleted_at IS NULL, visibility, 'tenant'), digest = ?3, revision = ?4,
       overlay = overlay + 1, generation = ?5, last_synced = ?6, flags = ?7, summary = ?8,
       created_at = iif(deleted_at IS NULL, created_at, ?6), updated_at = ?6, deleted_at = NULL`,
    name,
    config,
    manifest.digest,
    number,
    generation,
    at,
    JSON.stringify(flags.filter((flag) => flag.capability === undefined)),
    JSON.stringify(summarise(manifest.header, manifest.capabilities)),
  );
  pruneRevisions(sql, name, number - keep.revisions);
  return ok({ outcome: live === undefined ? "created" : "changed", generation, changes: counts, flags });
}

/** What the new manifest adds and drops against the last layout, with each change classified. */
function compare(sql: SqlStorage, server: string, before: Layout, after: readonly PreparedCapability[]) {
  const was = new Set(before.map(([kind, digest]) => `${kind} ${digest}`));
  const is = new Set(after.map(({ kind, digest }) => `${kind} ${digest}`));
  const added = after.filter(({ kind, digest }) => !was.has(`${kind} ${digest}`)).map((item) => ({ ...item }));
  const gone = before
    .filter(([kind, digest]) => !is.has(`${kind} ${digest}`))
    .map(([kind, digest]) => ({ kind, digest, ...readCapability(sql, server, kind, digest) }));

  const firstSeen = new Map(gone.map((item) => [slotOf(item), item.created_at]));
  for (const item of added) {
    // Kept from first sight, whatever the publisher says later.
    const createdAt = firstSeen.get(slotOf(item));
    if (typeof createdAt === "string") item.createdAt = createdAt;
  }
  const changes = itemChanges(
    gone.map((item) => ({ ...item, declared: JSON.parse(item.declared) })),
    added.map((item) => ({ ...item, declared: JSON.parse(item.text) })),
  );
  return { added, gone, changes };
}

/**
 * A change that no version announces, which is how a reviewed server turns into another one: any at all under a version
 * that stayed, and without a version one that does more than reword an item that was there before.
 */
function unannouncedChange(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  changes: readonly NewChange[],
): string | undefined {
  if (before.version !== after.version) return undefined;
  if (typeof after.version === "string") return `the content changed while its version stayed ${after.version}`;
  const changed = changes.find(({ from, to, classification }) => from && to && classification !== "cosmetic");
  return changed && `${changed.kind} ${changed.key} changed, and the manifest has no version to say so`;
}

function policyOf(row: ServerRow | undefined): "flag" | "refuse" {
  if (row === undefined) return "flag";
  return (JSON.parse(row.config) as ServerConfig).policy?.sameVersion === "refuse" ? "refuse" : "flag";
}
