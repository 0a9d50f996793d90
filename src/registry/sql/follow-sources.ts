import { createWarnings } from "../../formats/text.ts";
import { canonicalJson, digestOfTextSteps, digestOfTextSync } from "../../kernel/digest.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { LogReason } from "../../manifest/classify/reasons.ts";
import { isSourceOrigin, type Origin, sourceOrigin } from "../../manifest/compose.ts";
import { boundedFlags, flagsPerItem } from "../../manifest/describe.ts";
import { countChanges, type LogChange } from "../../manifest/diff.ts";
import type { CapabilityFlag } from "../../manifest/flag.ts";
import { scanCapability } from "../../manifest/scan.ts";
import { canonicalManifest } from "../../manifest/stored.ts";
import type { PublishRequest, ServerSummary } from "../contract.ts";
import type { ServerConfig } from "../schema.ts";
import { sourceHeader } from "../sources/offer.ts";
import { appendChanges, recordChanges } from "./change-log.ts";
import { syncHidden } from "./hidden-items.ts";
import type { WriteContext } from "./listener.ts";
import { originsText } from "./origins.ts";
import { LargePublishError, mostJudgedAtOnce } from "./publish/stage.ts";
import { publish } from "./publish.ts";
import { insertRevision, type Layout, pruneRevisions, revisionAt, storedItemSteps } from "./revisions.ts";
import { bumpOverlay, findLive, flagsOfRow, moveServer } from "./servers.ts";
import { dropCopy, readCopy } from "./source-copies.ts";
import { clearWarnings, readableRows, syncSources } from "./source-rows.ts";

/**
 * Makes a server follow a change of its sources, in the write that changes them: a source that is gone takes its items
 * along, what a source offered at another address is hidden, and a source that gets an address back says of the server
 * what it said there. `generation` is that of the write, if it has one already. The config must be stored. Returns
 * whether readers lose something.
 */
export function followSources(
  write: WriteContext,
  config: ServerConfig,
  at: string,
  generation?: number,
): { narrowed: boolean } {
  const { sql } = write;
  const { name } = config;
  const { changed, removed, moved, returned } = syncSources(sql, config, at);
  if (!changed) return { narrowed: false };
  for (const id of removed) dropCopy(sql, name, id);
  const isLess = removed.length + moved.length > 0;
  if (isLess) clearWarnings(sql, name);
  const rest = isLess || returned.length > 0 ? restOf(sql, name, removed) : undefined;
  // Fields that go with an address are hidden as the items are: no caller is told that something broke.
  const hiddenFields = rest?.hasAllItems && removed.length === 0 && moved.length > 0 ? rest.fields : [];
  const isPublished = rest !== undefined && hiddenFields.length === 0;
  if (isPublished) publishRest(write, name, rest, at, generation);
  const present = generation ?? (isPublished ? findLive(sql, name)?.generation : undefined);
  const hidden = syncHidden(write, name);
  if (hidden.length + hiddenFields.length === 0) return { narrowed: isPublished && isLess };
  const reasons = [...moved.map(moveReason), ...hiddenFields.map(fieldReason)];
  const change: LogChange = { kind: "server", key: name, classification: "advisory", reasons };
  if (present !== undefined) appendChanges(sql, name, at, [change], present);
  const moveGeneration = present ?? logged(write, name, at, change);
  if (present === undefined) bumpOverlay(sql, name, moveGeneration, at);
  if (rest !== undefined && hiddenFields.length > 0) storeFields(write, name, rest, at, moveGeneration);
  return { narrowed: true };
}

function moveReason(id: string): LogReason {
  const message = "its address changed; what it offered before is hidden until the new address was read";
  return { path: `/sources/${id}`, classification: "advisory", message };
}

function fieldReason(field: string): LogReason {
  const message = "what the source said at its former address is not shown any more";
  return { path: `/${field}`, classification: "advisory", message };
}

function logged({ sql, keep }: WriteContext, name: string, at: string, change: LogChange): number {
  return recordChanges(sql, name, at, [change], keep.changes).generation;
}

/** What a server has without some of its sources. */
interface Rest {
  header: Record<string, unknown>;
  /** Fields of the header that sources set. */
  fromSources: string[];
  /** Fields of the header that are not what they were. */
  fields: string[];
  layout: Layout;
  /** Of each item of the layout. */
  origins: Origin[];
  /** True if no item goes. */
  hasAllItems: boolean;
}

/**
 * The server without the items of these sources, and with the fields of those that are read at their present address;
 * undefined if that is what it has.
 */
function restOf(sql: SqlStorage, name: string, removed: readonly string[]): Rest | undefined {
  const row = findLive(sql, name);
  const revision = row?.digest ? revisionAt(sql, name, row.revision) : undefined;
  if (revision === undefined) return undefined;
  const { origins } = revision;
  const gone = new Set<Origin>(removed.map(sourceOrigin));
  // Items of a source that is not configured any more can only be left from before sources took theirs along.
  const configured = new Set(readableRows(sql, name).map(({ id }) => sourceOrigin(id)));
  const stays = (origin: Origin) => !isSourceOrigin(origin) || (configured.has(origin) && !gone.has(origin));
  const items = revision.layout.map((version, position) => ({ version, origin: origins.of(position) }));
  const kept = items.filter(({ origin }) => stays(origin));
  const before = revision.header;
  const own = Object.entries(before).filter(([key]) => !origins.fromSources.includes(key));
  const read = headerOf(sql, name, new Set(own.map(([key]) => key)));
  const header: Record<string, unknown> = { ...read, ...Object.fromEntries(own) };
  const isSame = (key: string) => canonicalJson([header[key]]) === canonicalJson([before[key]]);
  const fields = [...new Set([...Object.keys(before), ...Object.keys(header)])].filter((key) => !isSame(key));
  const hasAllItems = kept.length === items.length;
  if (hasAllItems && fields.length === 0) return undefined;
  const layout = kept.map(({ version }) => version);
  return {
    ...{ header, fromSources: Object.keys(read), fields, hasAllItems, layout },
    origins: kept.map(({ origin }) => origin),
  };
}

function publishRest(write: WriteContext, name: string, rest: Rest, at: string, generation: number | undefined): void {
  const { sql } = write;
  const whole = () => restSteps(sql, name, rest);
  if (rest.layout.length > mostJudgedAtOnce) throw new LargePublishError("what stays is much", whole);
  const request = runAtOnce(whole());
  if (request === undefined) throw new Error(`items of the present revision of ${name} are missing`);
  try {
    const published = publish(write, { ...request, at, ofSettings: { generation } }, "if-large");
    if (!published.ok) {
      throw new Error(`the items of a removed source could not be removed: ${published.error.message}`);
    }
  } catch (cause) {
    throw cause instanceof LargePublishError ? new LargePublishError("the removal must be staged", whole) : cause;
  }
}

/** Makes the publish of what stays. */
function* restSteps(
  sql: SqlStorage,
  name: string,
  { header, fromSources, layout, origins }: Rest,
): Steps<Omit<PublishRequest, "at"> | undefined> {
  const capabilities = yield* storedItemSteps(sql, name, layout);
  if (capabilities === undefined) return undefined;
  return {
    ...{ name, subject: "settings", partial: false, ofSettings: {} },
    manifest: {
      ...{ header, capabilities, offered: capabilities.length },
      digest: yield* digestOfTextSteps(canonicalManifest(header, capabilities)),
      flags: headerFlags(name, header),
      intake: { sections: { known: [], own: [] }, confirmed: [], claims: {} },
    },
    placement: { by: "version", origins, fromSources },
  };
}

/**
 * Stores a revision with other fields and the same items. Not a publish, which
 * would log the fields as removed: their change is logged already.
 */
function storeFields(
  { sql, keep }: WriteContext,
  name: string,
  { header, fromSources, layout, origins }: Rest,
  at: string,
  generation: number,
): void {
  const row = findLive(sql, name);
  const items = runAtOnce(storedItemSteps(sql, name, layout));
  if (row === undefined || items === undefined) return;
  const { config } = row;
  const number = row.revision + 1;
  const digest = digestOfTextSync(canonicalManifest(header, items));
  insertRevision(sql, {
    ...{ server: name, number, digest, generation, at, header, subject: "settings", changes: countChanges([]) },
    ...{ layout, origins: originsText(origins, fromSources) },
  });
  const stay = flagsOfRow(row).filter(({ capability, of }) => of === "config" || capability !== undefined);
  // No source sets a field that a summary has.
  const summary = readJson(row.summary) as ServerSummary;
  moveServer(sql, {
    ...{ name, number, generation, at, digest, config, summary },
    flags: [...headerFlags(name, header), ...stay],
  });
  sql.exec("UPDATE server SET last_synced = ? WHERE name = ?", row.last_synced, name);
  pruneRevisions(sql, name, number - keep.revisions);
}

function headerFlags(name: string, header: Record<string, unknown>): CapabilityFlag[] {
  return boundedFlags(scanCapability({ kind: "server", name, declared: header }), flagsPerItem);
}

/** The fields that the copies of present addresses give, without those that the publisher sets. */
function headerOf(sql: SqlStorage, name: string, own: ReadonlySet<string>): Record<string, unknown> {
  const offers = readableRows(sql, name).flatMap(({ id, last_synced }) => {
    const copy = last_synced === null ? undefined : readCopy(sql, name, id);
    return copy === undefined ? [] : [copy.offer];
  });
  const fields = Object.entries(sourceHeader(offers, createWarnings()));
  return Object.fromEntries(fields.filter(([key]) => !own.has(key)));
}
