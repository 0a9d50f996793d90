import type { DeclaredItem, ListName, SourceBounds, SourceFailure } from "./contract.ts";
import type { Connection } from "./mcp-connection.ts";
import { firstErrors, validItems } from "./mcp-items.ts";

export interface ListReading {
  list: ListName;
  items: DeclaredItem[];
  isComplete: boolean;
  /** The server announces the list but lacks its method. */
  isAbsent: boolean;
  warnings: string[];
  /** Set if the first page could not be read. */
  failure?: SourceFailure;
  ttlMs?: number;
  cacheScope?: "public" | "private";
}

/** Reads all pages of one list, in order, until the end, a bound or a failure. */
export async function readList(connection: Connection, list: ListName, bounds: SourceBounds): Promise<ListReading> {
  const reading: ListReading = { list, items: [], isComplete: true, isAbsent: false, warnings: [] };
  const faults: string[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let received = 0;

  const end = (whyEarly?: string): ListReading => {
    reading.warnings.push(...firstErrors(faults.map(connection.safeLine)));
    if (whyEarly !== undefined) {
      reading.isComplete = false;
      reading.warnings.push(whyEarly);
    }
    return reading;
  };

  for (let pages = 0; pages < bounds.pages; pages += 1) {
    const answer = await connection.page(list, cursor);
    if (!answer.ok) {
      if (pages === 0) reading.failure = answer.error;
      const where = pages === 0 ? "" : `Only the first ${pages} pages could be read. `;
      return end(`${where}${answer.error.message}`);
    }
    if (answer.value === undefined) {
      reading.isAbsent = true;
      return end();
    }
    const { [list]: items, nextCursor } = answer.value;
    if (!Array.isArray(items)) {
      const message = `Page ${pages + 1} has no array of ${list}`;
      if (pages === 0) reading.failure = { reason: "not-mcp", message };
      return end(message);
    }
    mergeCacheHints(reading, connection, answer.value);
    const { sound, faults: left } = validItems(list, connection.era, items, received + 1);
    faults.push(...left);
    received += items.length;
    const room = bounds.items - reading.items.length;
    reading.items.push(...sound.slice(0, room));
    if (sound.length > room) return end(`It has more than ${bounds.items} items; the rest was not read`);

    // Some servers mark the last page with null or an empty string.
    if (nextCursor === undefined || nextCursor === null || nextCursor === "") return end();
    if (typeof nextCursor !== "string") return end(`Page ${pages + 1} has a nextCursor that is no text`);
    if (seen.has(nextCursor)) {
      const name = connection.safeLine(nextCursor.slice(0, 64));
      return end(`Page ${pages + 1} repeats the cursor "${name}", so the list has no end`);
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return end(`It has more than ${bounds.pages} pages; the rest was not read`);
}

/** Only revision 2026-07-28 has cache hints; if pages differ, the strictest hint applies. */
function mergeCacheHints(reading: ListReading, { era }: Connection, { ttlMs, cacheScope }: DeclaredItem): void {
  if (era !== "2026-07-28") return;
  if (typeof ttlMs === "number" && ttlMs >= 0) reading.ttlMs = Math.min(ttlMs, reading.ttlMs ?? ttlMs);
  const isPublic = cacheScope === "public" && reading.cacheScope !== "private";
  reading.cacheScope = isPublic ? "public" : "private";
}
