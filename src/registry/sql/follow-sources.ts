import { createWarnings } from "../../formats/text.ts";
import { canonicalJson, digestOfTextSync } from "../../kernel/digest.ts";
import { isSourceOrigin, type Origin, sourceOrigin } from "../../manifest/compose.ts";
import { boundedFlags, flagsPerItem } from "../../manifest/describe.ts";
import type { LogChange } from "../../manifest/diff.ts";
import { scanCapability } from "../../manifest/scan.ts";
import { canonicalManifest } from "../../manifest/stored.ts";
import type { ServerConfig } from "../schema.ts";
import { sourceHeader } from "../sources/offer.ts";
import { appendChanges, recordChanges } from "./change-log.ts";
import { syncHidden } from "./hidden-items.ts";
import type { WriteContext } from "./listener.ts";
import { publish } from "./publish.ts";
import { storedManifest } from "./revisions.ts";
import { bumpOverlay, findLive } from "./servers.ts";
import { dropCopy, readCopy } from "./source-copies.ts";
import { readableRows, syncSources } from "./source-rows.ts";
import { preparedItem } from "./stored-items.ts";

/**
 * Makes a server follow a change of its sources, in the write that changes them: a source that is gone takes its items
 * along, and what a source offered at another address is hidden. `generation` is that of the write, if it has one
 * already. The config must be stored. Returns whether readers lose something.
 */
export function followSources(
  write: WriteContext,
  config: ServerConfig,
  at: string,
  generation?: number,
): { narrowed: boolean } {
  const { sql } = write;
  const { name } = config;
  const { changed, removed, moved } = syncSources(sql, config, at);
  if (!changed) return { narrowed: false };
  for (const id of removed) dropCopy(sql, name, id);
  const lost = removed.length + moved.length === 0 ? false : dropOffers(write, name, removed, at, generation);
  const present = generation ?? (lost ? findLive(sql, name)?.generation : undefined);
  const hidden = syncHidden(write, name);
  if (hidden.length === 0) return { narrowed: lost };
  const reasons = moved.map((id) => ({
    path: `/sources/${id}`,
    classification: "advisory" as const,
    message: "its address changed; what it offered before is hidden until the new address was read",
  }));
  const change: LogChange = { kind: "server", key: name, classification: "advisory", reasons };
  if (present === undefined) bumpOverlay(sql, name, logged(write, name, at, change), at);
  else appendChanges(sql, name, at, [change], present);
  return { narrowed: true };
}

function logged({ sql, keep }: WriteContext, name: string, at: string, change: LogChange): number {
  return recordChanges(sql, name, at, [change], keep.changes).generation;
}

/**
 * Publishes the server without the items of these sources, and with the fields of those that are read at their present
 * address. Returns whether it is another manifest now.
 */
function dropOffers(
  write: WriteContext,
  name: string,
  removed: readonly string[],
  at: string,
  generation: number | undefined,
): boolean {
  const { sql } = write;
  const stored = storedManifest(sql, name);
  if (stored === undefined) return false;
  const { manifest, origins } = stored;
  const gone = new Set<Origin>(removed.map(sourceOrigin));
  // Items of a source that is not configured any more can only be left from before sources took theirs along.
  const configured = new Set(readableRows(sql, name).map(({ id }) => sourceOrigin(id)));
  const stays = (origin: Origin) => !isSourceOrigin(origin) || (configured.has(origin) && !gone.has(origin));
  const kept = manifest.capabilities.flatMap((item, position) => {
    const origin = origins.of(position);
    return stays(origin) ? [{ item, origin }] : [];
  });
  const own = Object.entries(manifest.header).filter(([key]) => !origins.fromSources.includes(key));
  const read = headerOf(sql, name, new Set(own.map(([key]) => key)));
  const header = { ...read, ...Object.fromEntries(own) };
  const isSame =
    kept.length === manifest.capabilities.length && canonicalJson(header) === canonicalJson(manifest.header);
  if (isSame) return false;
  const capabilities = kept.map(({ item }) => preparedItem(item));
  const { last_synced: lastSynced = null } = findLive(sql, name) ?? {};
  const published = publish(write, {
    ...{ name, subject: "settings", at, partial: false, ofSettings: { generation } },
    manifest: {
      ...{ header, capabilities, offered: capabilities.length },
      digest: digestOfTextSync(canonicalManifest(header, capabilities)),
      flags: boundedFlags(scanCapability({ kind: "server", name, declared: header }), flagsPerItem),
      intake: { sections: { known: [], own: [] }, confirmed: [], claims: {} },
    },
    placement: { by: "version", origins: kept.map(({ origin }) => origin), fromSources: Object.keys(read) },
  });
  if (!published.ok) throw new Error(`the items of a removed source could not be removed: ${published.error.message}`);
  // Nothing was read: what stays is as old as it was.
  sql.exec("UPDATE server SET last_synced = ? WHERE name = ?", lastSynced, name);
  return true;
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
