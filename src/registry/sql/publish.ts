import type { Failure } from "../../kernel/failure.ts";
import { runAtOnce } from "../../kernel/pace/pace.ts";
import { readJson } from "../../kernel/read-json.ts";
import { ok, type Result } from "../../kernel/result.ts";
import { clip } from "../../kernel/text.ts";
import { type ChangeCounts, changedItems, countChanges, itemKey } from "../../manifest/diff.ts";
import { type CapabilityFlag, keepSevere, severityOf } from "../../manifest/flag.ts";
import { type Claims, claimIssues } from "../../manifest/intake/claims.ts";
import { unconfirmedSections } from "../../manifest/intake/sections.ts";
import { warningTexts } from "../../manifest/prepare.ts";
import { triggersWithoutElement } from "../../manifest/triggers.ts";
import type { PublishOutcome, PublishRequest } from "../contract.ts";
import { everyItem } from "../record.ts";
import { ServerConfig } from "../schema.ts";
import { summarise } from "../summary.ts";
import { updateAttributeCounts } from "./attribute-counts.ts";
import {
  appendChanges,
  generationOf,
  type LoggedChange,
  pruneLog,
  raiseGeneration,
  recordChanges,
} from "./change-log.ts";
import { closeCapability, currentFlags, insertCapability, mentionMessage } from "./items.ts";
import type { WriteContext } from "./listener.ts";
import { choiceWarnings } from "./log/change-records.ts";
import { originsText } from "./origins.ts";
import type { PlacedManifest } from "./place.ts";
import type { Difference } from "./publish/difference.ts";
import { judgeSteps, type ManifestMove, switchesOf } from "./publish/judge.ts";
import {
  insertStagedEntries,
  isLarge,
  LargePublishError,
  leaveToIndex,
  replaceItems,
  type StagedPublish,
  type StagedRows,
} from "./publish/stage.ts";
import { insertRevision, pruneRevisions } from "./revisions.ts";
import { bumpOverlay, flagsOfRow, isRetitled, moveServer, type ServerRow, shownTokens } from "./servers.ts";
import { withdrawnWarnings } from "./status.ts";
import { applySwitches, unseenItems } from "./switches.ts";
import { shownTenant } from "./tenant-name.ts";

/** Flags stored per server, to bound the size of heads and responses. */
const maxFlags = 500;

const none: ChangeCounts = { breaking: 0, additive: 0, cosmetic: 0, removed: 0 };

/**
 * Moves a server to a new manifest. Call inside a transaction. Reads and writes only the rows that changed: the layout
 * of the last revision shows which items stayed. `staged` is what was found and written before; with "if-large" a
 * LargePublishError is thrown instead of writing much at once.
 */
export function publish(
  write: WriteContext,
  request: PublishRequest,
  staged?: StagedPublish | "if-large",
): Result<PublishOutcome, Failure> {
  const before = staged === "if-large" ? undefined : staged;
  const holds = before !== undefined && generationOf(write.sql) === before.generation;
  const judged = holds ? before.judged : runAtOnce(judgeSteps(write, request));
  if (!judged.ok) return judged;
  const found = judged.value;
  if (!found.isMove) return ok(recordUnchanged(write, found.live, request, found.placed));
  if (staged === "if-large" && isLarge(found)) throw new LargePublishError("the publish must be staged");
  const rows = before?.rows;
  // Each entry of the log follows the one before it: entries made for another moment would break the chain.
  if (rows !== undefined && !holds) rows.hasEntries = false;
  return ok(applyManifest(write, found, request, rows));
}

/** The manifest is unchanged: only switches, whose the items are and `lastSynced` can change. */
function recordUnchanged(
  { sql, keep, listener }: WriteContext,
  live: ServerRow,
  { name, manifest, at, placement, throughHook = false }: PublishRequest,
  placed: PlacedManifest | undefined,
): PublishOutcome {
  const cost = shownTokens(sql, live);
  const switched = applySwitches(sql, name, switchesOf(placed?.incoming ?? manifest.capabilities));
  sql.exec("UPDATE server SET last_synced = ? WHERE name = ?", at, name);
  if (placed !== undefined) {
    const origins = originsText(placed.origins, placed.fromSources);
    sql.exec(
      "UPDATE revision SET origins = ?1 WHERE server = ?2 AND number = ?3 AND origins IS NOT ?1",
      ...[origins, name, live.revision],
    );
  }
  const { kept, rejected, collisions } = placed ?? { kept: [], rejected: [], collisions: [] };
  const digest = live.digest ?? manifest.digest;
  // Which flags and how many tokens an answer shows depends on its reader; both are the same as before.
  const { flags: _, tokens: __, registry: ___, ...claims } = manifest.intake.claims;
  const outcome: PublishOutcome = {
    outcome: "unchanged",
    generation: live.generation,
    digest,
    changes: none,
    flags: flagsOfRow(live),
    narrowed: false,
    cost: { before: cost, after: cost },
    ...{ kept, rejected, collisions },
    warnings: [
      ...claimWarnings(sql, live, claims, { name, digest, tokens: cost }),
      ...triggerWarnings(placement, placed ?? { header: manifest.header, items: manifest.capabilities }),
      ...withdrawnWarnings(sql, live, throughHook),
    ],
  };
  if (switched.length === 0) return outcome;
  const { generation, counts } = recordChanges(sql, name, at, switched, keep.changes);
  bumpOverlay(sql, name, generation, at);
  updateAttributeCounts(sql, name, switched);
  listener.itemsChanged(name, changedItems(switched));
  return {
    ...outcome,
    ...{ outcome: "changed", generation, changes: counts, flags: [], narrowed: counts.breaking > 0 },
    cost: { before: cost, after: shownTokens(sql, live) },
  };
}

function applyManifest(
  { sql, keep, listener }: WriteContext,
  { row, live, previous, placed, found, own, flags, neighbours, flagsOf, ofHeader, changes }: ManifestMove,
  request: PublishRequest,
  staged: StagedRows | undefined,
): PublishOutcome {
  const { name, at } = request;
  const { digest, header, items, incoming, kept, rejected, collisions } = placed;
  const number = (row?.revision ?? 0) + 1;
  const offBefore = unseenItems(sql, name);
  const before = live === undefined ? 0 : shownTokens(sql, live, offBefore);
  const warnings = stateWarnings(sql, { live, previous, placed, found, before }, request);
  const switched = applySwitches(sql, name, switchesOf(incoming));
  warnings.push(...choiceWarnings(found.added, flagsOf));
  const generation = staged?.isRehearsal
    ? generationOf(sql) + 1
    : logChanges(sql, { ...request, changes, switched, keep: keep.changes }, staged);
  const counts = countChanges([...found.changes, ...switched]);
  const off = switched.length === 0 ? offBefore : unseenItems(sql, name);
  if (!staged?.isRehearsal) {
    if (staged === undefined) {
      for (const gone of found.gone) closeCapability(sql, name, gone.kind, gone.digest, number - 1);
      for (const capability of found.added) insertCapability(sql, name, number, capability, at);
    } else replaceItems(sql, name, { number, at, ...found }, staged);
    insertRevision(sql, {
      server: name,
      ...{ number, digest, generation, at, header, subject: request.subject, changes: counts },
      layout: items.map((item) => [item.kind, item.digest]),
      origins: originsText(placed.origins, placed.fromSources),
    });
    moveServer(sql, {
      ...{ name, number, generation, at, digest },
      config: live?.config ?? JSON.stringify(ServerConfig.parse({ tenant: shownTenant(sql), name })),
      flags: boundedServerFlags([...flags, ...carriedOverFlags(live, found, own, items.length), ...neighbours]),
      summary: summarise(header, items, (item) => off.has(itemKey(item))),
    });
    // Nothing was read: what stays is as old as it was.
    if (request.ofSettings !== undefined) {
      sql.exec("UPDATE server SET last_synced = ? WHERE name = ?", live?.last_synced ?? null, name);
    }
    const touched = changedItems([...found.gone, ...found.added, ...switched]);
    const isRetitling = live !== undefined && isRetitled(sql, live);
    if (staged !== undefined) leaveToIndex(sql, staged, { number, touched, isRetitling });
    else if (isRetitling) listener.titleChanged(name);
    else listener.itemsChanged(name, touched);
    pruneRevisions(sql, name, number - keep.revisions);
  }
  const ofAdded = found.added.flatMap(({ id, flags: about }) => about.map((flag) => ({ ...flag, capability: id })));
  return {
    outcome: live?.digest ? "changed" : "created",
    ...{ generation, digest, changes: counts, header: ofHeader?.classification },
    flags: [...keepSevere([...flags, ...ofAdded, ...neighbours], maxFlags)],
    narrowed: switched.some(({ classification }) => classification === "breaking"),
    cost: { before, after: items.reduce((sum, item) => sum + (off.has(itemKey(item)) ? 0 : item.tokens), 0) },
    emptied: previous !== undefined && previous.layout.length > 0 && items.length === 0 ? true : undefined,
    ...{ kept, rejected, collisions, warnings },
  };
}

/** Raises the generation, unless the write has one already, and logs the changes. Returns the generation. */
function logChanges(
  sql: SqlStorage,
  { name, at, ofSettings, changes, switched, keep }: PublishRequest & ChangesToLog,
  staged: StagedRows | undefined,
): number {
  const shared = ofSettings?.generation;
  if (shared !== undefined) {
    appendChanges(sql, name, at, [...changes, ...switched], shared);
    return shared;
  }
  if (!staged?.hasEntries) return recordChanges(sql, name, at, [...changes, ...switched], keep).generation;
  const generation = raiseGeneration(sql);
  insertStagedEntries(sql);
  appendChanges(sql, name, at, switched, generation);
  pruneLog(sql, generation, keep);
  return generation;
}

interface ChangesToLog {
  changes: readonly LoggedChange[];
  switched: readonly LoggedChange[];
  keep: number;
}

/** Warnings that depend on what the server had. */
function stateWarnings(
  sql: SqlStorage,
  {
    live,
    previous,
    placed,
    found,
    before,
  }: Pick<ManifestMove, "live" | "previous" | "placed" | "found"> & { before: number },
  { manifest: { intake }, placement, name, throughHook = false }: PublishRequest,
): string[] {
  const texts: string[] = [];
  if (placement.by === "push") {
    for (const section of unconfirmedSections(intake.sections.own, intake.confirmed, previous?.header ?? {})) {
      const remedy = `?sections=${encodeURIComponent(section)} says that it is one of your own`;
      texts.push(`/${section} is not a section that the registry knows and was kept; ${remedy}`);
    }
  }
  texts.push(
    ...claimWarnings(sql, live, intake.claims, { name, digest: live?.digest ?? placed.digest, tokens: before }),
  );
  // Somebody who imports into a server may not know what is there.
  if (placement.by === "push" && placement.sections !== undefined && found.gone.length > 0) {
    texts.push(
      `This replaces ${countOf(found.gone.length, "item", "items")} that the server has: ${listOf(found.gone)}`,
    );
  }
  const count = previous?.layout.length ?? 0;
  if (count > 0 && placed.items.length === 0) {
    texts.push(`The server had ${countOf(count, "capability", "capabilities")} and has none now`);
  }
  texts.push(...triggerWarnings(placement, placed), ...withdrawnWarnings(sql, live, throughHook));
  return texts;
}

/** Judged by the whole manifest that is stored, which has more than a push of some sections. */
function triggerWarnings(
  { by }: PublishRequest["placement"],
  { header, items }: Pick<PlacedManifest, "header"> & { items: readonly { key: string; id: string }[] },
): string[] {
  return by === "push" || by === "restore" ? warningTexts(triggersWithoutElement(header, items)) : [];
}

/** Of what a document states about its server, what the registry does not say. */
function claimWarnings(
  sql: SqlStorage,
  live: ServerRow | undefined,
  claims: Claims,
  { name, digest, tokens }: { name: string; digest: string; tokens: number },
): string[] {
  if (Object.keys(claims).length === 0) return [];
  const status = live === undefined ? undefined : (readJson(live.config) as ServerConfig).status;
  return warningTexts(claimIssues(claims, { digest, tokens, status, flags: currentFlags(sql, name, live) }, ""));
}

function countOf(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

const namedItems = 10;

function listOf(items: Difference["gone"]): string {
  const named = items.slice(0, namedItems).map((item) => clip(itemKey(item), 128));
  return items.length > namedItems ? `${named.join(", ")} and others` : named.join(", ");
}

/**
 * Flags that a publish leaves as they are: of the config, and of items that have not changed, but for mentions of tools
 * that are now the server's own.
 */
function carriedOverFlags(
  row: ServerRow | undefined,
  { added, gone }: Difference,
  own: ReadonlySet<string>,
  count: number,
): CapabilityFlag[] {
  const touched = new Set([...added, ...gone].map(({ id }) => id));
  const ownMentions = new Set([...own].map(mentionMessage));
  return flagsOfRow(row).filter(({ capability, message, of }) => {
    // It ends when every item was looked at again.
    if (capability === everyItem) return added.length < count;
    return of === "config" || (capability !== undefined && !touched.has(capability) && !ownMentions.has(message));
  });
}

/**
 * The flags that a head carries. If there are more items to flag than it has room for, every item of the server is flagged:
 * none may look clean because of the others.
 */
function boundedServerFlags(flags: readonly CapabilityFlag[]): CapabilityFlag[] {
  const kept = keepSevere(flags, maxFlags);
  const hasLost = kept.length < flags.filter(({ rule }) => severityOf(rule) === "high").length;
  if (!hasLost || kept.some(({ capability }) => capability === everyItem)) return [...kept];
  const message = "the server has more flagged items than are listed, so each of its items is flagged";
  return [...kept, { rule: "more-flags", path: "", message, capability: everyItem }];
}
