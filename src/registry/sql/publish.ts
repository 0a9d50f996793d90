import { meetsPrecondition } from "../../kernel/etag.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { classifyHeader } from "../../manifest/classify/classify.ts";
import { type ChangeCounts, changedItems, itemChanges, itemKey, type NewChange } from "../../manifest/diff.ts";
import { type CapabilityFlag, keepSevere } from "../../manifest/flag.ts";
import type { PreparedCapability, PreparedManifest } from "../../manifest/prepare.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { PublishOutcome, PublishRequest, Switch } from "../contract.ts";
import { ServerConfig } from "../schema.ts";
import { summarise } from "../summary.ts";
import { updateAttributeCounts } from "./attribute-counts.ts";
import { recordChanges } from "./change-log.ts";
import {
  closeCapability,
  idCollisions,
  insertCapability,
  mentionMessage,
  neighbourFlags,
  readCapability,
} from "./items.ts";
import type { WriteContext } from "./listener.ts";
import { enqueueTask } from "./outbox-table.ts";
import { insertRevision, type Layout, pruneRevisions, revisionAt } from "./revisions.ts";
import { bumpOverlay, findRow, flagsOfRow, isRetitled, moveServer, type ServerRow, tagOf } from "./servers.ts";
import { sourceRows } from "./source-rows.ts";
import { applySwitches, checkDisabledSize, switchedOff } from "./switches.ts";

/** The changes that a publish makes. */
interface Difference {
  added: PreparedCapability[];
  gone: { kind: CapabilityKind; key: string; digest: string; id: string }[];
  changes: NewChange[];
}

/** Items that the new manifest adds and removes relative to the last layout, with classified changes. */
function difference(sql: SqlStorage, server: string, before: Layout, after: readonly PreparedCapability[]): Difference {
  const was = new Set(before.map(([kind, digest]) => `${kind} ${digest}`));
  const is = new Set(after.map(({ kind, digest }) => `${kind} ${digest}`));
  const added = after.filter(({ kind, digest }) => !was.has(`${kind} ${digest}`)).map((item) => ({ ...item }));
  const gone = before
    .filter(([kind, digest]) => !is.has(`${kind} ${digest}`))
    .map(([kind, digest]) => ({ kind, digest, ...readCapability(sql, server, kind, digest) }));

  const firstSeen = new Map(gone.map((item) => [itemKey(item), item.created_at]));
  for (const item of added) {
    // The creation time stays that of the first version, whatever the publisher says later.
    const createdAt = firstSeen.get(itemKey(item));
    if (typeof createdAt === "string") item.createdAt = createdAt;
  }
  const changes = itemChanges(
    gone.map((item) => ({ ...item, declared: JSON.parse(item.declared) })),
    added.map((item) => ({ ...item, declared: JSON.parse(item.text) })),
  );
  return { added, gone, changes };
}

/**
 * Detects a change that no new version announces, which is how a reviewed server could turn into another one. With an
 * unchanged version, any change counts; without a version, any change of an existing item that is more than cosmetic.
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

/** Flags stored per server, to bound the size of heads and responses. */
const maxFlags = 500;

const none: ChangeCounts = { breaking: 0, additive: 0, cosmetic: 0, removed: 0 };

/**
 * Moves a server to a new manifest. Call inside a transaction. Reads and writes only the rows that changed: the layout
 * of the last revision shows which items stayed.
 */
export function publish(write: WriteContext, tenant: string, request: PublishRequest): Result<PublishOutcome, Failure> {
  const { sql } = write;
  const { name, manifest, precondition } = request;
  const row = findRow(sql, name);
  const live = row?.deleted_at === null ? row : undefined;
  if (precondition !== undefined && !meetsPrecondition(precondition, live && tagOf(live))) {
    return err(failure("ErrorPreconditionFailed", undefined, live === undefined ? {} : { current: live.digest }));
  }
  const tooManyDisabled = checkDisabledSize(sql, name, switchesOf(manifest));
  if (tooManyDisabled !== undefined) return err(tooManyDisabled);
  if (live?.digest === manifest.digest) return ok(recordUnchanged(write, live, request));

  // A server that is not live, or has published nothing since it was registered, has no previous revision, even if
  // older ones exist under its name.
  const previous = live?.digest ? revisionAt(sql, name, live.revision) : undefined;
  const found = difference(sql, name, previous?.layout ?? [], manifest.capabilities);
  const isFirst = request.isFirstIntrospection === true && previous?.layout.length === 0;
  const unannounced = previous && !isFirst && unannouncedChange(previous.header, manifest.header, found.changes);
  if (unannounced && policyOf(live) === "refuse") {
    return err(failure("ErrorSameVersion", unannounced, { current: live?.digest }));
  }
  const collisions = idCollisions(sql, name, found.added);
  const [first] = collisions;
  if (first !== undefined) {
    const message = `${first.id} of ${name} (${first.item}) is taken by ${first.takenBy}`;
    return err(failure("ErrorCapabilityCollision", message, { collisions }));
  }
  logHeader(found, previous?.header, request);
  const flags: CapabilityFlag[] = [...manifest.flags];
  if (unannounced) flags.push({ rule: "same-version", path: "/version", message: unannounced });
  return ok(applyManifest(write, tenant, { row, live, found, flags }, request));
}

/** The manifest is unchanged: only switches and `lastSynced` can change. */
function recordUnchanged(
  { sql, keep, listener }: WriteContext,
  live: ServerRow,
  { name, manifest, at }: PublishRequest,
): PublishOutcome {
  const switched = applySwitches(sql, name, switchesOf(manifest));
  sql.exec("UPDATE server SET last_synced = ? WHERE name = ?", at, name);
  if (switched.length === 0) {
    return {
      ...{ outcome: "unchanged", generation: live.generation, changes: none },
      ...{ flags: flagsOfRow(live), narrowed: false },
    };
  }
  const { generation, counts } = recordChanges(sql, name, at, switched, keep.changes);
  bumpOverlay(sql, name, generation, at);
  updateAttributeCounts(sql, name, switched);
  listener.itemsChanged(name, changedItems(switched));
  return { outcome: "changed", generation, changes: counts, flags: [], narrowed: counts.breaking > 0 };
}

/** A changed header alone, or a new order of the same items, must also appear in the log. */
function logHeader(
  { changes }: Difference,
  before: Record<string, unknown> | undefined,
  request: PublishRequest,
): void {
  const { name: key, manifest } = request;
  const to = manifest.digest;
  if (before === undefined) {
    if (changes.length === 0) changes.push({ kind: "server", key, classification: "additive", to, reasons: [] });
    return;
  }
  const verdict = classifyHeader(before, manifest.header);
  if (changes.length === 0 || verdict.reasons.length > 0) changes.push({ kind: "server", key, to, ...verdict });
}

interface ManifestMove {
  row: ServerRow | undefined;
  live: ServerRow | undefined;
  found: Difference;
  /** Flags of the server; the flags of its items are added later. */
  flags: CapabilityFlag[];
}

function applyManifest(
  { sql, keep, listener }: WriteContext,
  tenant: string,
  { row, live, found, flags }: ManifestMove,
  request: PublishRequest,
): PublishOutcome {
  const { name, manifest, at } = request;
  const number = (row?.revision ?? 0) + 1;
  // A withdrawn server comes back with its settings.
  const kept = row?.withdrawn === 1 ? row : live;
  const switched = applySwitches(sql, name, switchesOf(manifest));
  const { generation, counts } = recordChanges(sql, name, at, [...found.changes, ...switched], keep.changes);
  const off = switchedOff(sql, name);
  const own = new Set(manifest.capabilities.flatMap(({ kind, key }) => (kind === "tool" ? [key] : [])));
  const neighbours = neighbourFlags(sql, name, found.added, own);
  for (const { kind, digest } of found.gone) closeCapability(sql, name, kind, digest, number - 1);
  for (const capability of found.added) insertCapability(sql, name, number, capability, at);
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
  moveServer(sql, {
    name,
    number,
    generation,
    at,
    digest: manifest.digest,
    config: kept?.config ?? JSON.stringify(ServerConfig.parse({ tenant, name })),
    flags: [...keepSevere([...flags, ...carriedOverFlags(kept, found, own), ...neighbours], maxFlags)],
    summary: summarise(manifest.header, manifest.capabilities, (item) => off.has(itemKey(item))),
  });
  if (live !== undefined && isRetitled(sql, live)) listener.titleChanged(name);
  else listener.itemsChanged(name, changedItems([...found.gone, ...found.added, ...switched]));
  pruneRevisions(sql, name, number - keep.revisions);
  // Sources are not read while a server is withdrawn.
  if (row?.withdrawn === 1 && sourceRows(sql, name).length > 0) enqueueTask(sql, "refresh", name);
  const items = found.added.flatMap(({ id, flags: about }) => about.map((flag) => ({ ...flag, capability: id })));
  return {
    outcome: live === undefined ? "created" : "changed",
    generation,
    changes: counts,
    flags: [...keepSevere([...flags, ...items, ...neighbours], maxFlags)],
    narrowed: switched.some(({ classification }) => classification === "breaking"),
  };
}

/**
 * `enabled: false` in a manifest switches an item off. `true` is ignored: every response contains it, so republishing
 * an old response would undo what an operator has switched off since.
 */
function switchesOf({ capabilities }: Pick<PreparedManifest, "capabilities">): Switch[] {
  return capabilities.flatMap(({ kind, key, enabled }) => (enabled === false ? [{ kind, key, enabled }] : []));
}

/**
 * Flags that a publish leaves as they are: of the config, and of items that have not changed, but for mentions of tools
 * that are now the server's own.
 */
function carriedOverFlags(
  row: ServerRow | undefined,
  { added, gone }: Difference,
  own: ReadonlySet<string>,
): CapabilityFlag[] {
  const touched = new Set([...added, ...gone].map(({ id }) => id));
  const ownMentions = new Set([...own].map(mentionMessage));
  return flagsOfRow(row).filter(({ capability, message, of }) => {
    return of === "config" || (capability !== undefined && !touched.has(capability) && !ownMentions.has(message));
  });
}

function policyOf(row: ServerRow | undefined): "flag" | "refuse" {
  if (row === undefined) return "flag";
  return (JSON.parse(row.config) as ServerConfig).policy?.sameVersion === "refuse" ? "refuse" : "flag";
}
