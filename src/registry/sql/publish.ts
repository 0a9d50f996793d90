import { meetsPrecondition } from "../../kernel/etag.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { clip } from "../../kernel/text.ts";
import { type ChangeCounts, changedItems, countChanges, itemKey } from "../../manifest/diff.ts";
import { type CapabilityFlag, keepSevere, severityOf } from "../../manifest/flag.ts";
import { type Claims, claimIssues } from "../../manifest/intake/claims.ts";
import { refused } from "../../manifest/intake/intake.ts";
import { ownSectionsIssues, unconfirmedSections } from "../../manifest/intake/sections.ts";
import { type PreparedCapability, warningTexts } from "../../manifest/prepare.ts";
import { triggersWithoutElement } from "../../manifest/triggers.ts";
import type { PublishOutcome, PublishRequest, Switch } from "../contract.ts";
import { everyItem, itemFlagsIn } from "../record.ts";
import { ServerConfig } from "../schema.ts";
import { summarise } from "../summary.ts";
import { acknowledgedFlags } from "./acknowledged.ts";
import { updateAttributeCounts } from "./attribute-counts.ts";
import { appendChanges, type LoggedChange, recordChanges } from "./change-log.ts";
import { choiceWarnings, withRecords } from "./change-records.ts";
import { type Difference, difference, headerChange, unannouncedChange } from "./difference.ts";
import { closeCapability, currentFlags, insertCapability, mentionMessage, neighbourFlags } from "./items.ts";
import type { WriteContext } from "./listener.ts";
import { originsText } from "./origins.ts";
import { type PlacedManifest, placeManifest } from "./place.ts";
import { insertRevision, pruneRevisions, type RevisionContent, revisionAt } from "./revisions.ts";
import {
  bumpOverlay,
  findRow,
  flagsOfRow,
  isRetitled,
  moveServer,
  type ServerRow,
  shownTokens,
  tagOf,
} from "./servers.ts";
import { readableRows } from "./source-rows.ts";
import { withdrawnWarnings } from "./status.ts";
import { applySwitches, checkDisabledSize, switchedOff, unseenItems } from "./switches.ts";
import { shownTenant } from "./tenant-name.ts";

/** Flags stored per server, to bound the size of heads and responses. */
const maxFlags = 500;

const none: ChangeCounts = { breaking: 0, additive: 0, cosmetic: 0, removed: 0 };

/**
 * Moves a server to a new manifest. Call inside a transaction. Reads and writes only the rows that changed: the layout
 * of the last revision shows which items stayed.
 */
export function publish(write: WriteContext, request: PublishRequest): Result<PublishOutcome, Failure> {
  const { sql } = write;
  const { name, manifest, precondition, placement } = request;
  const row = findRow(sql, name);
  const live = row?.deleted_at === null ? row : undefined;
  if (live === undefined && (placement.by === "plugin" || placement.by === "restore")) {
    return err(failure("ErrorMCPServerNotFound"));
  }
  if (precondition !== undefined && !meetsPrecondition(precondition, live && tagOf(live))) {
    return err(staleFailure(live?.digest));
  }
  const tooManyDisabled = checkDisabledSize(sql, name, switchesOf(manifest.capabilities));
  if (tooManyDisabled !== undefined) return err(tooManyDisabled);
  // The same items and fields: whose they are does not change. A document without items may be one that lost them all.
  if (live?.digest === manifest.digest && manifest.capabilities.length > 0)
    return ok(recordUnchanged(write, live, request, undefined));

  // A server that is not live, or has published nothing since it was registered, has no previous revision, even if
  // older ones exist under its name.
  const previous = live?.digest ? revisionAt(sql, name, live.revision) : undefined;
  const { sections, confirmed } = manifest.intake;
  const server = { hasItems: (previous?.layout.length ?? 0) > 0, header: previous?.header ?? {} };
  const misread = placement.by === "push" ? ownSectionsIssues(sections, confirmed, server) : [];
  if (misread.length > 0) return err(refused(misread));

  const state = {
    name,
    previous,
    was: new Set(previous?.layout.map(([kind, digest]) => `${kind} ${digest}`)),
    off: switchedOff(sql, name),
    sources: () => readableRows(sql, name).map(({ id }) => id),
  };
  const placing = placeManifest(sql, state, request);
  if (!placing.ok) return placing;
  const placed = placing.value;
  const { capabilities } = write.keep;
  if (placed.items.length > capabilities) {
    const message = `A server holds at most ${capabilities} capabilities; with what stays of it this one would have ${placed.items.length}`;
    return err(failure("ErrorTooLarge", message));
  }
  if (live?.digest === placed.digest) return ok(recordUnchanged(write, live, request, placed));

  const found = difference(sql, name, { layout: previous?.layout ?? [], was: state.was }, placed);
  const isFirst = request.isFirstIntrospection === true && previous?.layout.length === 0;
  const isJudged = !isFirst && request.ofSettings === undefined;
  const unannounced = previous && isJudged && unannouncedChange(previous.header, placed.header, found.changes);
  if (unannounced && policyOf(live) === "refuse") {
    const next = placed.header.version === undefined ? "Add or raise" : "Raise";
    const message = `${capitalized(unannounced)}, which this server's policy refuses. ${next} \`version\``;
    return err(failure("ErrorSameVersion", message, { current: live?.digest }));
  }
  const flags: CapabilityFlag[] = [...placed.flags];
  if (unannounced) flags.push({ rule: "same-version", path: "/version", message: unannounced });
  return ok(applyManifest(write, { row, live, previous, placed, found, flags }, request));
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

interface ManifestMove {
  row: ServerRow | undefined;
  live: ServerRow | undefined;
  previous: RevisionContent | undefined;
  placed: PlacedManifest;
  found: Difference;
  /** Flags of the server; the flags of its items are added later. */
  flags: CapabilityFlag[];
}

function applyManifest(
  { sql, keep, listener }: WriteContext,
  { row, live, previous, placed, found, flags }: ManifestMove,
  request: PublishRequest,
): PublishOutcome {
  const { name, at } = request;
  const { digest, header, items, incoming, kept, rejected, collisions } = placed;
  const number = (row?.revision ?? 0) + 1;
  const offBefore = unseenItems(sql, name);
  const before = live === undefined ? 0 : shownTokens(sql, live, offBefore);
  const warnings = stateWarnings(sql, { live, previous, placed, found, before }, request);
  const switched = applySwitches(sql, name, switchesOf(incoming));
  const ofHeader = headerChange(name, previous, placed, found.changes.length > 0);
  const own = new Set(items.flatMap(({ kind, key }) => (kind === "tool" ? [key] : [])));
  const neighbours = neighbourFlags(sql, name, found.added, own);
  const flagsOf = itemFlagsIn({ flags: neighbours, acknowledged: acknowledgedFlags(sql, name) });
  const recorded = withRecords(found.changes, found.added, flagsOf, configOf(live));
  warnings.push(...choiceWarnings(found.added, flagsOf));
  const changes: LoggedChange[] = [...recorded, ...(ofHeader === undefined ? [] : [ofHeader]), ...switched];
  const shared = request.ofSettings?.generation;
  if (shared !== undefined) appendChanges(sql, name, at, changes, shared);
  const generation = shared ?? recordChanges(sql, name, at, changes, keep.changes).generation;
  const counts = countChanges([...found.changes, ...switched]);
  const off = switched.length === 0 ? offBefore : unseenItems(sql, name);
  for (const gone of found.gone) closeCapability(sql, name, gone.kind, gone.digest, number - 1);
  for (const capability of found.added) insertCapability(sql, name, number, capability, at);
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
  if (live !== undefined && isRetitled(sql, live)) listener.titleChanged(name);
  else listener.itemsChanged(name, changedItems([...found.gone, ...found.added, ...switched]));
  pruneRevisions(sql, name, number - keep.revisions);
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

/** Warnings that depend on what the server had. */
function stateWarnings(
  sql: SqlStorage,
  { live, previous, placed, found, before }: Omit<ManifestMove, "row" | "flags"> & { before: number },
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
 * `enabled: false` in a manifest switches an item off. `true` is ignored: every response contains it, so republishing
 * an old response would undo what an operator has switched off since.
 */
function switchesOf(capabilities: readonly PreparedCapability[]): Switch[] {
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

function policyOf(row: ServerRow | undefined): "flag" | "refuse" {
  return configOf(row)?.policy?.sameVersion === "refuse" ? "refuse" : "flag";
}

function configOf(row: ServerRow | undefined): ServerConfig | undefined {
  return row && (readJson(row.config) as ServerConfig);
}

/** The failure of an If-Match that does not hold; `current` is the digest that the server has now. */
export function staleFailure(current: string | null | undefined): Failure {
  if (current == null) return failure("ErrorPreconditionFailed");
  const message = `If-Match does not match: the server is now at ${current}. Read it again, then retry`;
  return failure("ErrorPreconditionFailed", message, { current });
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
