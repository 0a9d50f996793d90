import { runAtOnce, type Steps } from "../kernel/pace/pace.ts";
import {
  type Classification,
  classifyCapability,
  classifyHeader,
  createBudget,
  type Reason,
} from "./classify/classify.ts";
import type { ChangeClass, LogReason } from "./classify/reasons.ts";
import type { CapabilityKind } from "./schema/capability.ts";
import type { StoredManifest } from "./stored.ts";

/** One version of a capability, reduced to the fields that a comparison needs. */
interface Item {
  kind: CapabilityKind;
  key: string;
  digest: string;
  declared: Record<string, unknown>;
}

export function itemKey({ kind, key }: Pick<Item, "kind" | "key">): string {
  return `${kind} ${key}`;
}

/** About half a second. */
const stepsPerPublish = 1_000_000;

/** Parsing both versions and finding that they differ. */
const unitsPerComparison = 50;

/**
 * Pairs removed and added items of the same kind and key, and classifies each change. Neither list has unchanged items.
 */
export function itemChanges(gone: readonly Item[], added: readonly Item[]): NewChange[] {
  return runAtOnce(itemChangeSteps(gone, added));
}

/** `itemChanges` in steps. `declared` is read only of items that another replaces. */
export function* itemChangeSteps(gone: readonly Item[], added: readonly Item[]): Steps<NewChange[]> {
  const successors = new Map(added.map((item) => [itemKey(item), item]));
  const replaced = new Set<string>();
  const changes: NewChange[] = [];
  const budget = createBudget(stepsPerPublish);
  for (const item of gone) {
    const { kind, key, digest: from } = item;
    const next = successors.get(itemKey({ kind, key }));
    if (next === undefined) {
      changes.push({ kind, key, classification: "removed", from, reasons: [] });
    } else {
      replaced.add(itemKey(next));
      const { steps } = budget;
      const verdict = classifyCapability(item.declared, next.declared, budget);
      changes.push({ kind, key, from, to: next.digest, ...verdict });
      yield unitsPerComparison + steps - budget.steps;
    }
  }
  for (const item of added) {
    if (replaced.has(itemKey(item))) continue;
    changes.push({ kind: item.kind, key: item.key, classification: "additive", to: item.digest, reasons: [] });
  }
  return changes;
}

/** All changes between two manifests, the header's change first. */
export function diffManifests(name: string, before: StoredManifest, after: StoredManifest): NewChange[] {
  const was = new Set(before.capabilities.map(({ kind, digest }) => `${kind} ${digest}`));
  const is = new Set(after.capabilities.map(({ kind, digest }) => `${kind} ${digest}`));
  const header = classifyHeader(before.header, after.header);
  const own: NewChange[] =
    header.reasons.length === 0
      ? []
      : [{ kind: "server", key: name, from: before.digest, to: after.digest, ...header }];
  return [
    ...own,
    ...itemChanges(
      before.capabilities.filter(({ kind, digest }) => !is.has(`${kind} ${digest}`)),
      after.capabilities.filter(({ kind, digest }) => !was.has(`${kind} ${digest}`)),
    ),
  ];
}

/**
 * Number of changes per class. A removal also counts as breaking: it breaks the callers of the removed item. Advisory
 * changes are not counted: they change no content.
 */
export function countChanges(changes: readonly Pick<LogChange, "classification">[]): ChangeCounts {
  const counts: ChangeCounts = { breaking: 0, additive: 0, cosmetic: 0, removed: 0 };
  for (const { classification } of changes) {
    if (classification === "advisory") continue;
    counts[classification] += 1;
    if (classification === "removed") counts.breaking += 1;
  }
  return counts;
}

/** Identifies an item within a server. */
export interface ItemRef {
  kind: CapabilityKind;
  key: string;
}

/** The items that the changes refer to, without duplicates. */
export function changedItems(changes: readonly { kind: CapabilityKind | "server"; key: string }[]): ItemRef[] {
  const slots = new Map<string, ItemRef>();
  for (const { kind, key } of changes) if (kind !== "server") slots.set(itemKey({ kind, key }), { kind, key });
  return [...slots.values()];
}

/** A change of content or settings. Kind `server` is a change of the server's config or header. */
export interface NewChange {
  kind: CapabilityKind | "server";
  key: string;
  classification: Classification;
  from?: string;
  to?: string;
  reasons: Reason[];
}

/** A change to be written to the change log. */
export interface LogChange extends Omit<NewChange, "classification" | "reasons"> {
  classification: ChangeClass;
  reasons: LogReason[];
}

/** Number of changes per class in one write. A removal counts as removed and as breaking. */
export type ChangeCounts = Record<Classification, number>;
