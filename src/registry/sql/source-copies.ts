import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { SourceCopy } from "../sources/offer.ts";

/** A stored copy, and the address that offered it. */
export interface StoredCopy extends SourceCopy {
  address: string;
}

/** The copy of a source, of whatever address: it has one at most. */
export function readCopy(sql: SqlStorage, server: string, source: string): StoredCopy | undefined {
  const parts = sql
    .exec<{ address: string; text: string }>(
      "SELECT address, text FROM source_copy WHERE server = ? AND source = ? ORDER BY part",
      ...[server, source],
    )
    .toArray();
  const [first] = parts;
  if (first === undefined) return undefined;
  return { ...(readJson(parts.map(({ text }) => text).join("")) as SourceCopy), address: first.address };
}

/** Takes the place of the copy that the source has. Writes nothing if that one is the same. */
export function writeCopy(
  sql: SqlStorage,
  { server, source, address }: { server: string; source: string; address: string },
  copy: SourceCopy,
  at: string,
): void {
  if (isStored(sql, { server, source, address }, copy)) return;
  const parts = partsOf(JSON.stringify(copy));
  dropCopy(sql, server, source);
  for (const [part, text] of parts.entries()) insert(sql, "source_copy", { server, source, address, part, at, text });
}

/** True if this is the copy that the source has. */
export function isStored(
  sql: SqlStorage,
  { server, source, address }: { server: string; source: string; address: string },
  copy: SourceCopy,
): boolean {
  const parts = partsOf(JSON.stringify(copy));
  const stored = sql
    .exec<{ text: string }>(
      "SELECT text FROM source_copy WHERE server = ? AND source = ? AND address = ? ORDER BY part",
      ...[server, source, address],
    )
    .toArray();
  return stored.length === parts.length && stored.every(({ text }, part) => text === parts[part]);
}

export function dropCopy(sql: SqlStorage, server: string, source: string): void {
  sql.exec("DELETE FROM source_copy WHERE server = ? AND source = ?", server, source);
}

export function dropCopies(sql: SqlStorage, server: string): void {
  sql.exec("DELETE FROM source_copy WHERE server = ?", server);
}

/** When an address of a source was last read; undefined if there is no copy of this address. */
export function copyTime(sql: SqlStorage, server: string, source: string, address: string): string | undefined {
  const found = sql.exec<{ at: string }>(
    "SELECT at FROM source_copy WHERE server = ? AND source = ? AND address = ? AND part = 0",
    ...[server, source, address],
  );
  return found.toArray()[0]?.at;
}

/** A copy that stays the same is not written again, so its time is only brought up to date when its address is left. */
export function dateCopy(sql: SqlStorage, server: string, source: string, at: string): void {
  sql.exec("UPDATE source_copy SET at = ? WHERE server = ? AND source = ?", at, server, source);
}

/** In UTF-16 units: at three bytes each, a part is within the 2 MB of one SQL value. */
const partLength = 500_000;

function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + partLength);
    // A surrogate pair that is cut in two would not be stored as it is.
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to -= 1;
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}
