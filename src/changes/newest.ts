import type { Principal } from "../auth/principal.ts";
import type { Failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { ChainedChange, LogHead } from "../registry/change-chain.ts";
import type { ChangesDeps } from "./deps.ts";
import { readChanges } from "./read.ts";

/** Entries that one call reads, and calls that a filter may take: most of a log may not be what is wanted. */
const chunk = 500;
const maxCalls = 8;
const pastEveryEntry = 1e15;

export interface NewestChanges {
  /** The newest first. */
  items: ChainedChange[];
  generation: number;
  head: LogHead;
  /** Entries from this number on were looked at. */
  from: number;
  /** There are entries before `from`. */
  more: boolean;
}

interface Wanted {
  /** Entries below this sequence number; the newest if absent. */
  before?: number;
  limit: number;
  /** Every entry if absent. */
  matches?: (change: ChainedChange) => boolean;
}

/**
 * The newest entries of a log that match, the newest first. The log is read from its end in steps, so that a filter which
 * finds little ends after a bounded number of entries; `from` says how far it came.
 */
export async function readNewest(
  services: ChangesDeps,
  principal: Principal,
  tenant: TenantKey,
  { before, limit, matches }: Wanted,
): Promise<Result<NewestChanges, Failure>> {
  const start = await readChanges(services, principal, tenant, { since: pastEveryEntry, limit: 1 });
  if (!start.ok) return err(start.error);
  const { head, generation } = start.value;
  const size = matches === undefined ? limit : chunk;
  const items: ChainedChange[] = [];
  let end = Math.min(before ?? pastEveryEntry, head.sequence + 1);
  for (let calls = 0; calls < maxCalls && end > 1 && items.length < limit; calls += 1) {
    const since = Math.max(0, end - 1 - size);
    const read = await readChanges(services, principal, tenant, { since, limit: end - 1 - since });
    if (!read.ok) return err(read.error);
    const page = read.value.items.reverse();
    // What was pruned is not there: the log starts here.
    if (page.length === 0) return ok({ items, generation, head, from: end, more: false });
    for (const change of page) {
      if (items.length === limit) break;
      end = change.sequence;
      if (matches === undefined || matches(change)) items.push(change);
    }
  }
  return ok({ items, generation, head, from: end, more: end > 1 });
}
