import { canonicalJson, digestOfTextSync } from "../kernel/digest.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Classification, Reason } from "../manifest/classify/classify.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";

/** The end of a log: its newest entry, or before the first one sequence 0 and the genesis value. */
export type LogHead = Pick<ChainedChange, "sequence" | "hash">;

/** Stands before the first entry of a log, and says whose log it is. */
export function genesisOf(tenant: string): string {
  return `genesis:${tenant}`;
}

/**
 * `sha256-` and hex of the canonical form of an entry as it is shown, which is everything but the hash itself.
 * Synchronous, because an entry is written inside a transaction that cannot wait.
 */
export function chainHash(entry: Omit<ChainedChange, "hash">): string {
  return digestOfTextSync(canonicalJson(entry));
}

/** The change as the next entry after the one with that hash. */
export function chained(change: Change, previous: string): ChainedChange {
  const entry = { ...change, previous };
  return { ...entry, hash: chainHash(entry) };
}

/**
 * Whether each entry has its own hash and follows the one before it. `anchor` is what the first must follow: the genesis
 * value, or a hash that was seen earlier; without it the first is taken at its word. Answers the hash that the next page
 * must follow, or the sequence number of the first entry that does not fit.
 */
export function verifyChain(
  entries: Iterable<ChainedChange>,
  anchor?: string,
): Result<string | undefined, { sequence: number }> {
  let last = anchor;
  for (const entry of entries) {
    const { hash, ...rest } = entry;
    const follows = last === undefined || entry.previous === last;
    if (!follows || hashOf(rest) !== hash) return err({ sequence: entry.sequence });
    last = hash;
  }
  return ok(last);
}

/** Undefined for what has no canonical form, half of a surrogate pair for one: nothing like it is written here. */
function hashOf(entry: Omit<ChainedChange, "hash">): string | undefined {
  try {
    return chainHash(entry);
  } catch {
    return undefined;
  }
}

/** One entry of a tenant's ordered log. */
export interface Change {
  sequence: number;
  generation: number;
  at: string;
  server: string;
  kind: CapabilityKind | "server";
  name: string;
  classification: Classification;
  breaking: boolean;
  from?: string;
  to?: string;
  reasons: Reason[];
}

/** An entry that cannot be rewritten without showing: its hash covers all of it and the hash of the one before. */
export interface ChainedChange extends Change {
  previous: string;
  hash: string;
}
