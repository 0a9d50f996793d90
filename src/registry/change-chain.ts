import { canonicalJson, digestOfTextSync } from "../kernel/digest.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Classification, Reason } from "../manifest/classify/classify.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";

/** Sequence and hash of the newest log entry; sequence 0 and the genesis value if the log is empty. */
export type LogHead = Pick<ChainedChange, "sequence" | "hash">;

/** The `previous` value of the first entry of a tenant's log. */
export function genesisOf(tenant: TenantKey): string {
  return `genesis:${tenant}`;
}

/**
 * `sha256-` and hex of the canonical JSON of an entry as readers see it, without the hash itself. Synchronous, because
 * an entry is written inside a synchronous transaction.
 */
export function chainHash(entry: Omit<ChainedChange, "hash">): string {
  return digestOfTextSync(canonicalJson(entry));
}

/** Links a change to the entry whose hash is `previous`. */
export function chained(change: Change, previous: string): ChainedChange {
  const entry = { ...change, previous };
  return { ...entry, hash: chainHash(entry) };
}

/**
 * Checks that every entry has the correct hash and follows the entry before it. The first entry must follow `anchor`:
 * the genesis value, or a hash known from before. Without `anchor`, the `previous` of the first entry is not checked.
 * Returns the hash that the next page must follow, or the sequence number of the first invalid entry.
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

/**
 * undefined for an entry without a canonical form, such as one with a lone surrogate: the registry never writes one.
 */
function hashOf(entry: Omit<ChainedChange, "hash">): string | undefined {
  try {
    return chainHash(entry);
  } catch {
    return undefined;
  }
}

/** One entry of a tenant's change log. */
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

/** A tamper-evident entry: its hash covers the entry and the hash of the entry before it. */
export interface ChainedChange extends Change {
  previous: string;
  hash: string;
}
