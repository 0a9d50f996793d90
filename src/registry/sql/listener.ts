import type { ItemRef } from "../../manifest/diff.ts";

/**
 * What other features do in the transaction that changes a server. Called in the order registered, at the same points
 * of a write as long as one feature's rows do not depend on another's.
 */
export interface ServerListener {
  /** Items appeared, changed, went or were switched; the server's row says already what it will say. */
  itemsChanged?(server: string, items: readonly ItemRef[]): void;
  /** The title that readers see is another one. Instead of `itemsChanged`, never beside it: it concerns all items. */
  titleChanged?(server: string): void;
  becamePublic?(server: string, at: string, generation: number): void;
  becamePrivate?(server: string): void;
  /** All its items are gone, for good or until it is published again. Versions and hooks are not touched by this. */
  cleared?(server: string): void;
  /** Readers do not see it any more: its owner deleted it, or its publisher withdrew it. */
  removed?(server: string, how: "deleted" | "withdrawn", at: string, generation: number): void;
}

/** One that tells all, in order. */
export function notifyAll(listeners: readonly ServerListener[]): Required<ServerListener> {
  return {
    itemsChanged: (...args) => listeners.forEach((each) => void each.itemsChanged?.(...args)),
    titleChanged: (...args) => listeners.forEach((each) => void each.titleChanged?.(...args)),
    becamePublic: (...args) => listeners.forEach((each) => void each.becamePublic?.(...args)),
    becamePrivate: (...args) => listeners.forEach((each) => void each.becamePrivate?.(...args)),
    cleared: (...args) => listeners.forEach((each) => void each.cleared?.(...args)),
    removed: (...args) => listeners.forEach((each) => void each.removed?.(...args)),
  };
}

/** How much of the past is kept. */
export interface Retention {
  revisions: number;
  changes: number;
}

/** What every write to a server works with. */
export interface WriteContext {
  sql: SqlStorage;
  keep: Retention;
  listener: Required<ServerListener>;
}
