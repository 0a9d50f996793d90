import type { Refreshed } from "../registry/contract.ts";
import type { SourceCopy } from "../registry/sources/offer.ts";
import { currentHead, findLive, type ServerRow } from "../registry/sql/servers.ts";
import { isStored } from "../registry/sql/source-copies.ts";
import { readableRows, recordLook, type SourceRow } from "../registry/sql/source-rows.ts";
import { msUntilNextRefresh, type SourceRead } from "./refresh-outcome.ts";

/** `lastSynced` at the edge may be 15 minutes behind; a look happens within five minutes of the last. */
const maxUntoldMs = 600_000;

/**
 * Records a look at sources that offer what they offered at the last one, while nothing else has changed since: their
 * time, and nothing that anybody must be told of. undefined if there is more to do, or if the edge should hear of the
 * time. Call inside a transaction.
 */
export function recordUnchanged(
  sql: SqlStorage,
  server: string,
  { reads, copies }: { reads: SourceRead[]; copies: { source: string; address: string; copy: SourceCopy }[] },
  at: string,
): Refreshed | undefined {
  const live = findLive(sql, server);
  const rows = readableRows(sql, server);
  const isSame =
    live !== undefined &&
    wasToldSince(live, Date.parse(at) - maxUntoldMs) &&
    rows.length === reads.length &&
    reads.every(({ row, read }, index) => read.ok && isAsLeft(rows[index], row, live)) &&
    copies.every(({ source, address, copy }) => isStored(sql, { server, source, address }, copy));
  if (!isSame) return undefined;
  const nextAt = Date.parse(at) + msUntilNextRefresh(reads);
  for (const { row, read } of reads) {
    if (read.ok) recordLook(sql, row, { at, nextAt, remembered: read.value.remembered });
  }
  const head = currentHead(sql, server);
  if (head === undefined) throw new Error(`${server} has no head`);
  const { generation, digest } = head;
  return { outcome: "unchanged", generation, digest, warnings: [], failures: [], head };
}

/** The edge knows of a reading since then. */
function wasToldSince({ last_synced: told }: ServerRow, time: number): boolean {
  return told !== null && Date.parse(told) >= time;
}

/**
 * True if the source is configured and known as it was when it was read now, and its server is as the last look left it:
 * what was pushed, restored or switched since may leave room for other items of the source.
 */
function isAsLeft(row: SourceRow | undefined, read: SourceRow, server: ServerRow): boolean {
  if (row === undefined || row.id !== read.id || row.config !== read.config) return false;
  const isQuiet = row.state === "live" && row.failures === 0 && row.warnings === "[]" && row.message === null;
  return isQuiet && row.last_synced !== null && server.updated_at <= row.last_synced;
}
