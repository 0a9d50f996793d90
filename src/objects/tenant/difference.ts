import type { NewChange } from "../../domain/change.ts";
import { itemChanges, slotOf } from "../../domain/diff.ts";
import type { PreparedCapability } from "../../domain/prepare.ts";
import type { CapabilityKind } from "../../schemas/index.ts";
import { readCapability } from "./capabilities.ts";
import type { Layout } from "./revisions.ts";

/** What a publish changes. */
export interface Difference {
  added: PreparedCapability[];
  gone: { kind: CapabilityKind; key: string; digest: string; id: string }[];
  changes: NewChange[];
}

/** What the new manifest adds and drops against the last layout, with each change classified. */
export function difference(
  sql: SqlStorage,
  server: string,
  before: Layout,
  after: readonly PreparedCapability[],
): Difference {
  const was = new Set(before.map(([kind, digest]) => `${kind} ${digest}`));
  const is = new Set(after.map(({ kind, digest }) => `${kind} ${digest}`));
  const added = after.filter(({ kind, digest }) => !was.has(`${kind} ${digest}`)).map((item) => ({ ...item }));
  const gone = before
    .filter(([kind, digest]) => !is.has(`${kind} ${digest}`))
    .map(([kind, digest]) => ({ kind, digest, ...readCapability(sql, server, kind, digest) }));

  const firstSeen = new Map(gone.map((item) => [slotOf(item), item.created_at]));
  for (const item of added) {
    // Kept from first sight, whatever the publisher says later.
    const createdAt = firstSeen.get(slotOf(item));
    if (typeof createdAt === "string") item.createdAt = createdAt;
  }
  const changes = itemChanges(
    gone.map((item) => ({ ...item, declared: JSON.parse(item.declared) })),
    added.map((item) => ({ ...item, declared: JSON.parse(item.text) })),
  );
  return { added, gone, changes };
}

/**
 * A change that no version announces, which is how a reviewed server turns into another one: any at all under a version
 * that stayed, and without a version one that does more than reword an item that was there before.
 */
export function unannouncedChange(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  changes: readonly NewChange[],
): string | undefined {
  if (before.version !== after.version) return undefined;
  if (typeof after.version === "string") return `the content changed while its version stayed ${after.version}`;
  const changed = changes.find(({ from, to, classification }) => from && to && classification !== "cosmetic");
  return changed && `${changed.kind} ${changed.key} changed, and the manifest has no version to say so`;
}
