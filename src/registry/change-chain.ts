import { z } from "zod";
import { named } from "../http/named.ts";
import { canonicalJson, digestOfTextSync } from "../kernel/digest.ts";
import { Digest, type TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { ChangeClass, LogReason } from "../manifest/classify/reasons.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { RegistryRecord } from "./record-schema.ts";

/** What a change is about. */
export const ChangeKind = z
  .enum([...CapabilityKind.options, "server"])
  .describe("`server` is a server's own settings, visibility, status, flags or removal.");

const Change = z.object({
  sequence: z.int().describe("Number in the log, from 1 without gaps."),
  generation: z.int().describe("The write that made the change; changes of one write share it."),
  at: z.iso.datetime(),
  server: z.string(),
  kind: ChangeKind,
  name: z.string(),
  classification: ChangeClass,
  breaking: z.boolean().describe("True if the classification is breaking or removed."),
  from: Digest.optional().describe("Digest before."),
  to: Digest.optional().describe("Digest after."),
  reasons: z.array(LogReason).describe("At most ten, the worst first."),
  registry: RegistryRecord.optional().describe("What was known of the new version then, with its worst flags."),
});
export type Change = z.infer<typeof Change>;

export const ChainedChange = named(
  "ChainedChange",
  z
    .object({
      ...Change.shape,
      previous: z.string().describe("Hash of the entry before; of the first entry `genesis:` and the tenant."),
      hash: z.string().describe("SHA-256 of the RFC 8785 form of the other members, as sha256- and hex."),
    })
    .describe("A tamper-evident entry of a log: its hash covers the entry and the hash of the entry before it."),
);
export type ChainedChange = z.infer<typeof ChainedChange>;

export const LogHead = ChainedChange.pick({ sequence: true, hash: true }).describe(
  "The newest entry of the log, on whatever page; sequence 0 and the genesis value if the log is empty.",
);
export type LogHead = z.infer<typeof LogHead>;

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
