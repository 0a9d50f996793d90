import type { ItemRef } from "../../manifest/diff.ts";
import type { ServerState } from "../contract.ts";

/**
 * Callbacks of other features, run in the transaction that changes a server, in the order registered. All are called at
 * the same points of a write, so no feature's rows may depend on another's.
 */
export interface ServerListener {
  /** Items were added, changed, removed or switched. The server's row is already updated. */
  itemsChanged?(server: string, items: readonly ItemRef[]): void;
  /** The visible title changed. Called instead of `itemsChanged`, never in addition, because it affects all items. */
  titleChanged?(server: string): void;
  becamePublic?(server: string, at: string, generation: number): void;
  becamePrivate?(server: string): void;
  /** Status or message changed, and nothing else: content and readers stay, also when the server is withdrawn. */
  statusChanged?(server: string, state: ServerState, at: string, generation: number): void;
  /** All items were removed. Does not concern versions and hooks. */
  cleared?(server: string): void;
  /** Its owner deleted the server. */
  removed?(server: string, at: string, generation: number): void;
}

/** One listener that calls all the others in order. */
export function notifyAll(listeners: readonly ServerListener[]): Required<ServerListener> {
  return {
    itemsChanged: (...args) => listeners.forEach((each) => void each.itemsChanged?.(...args)),
    titleChanged: (...args) => listeners.forEach((each) => void each.titleChanged?.(...args)),
    becamePublic: (...args) => listeners.forEach((each) => void each.becamePublic?.(...args)),
    becamePrivate: (...args) => listeners.forEach((each) => void each.becamePrivate?.(...args)),
    statusChanged: (...args) => listeners.forEach((each) => void each.statusChanged?.(...args)),
    cleared: (...args) => listeners.forEach((each) => void each.cleared?.(...args)),
    removed: (...args) => listeners.forEach((each) => void each.removed?.(...args)),
  };
}

/** How many revisions and changes are retained, and how large a manifest and a config may be. */
interface Retention {
  revisions: number;
  changes: number;
  capabilities: number;
  configBytes: number;
}

/** Passed to every write to a server. */
export interface WriteContext {
  sql: SqlStorage;
  keep: Retention;
  listener: Required<ServerListener>;
}
